package deploy_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

const releaseScript = "../tools/release.sh"

// release runs the script with a program in place of the one that it builds, and returns the files
// of the release by what follows the version in their names.
func release(t *testing.T, program string, platforms ...string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	out, stub, certificates := filepath.Join(dir, "dist"), filepath.Join(dir, "go"), filepath.Join(dir, "ca.crt")
	for path, content := range map[string]string{
		certificates: "certificates",
		stub: `#!/bin/sh
case "$1 $2" in
build*) while [ "$1" != -o ]; do shift; done; exec cp "$PROGRAM" "$2" ;;
"run ./cmd/herbarium") shift 2; echo "$@" ;;
"run ./tools/reference") echo "version $6" > "$4/herbarium.1" ;;
"run ./tools/licenses") echo "licenses" > "$4" ;;
*) exec go "$@" ;;
esac
`,
	} {
		must.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	cmd := exec.CommandContext(t.Context(), releaseScript, append([]string{out}, platforms...)...)
	cmd.Env = append(os.Environ(), "GO="+stub, "PROGRAM="+program, "CERTIFICATES="+certificates, "LEVEL=1")
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	version := regexp.MustCompile(`^herbarium_.*?(_|\.cdx\.json)`)
	files := map[string][]byte{}
	entries, err := os.ReadDir(out)
	must.NoError(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(out, e.Name()))
		must.NoError(t, err)
		if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(content), e.Name()); e.Name() != "SHA256SUMS" &&
			!strings.Contains(read(t, filepath.Join(out, "SHA256SUMS")), sum) {
			t.Errorf("%s has another checksum", e.Name())
		}
		files[version.ReplaceAllString(e.Name(), "$1")] = content
	}
	return files
}

// needReleaseTools skips the test if a program that the script needs is missing.
func needReleaseTools(t *testing.T) {
	t.Helper()
	for _, name := range []string{"bash", "git", "zip", "jq"} {
		programtest.LookPath(t, name)
	}
}

// readTar returns the files of an archive.
func readTar(t *testing.T, content []byte) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		must.NoError(t, err)
		files[h.Name], err = io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
	}
}

func unzip(t *testing.T, content []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(content))
	must.NoError(t, err)
	plain, err := io.ReadAll(z)
	must.NoError(t, err)
	return plain
}

