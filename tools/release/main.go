// Command release builds what a release consists of: archives with static binaries, a container image, a bill of materials and
// checksums. Two runs on the same commit with the same Go version and CA certificates produce identical files. Nothing is
// uploaded.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Options of a release.
type Options struct {
	Repository   string // root of the repository
	Out          string // folder to write to, which is created or emptied
	Version      string // as in v1.2.3
	Commit       string
	Date         time.Time  // of the commit, given to all files
	Platforms    []Platform // to build for
	Certificates string     // file with CA certificates, for the image
	Compression  int        // level of gzip
	// Build builds the program for a platform.
	Build func(ctx context.Context, o Options, p Platform, path string) error
	Log   func(format string, args ...any)
}

// Platform is an operating system and an architecture.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// program returns the file name of the program.
func (p Platform) program() string {
	if p.OS == "windows" {
		return "herbarium.exe"
	}
	return "herbarium"
}

const allPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := Options{Compression: gzip.BestCompression, Build: compile, Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	platforms := flag.String("platforms", allPlatforms, "comma-separated platforms, as OS/architecture")
	flag.StringVar(&o.Repository, "repository", ".", "root of the repository")
	flag.StringVar(&o.Out, "out", "dist", "folder to write to; its content is deleted")
	flag.StringVar(&o.Certificates, "certificates", "/etc/ssl/certs/ca-certificates.crt", "CA certificates for the image")
	flag.Parse()
	for name := range strings.SplitSeq(*platforms, ",") {
		system, arch, _ := strings.Cut(name, "/")
		o.Platforms = append(o.Platforms, Platform{system, arch})
	}
	err := describeCommit(ctx, &o)
	if err == nil {
		err = Release(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// describeCommit sets version, commit and date from git: the version is the tag, or the last tag with the commit.
func describeCommit(ctx context.Context, o *Options) error {
	git := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Stderr = o.Repository, os.Stderr
		out, _ := cmd.Output() // empty if it fails
		return strings.TrimSpace(string(out))
	}
	o.Version = git("describe", "--tags", "--always", "--dirty", "--match", "v[0-9]*")
	var unix int64
	if _, err := fmt.Sscan(git("log", "-1", "--format=%H %ct"), &o.Commit, &unix); err != nil || o.Version == "" {
		return errors.New("cannot read the commit with git")
	}
	o.Date = time.Unix(unix, 0).UTC()
	return nil
}

// release is a release in progress. After its first error, its methods do nothing.
type release struct {
	Options
	err error
}

// Release builds a release.
func Release(ctx context.Context, o Options) error {
	if err := checkChangelog(o); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "herbarium-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := errors.Join(os.RemoveAll(o.Out), os.MkdirAll(o.Out, 0o755)); err != nil {
		return err
	}
	r := &release{Options: o}
	documents := r.documents(ctx)
	var binaries []binary
	for _, p := range o.Platforms {
		if r.err != nil {
			return r.err
		}
		o.Log("building for %s", p)
		b := binary{p, filepath.Join(work, p.OS+"-"+p.Arch)}
		if err := o.Build(ctx, o, p, b.path); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		binaries = append(binaries, b)
		r.writeArchive(b, documents)
	}
	r.writeSBOM(binaries)
	r.writeImage(binaries)
	r.writeChecksums()
	return r.err
}

// fail keeps the first error.
func (r *release) fail(err error) { r.err = cmp.Or(r.err, err) }

// read returns the content of a file.
func (r *release) read(path string) []byte {
	content, err := os.ReadFile(path)
	r.fail(err)
	return content
}

// write writes a file of the release, whose name ends in a suffix.
func (r *release) write(suffix string, content []byte) {
	if r.err == nil {
		r.err = os.WriteFile(filepath.Join(r.Out, r.name()+suffix), content, 0o644)
	}
}

// encode returns a value as JSON.
func (r *release) encode(value any) []byte {
	content, err := json.Marshal(value)
	r.fail(err)
	return content
}

// name returns what the names of all files begin with.
func (o Options) name() string { return "herbarium_" + strings.TrimPrefix(o.Version, "v") }

// checkChangelog fails if the change log does not describe a version that is released.
func checkChangelog(o Options) error {
	log, err := os.ReadFile(filepath.Join(o.Repository, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	version, released := strings.CutPrefix(o.Version, "v")
	if released && !strings.Contains(version, "-") && !bytes.Contains(log, []byte("\n## ["+version+"] ")) {
		return fmt.Errorf("CHANGELOG.md has no section for %s", version)
	}
	return nil
}

// binary is the program for a platform.
type binary struct {
	Platform
	path string
}

// compile builds a static binary that depends only on the source and the Go version.
func compile(ctx context.Context, o Options, p Platform, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X herbarium/internal/cli.release="+o.Version, "-o", path, "./cmd/herbarium")
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Repository, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.OS, "GOARCH="+p.Arch)
	if err := cmd.Run(); err != nil || p != host() {
		return err
	}
	printed, err := exec.CommandContext(ctx, path, "version").Output()
	if err == nil && !strings.HasPrefix(string(printed), "herbarium "+o.Version+" ") {
		err = fmt.Errorf("the program prints %q instead of version %s", printed, o.Version) // the linker ignores unknown variables
	}
	return err
}

// host returns the platform of this machine.
func host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// writeChecksums writes the SHA-256 hashes of all files in the format of sha256sum.
func (r *release) writeChecksums() {
	files, err := os.ReadDir(r.Out) // sorted
	r.fail(err)
	var sums bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(r.read(filepath.Join(r.Out, f.Name()))), f.Name())
	}
	if r.err == nil {
		r.err = os.WriteFile(filepath.Join(r.Out, "SHA256SUMS"), sums.Bytes(), 0o644)
	}
}
