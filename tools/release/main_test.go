package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/programtest"
)

// newOptions returns the options of a release of a program.
func newOptions(t *testing.T, program string, platforms ...Platform) Options {
	t.Helper()
	certificates := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(certificates, []byte("certificates"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{
		Repository: "../..", Out: filepath.Join(t.TempDir(), "dist"), Version: "v9.9.9-test", Commit: "c0ffee", Date: time.Unix(1_790_000_000, 0).UTC(),
		Platforms: platforms, Certificates: certificates, Compression: gzip.BestSpeed, Log: t.Logf,
		Build: func(_ context.Context, _ Options, _ Platform, path string) error { return copyFile(program, path) },
	}
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o700)
}

// readTar returns the files of an archive, and the names in their order.
func readTar(t *testing.T, r io.Reader) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], headers[h.Name] = content, h
	}
}

func open(t *testing.T, path string) io.Reader {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(content)
}

func unzip(t *testing.T, r io.Reader) io.Reader {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestRelease builds a release for this machine and checks every file.
func TestRelease(t *testing.T) {
	t.Parallel()
	program, err := programtest.Install(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := newOptions(t, program, host())
	if err := Release(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	base := "herbarium_9.9.9-test"
	checkArchive(t, o, base+"_"+host().OS+"_"+host().Arch)
	checkSBOM(t, filepath.Join(o.Out, base+".cdx.json"))
	if host().OS == "linux" {
		checkImage(t, filepath.Join(o.Out, base+"_oci.tar"), host().String())
	}
}

// TestRelease_reproducible builds a release for several platforms twice.
func TestRelease_reproducible(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("gofmt") // a small Go program
	if err != nil {
		t.Fatal(err)
	}
	o := newOptions(t, program, Platform{"linux", "riscv64"}, Platform{"linux", "amd64"}, Platform{"windows", "arm64"})
	var runs []string
	for range 2 {
		if err := Release(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		sums, err := os.ReadFile(filepath.Join(o.Out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, string(sums))
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	base := "herbarium_9.9.9-test"
	want := []string{base + "_linux_amd64.tar.gz", base + "_linux_riscv64.tar.gz", base + "_windows_arm64.zip", base + ".cdx.json", base + "_oci.tar"}
	var got []string
	for line := range strings.Lines(runs[0]) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		content, err := os.ReadFile(filepath.Join(o.Out, name))
		if err != nil || sum != fmt.Sprintf("%x", sha256.Sum256(content)) {
			t.Errorf("%s has another checksum (%v)", name, err)
		}
		got = append(got, name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	checkImage(t, filepath.Join(o.Out, base+"_oci.tar"), "linux/riscv64", "linux/amd64")
}

// checkArchive unpacks the archive for this machine and runs its program.
func checkArchive(t *testing.T, o Options, folder string) {
	t.Helper()
	files, headers := readTar(t, unzip(t, open(t, filepath.Join(o.Out, folder+".tar.gz"))))
	for _, name := range []string{"herbarium", "LICENSE", "README.md", "CHANGELOG.md", "man/herbarium.1", "completions/herbarium.bash", "completions/herbarium.fish"} {
		h := headers[folder+"/"+name]
		if h == nil || h.Size == 0 || !h.ModTime.Equal(o.Date) {
			t.Errorf("%s: %+v", name, h)
		}
	}
	program := filepath.Join(t.TempDir(), "herbarium")
	if err := os.WriteFile(program, files[folder+"/herbarium"], headers[folder+"/herbarium"].FileInfo().Mode()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program, "version").Output(); err != nil || !strings.HasPrefix(string(out), "herbarium ") {
		t.Errorf("the program prints %q (%v)", out, err)
	}
}

// checkSBOM checks that every module of go.mod that the program needs is listed.
func checkSBOM(t *testing.T, path string) {
	t.Helper()
	var d struct {
		Format       string `json:"bomFormat"`
		Metadata     struct{ Component component }
		Components   []component
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.NewDecoder(open(t, path)).Decode(&d); err != nil {
		t.Fatal(err)
	}
	if d.Format != "CycloneDX" || d.Metadata.Component.Version != "v9.9.9-test" || len(d.Dependencies) != 1 ||
		len(d.Dependencies[0].DependsOn) != len(d.Components) {
		t.Errorf("the document is %+v", d)
	}
	versions := map[string]string{}
	for _, c := range d.Components {
		versions[c.Name] = c.Version
	}
	if versions["stdlib"] == "" {
		t.Error("the standard library is missing")
	}
	required := map[string]bool{"modernc.org/sqlite": false, "github.com/jackc/pgx/v5": false, "github.com/minio/minio-go/v7": false}
	for lines := bufio.NewScanner(open(t, "../../go.mod")); lines.Scan(); {
		module, version, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if _, ok := required[module]; ok {
			required[module] = versions[module] == version
		}
	}
	for module, ok := range required {
		if !ok {
			t.Errorf("%s has version %q, or is not in go.mod", module, versions[module])
		}
	}
}

// checkImage follows the references of an image from its index to its layers.
func checkImage(t *testing.T, path string, want ...string) {
	t.Helper()
	files, _ := readTar(t, open(t, path))
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
			if err := json.Unmarshal(content, to); err != nil {
				t.Fatal(err)
			}
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
		platforms = append(platforms, m.Platform["os"]+"/"+m.Platform["architecture"])
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		blob(m, &manifest)
		var config struct {
			Architecture string
			Config       imageConfig
			RootFS       struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		blob(manifest.Config, &config)
		plain, err := io.ReadAll(unzip(t, bytes.NewReader(blob(manifest.Layers[0], nil))))
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}; !slices.Equal(config.RootFS.DiffIDs, want) {
			t.Errorf("diff_ids are %v, want %v", config.RootFS.DiffIDs, want)
		}
		if config.Architecture != m.Platform["architecture"] || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Cmd, []string{"serve"}) ||
			!slices.Contains(config.Config.Env, "HERBARIUM_DATA=/var/lib/herbarium") || len(config.Config.ExposedPorts) != 1 {
			t.Errorf("the configuration is %+v", config)
		}
		content, headers := readTar(t, bytes.NewReader(plain))
		program := strings.TrimPrefix(config.Config.Entrypoint[0], "/")
		if headers[program].Mode != 0o755 || len(content[program]) == 0 || string(content["etc/ssl/certs/ca-certificates.crt"]) != "certificates" {
			t.Errorf("the layer has %v", headers)
		}
		for _, own := range []string{"tmp/", "var/lib/herbarium/"} {
			if h := headers[own]; h == nil || h.Uid != 65532 || h.Gid != 65532 {
				t.Errorf("%s: %+v", own, h)
			}
		}
	}
	if diff := cmp.Diff(want, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestCheckChangelog(t *testing.T) {
	t.Parallel()
	o := Options{Repository: t.TempDir()}
	log := "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n"
	if err := os.WriteFile(filepath.Join(o.Repository, "CHANGELOG.md"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for version, ok := range map[string]bool{"v1.2.0": true, "v1.3.0": false, "v1.2.0-3-gc0ffee": true, "c0ffee": true} {
		o.Version = version
		if err := checkChangelog(o); (err == nil) != ok {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// TestVersion checks that the variable exists that the linker sets. The linker ignores unknown ones.
func TestVersion(t *testing.T) {
	t.Parallel()
	source, err := io.ReadAll(open(t, "../../internal/cli/version.go"))
	if err != nil || !bytes.Contains(source, []byte("\nvar release string\n")) {
		t.Errorf("package cli has no variable release (%v)", err)
	}
}