// TestRelease builds a release twice, with a small program in place of Herbarium, and checks every
// file.
func TestRelease(t *testing.T) {
	t.Parallel()
	needReleaseTools(t)
	small, err := exec.LookPath("gofmt")
	must.NoError(t, err)
	platforms := []string{"linux/riscv64", "linux/s390x", "windows/arm64"}
	files := release(t, small, platforms...)
	for name, again := range release(t, small, platforms...) {
		if !bytes.Equal(again, files[name]) {
			t.Errorf("%s differs in a second run", name)
		}
	}
	for _, name := range []string{"_linux_riscv64.tar.gz", "_linux_s390x.tar.gz", "_windows_arm64.zip", ".cdx.json",
		"_oci.tar", "SHA256SUMS"} {
		if len(files[name]) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
	packed, headers := readTar(t, unzip(t, files["_linux_riscv64.tar.gz"]))
	want, err := os.ReadFile(small)
	must.NoError(t, err)
	for name, h := range headers {
		folder, file, _ := strings.Cut(name, "/")
		switch {
		case !strings.HasSuffix(folder, "_linux_riscv64") || h.Size == 0 || h.Uid != 0 ||
			!h.ModTime.Equal(headers[folder+"/LICENSE"].ModTime):
			t.Errorf("%s: %+v", name, h)
		case file == "herbarium" && (h.Mode != 0o755 || !bytes.Equal(packed[name], want)):
			t.Errorf("the program has mode %o and %d bytes", h.Mode, h.Size)
		case file == "man/herbarium.1" && !strings.HasPrefix(string(packed[name]), "version "):
			t.Errorf("%s is %q", name, packed[name])
		}
	}
	checkDocuments(t, packed, "", "completions/herbarium.bash", "completions/herbarium.zsh")
	checkImage(t, files["_oci.tar"], "linux/riscv64", "linux/s390x")
}

// checkDocuments checks that files in a folder contain what accompanies the program.
func checkDocuments(t *testing.T, files map[string][]byte, folder string, more ...string) {
	t.Helper()
	wants := append(more, "LICENSE", "THIRD_PARTY_LICENSES.txt", "README.md", "CHANGELOG.md", "SECURITY.md",
		"man/herbarium.1", "compose.yaml",
		"docs/operations.md", "docs/pictures/typing.gif", "deploy/systemd/herbarium.service",
		"deploy/kubernetes/deployment.yaml")
	for _, want := range wants {
		found := false
		for name, content := range files {
			found = found || strings.HasSuffix("/"+name, folder+"/"+want) && len(content) > 0
			if strings.HasSuffix(name, ".go") {
				t.Errorf("%s is in the release", name)
			}
		}
		if !found {
			t.Errorf("%s is not in the release", want)
		}
	}
}

// TestRelease_program releases Herbarium itself: the documented commands install it, and the bill
// of materials lists its modules.
func TestRelease_program(t *testing.T) {
	t.Parallel()
	needReleaseTools(t)
	program, err := programtest.Install(t.Context(), t.TempDir())
	must.NoError(t, err)
	files := release(t, program, "darwin/arm64") // the script runs the program of its own platform
	t.Run("install", func(t *testing.T) { checkInstall(t, files["_darwin_arm64.tar.gz"]) })
	t.Run("modules", func(t *testing.T) { checkModules(t, files[".cdx.json"]) })
}

// checkModules checks that a bill of materials lists every module of go.mod that the program needs.
func checkModules(t *testing.T, document []byte) {
	t.Helper()
	type component struct{ Name, Version, PURL string }
	var d struct {
		Format       string `json:"bomFormat"`
		Serial       string `json:"serialNumber"`
		Metadata     struct{ Component component }
		Components   []component
		Dependencies []struct{ DependsOn []string }
	}
	must.NoError(t, json.Unmarshal(document, &d))
	if d.Format != "CycloneDX" || d.Metadata.Component.Version == "" || len(d.Dependencies) != 1 ||
		len(d.Dependencies[0].DependsOn) != len(d.Components) ||
		!regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(
			d.Serial) {
		t.Errorf("the document is %+v", d)
	}
	found := map[string]bool{}
	for _, c := range d.Components {
		found[c.Name+" "+c.Version] = true
		if c.Name == "stdlib" {
			found["stdlib"] = strings.HasPrefix(c.Version, "1.")
		}
	}
	required := []string{"stdlib"}
	for line := range strings.Lines(read(t, "../go.mod")) {
		for _, module := range []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5",
			"github.com/minio/minio-go/v7"} {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, module+" ") {
				required = append(required, line)
			}
		}
	}
	for _, module := range required {
		if !found[module] || len(required) != 4 {
			t.Errorf("%s is not in the bill of materials", module)
		}
	}
}

// descriptor refers to a blob of an image.
type descriptor struct {
	Digest   string
	Size     int
	Platform struct{ OS, Architecture string }
}

// checkImage follows the references of an image from its index to its layers.
func checkImage(t *testing.T, archive []byte, want ...string) {
	t.Helper()
	files, _ := readTar(t, archive)
	if string(files["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %q", files["oci-layout"])
	}
	blob := func(d descriptor, to any) []byte {
		t.Helper()
		content := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if len(content) != d.Size || "sha256:"+fmt.Sprintf("%x", sha256.Sum256(content)) != d.Digest {
			t.Fatalf("%+v refers to %d bytes", d, len(content))
		}
		if to != nil {
			must.NoError(t, json.Unmarshal(content, to))
		}
		return content
	}
	var top, index struct{ Manifests []descriptor }
	if err := json.Unmarshal(files["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("index.json: %v", err)
	}
	blob(top.Manifests[0], &index)
	var platforms []string
	for _, m := range index.Manifests {
		platforms = append(platforms, m.Platform.OS+"/"+m.Platform.Architecture)
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		blob(m, &manifest)
		var image struct {
			Architecture string
			Config       struct {
				User, StopSignal     string
				Env, Entrypoint, Cmd []string
				ExposedPorts         map[string]struct{}
				Volumes              map[string]struct{}
			}
			RootFS struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		blob(manifest.Config, &image)
		plain := unzip(t, blob(manifest.Layers[0], nil))
		if want := []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}; !slices.Equal(image.RootFS.DiffIDs, want) {
			t.Errorf("diff_ids are %v, want %v", image.RootFS.DiffIDs, want)
		}
		if c := image.Config; image.Architecture != m.Platform.Architecture || c.User != "65532:65532" ||
			!slices.Equal(c.Cmd, []string{"serve"}) ||
			!slices.Contains(c.Env, "HERBARIUM_DATA=/var/lib/herbarium") || len(c.ExposedPorts) != 1 ||
			len(c.Volumes) != 1 || c.StopSignal != "SIGTERM" {
			t.Errorf("the configuration is %+v", c)
		}
		content, headers := readTar(t, plain)
		program := strings.TrimPrefix(image.Config.Entrypoint[0], "/")
		if headers[program].Mode != 0o755 || len(content[program]) == 0 ||
			string(content["etc/ssl/certs/ca-certificates.crt"]) != "certificates" {
			t.Errorf("the layer has %v", headers)
		}
		checkDocuments(t, content, "usr/share/doc/herbarium")
		for name, h := range headers {
			owner := 0
			if name == "tmp/" || name == "var/lib/herbarium/" {
				owner = 65532
			}
			if h.Uid != owner || h.Gid != owner || h.Mode&0o022 != 0 {
				t.Errorf("%s: %+v", name, h)
			}
		}
		if h := headers["var/lib/herbarium/"]; h == nil || h.Mode != 0o700 || headers["tmp/"] == nil {
			t.Errorf("the layer has no private data folder, or no folder for temporary files: %+v", h)
		}
	}
	if diff := cmp.Diff(want, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// TestRelease_changelog checks that a version is released only if the change log describes it.
func TestRelease_changelog(t *testing.T) {
	t.Parallel()
	needReleaseTools(t)
	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GO=false", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a",
			"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, content := range map[string]string{
		"CHANGELOG.md":     "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n",
		"tools/release.sh": read(t, releaseScript), "LICENSE": "", "README.md": "",
	} {
		path := filepath.Join(dir, name)
		must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o700)))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "test"}} {
		if out, err := run("git", args...); err != nil {
			t.Fatal(out)
		}
	}
	const missing = "CHANGELOG.md has no section for 1.3.0"
	for _, tt := range []struct {
		tag      string
		released bool
	}{{"", true}, {"v1.2.0", true}, {"v1.3.0", false}, {"v1.3.0-rc1", true}} {
		if tt.tag != "" {
			if out, err := run("git", "tag", "-f", tt.tag); err != nil {
				t.Fatal(out)
			}
		}
		out, err := run(filepath.Join(dir, "tools/release.sh"), filepath.Join(dir, "dist"))
		if err == nil || strings.Contains(out, missing) == tt.released {
			t.Errorf("%q: %v\n%s", tt.tag, err, out)
		}
		if tt.tag != "" {
			if out, err := run("git", "tag", "-d", tt.tag); err != nil {
				t.Fatal(out)
			}
		}
	}
}

// TestRelease_version checks that the variables exist that the linker sets. The linker ignores
// unknown ones.
func TestRelease_version(t *testing.T) {
	t.Parallel()
	code, script := read(t, "../internal/cli/version.go"), read(t, releaseScript)
	for _, name := range []string{"release", "releaseCommit"} {
		if !regexp.MustCompile(`(?m)^\t`+name+` +string$`).MatchString(code) ||
			!strings.Contains(script, "internal/cli."+name+"=") {
			t.Errorf("the script does not set the variable %s of package cli", name)
		}
	}
}
