//go:build linux

package systemtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"herbarium/internal/must"
)

// Earlier programs, by their commits.
const (
	release090  = "a410bd50" // release 0.9.0
	beforeCore  = "2327c8df" // the last one that read only the segments of its own format and rules
	beforeRules = "6c8a869e" // segment format 1, before 0.9.0
)

// buildEarlier builds the program of a commit of the history. Without the history, the test is
// skipped.
func buildEarlier(t *testing.T, commit string) (path string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	must.NoError(t, err)
	if exec.Command("git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run() != nil {
		t.Skipf("commit %s is missing; this test needs a git checkout with its history (git fetch --unshallow)", commit)
	}
	source := t.TempDir()
	archive := exec.CommandContext(t.Context(), "git", "-C", root, "archive",
		"--output="+filepath.Join(source, "source.tar"), commit)
	out, err := archive.CombinedOutput()
	if err != nil {
		t.Fatalf("git archive: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-C", source, "-xf",
		filepath.Join(source, "source.tar")).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	return buildProgram(t, source)
}

// buildProgram builds the program of a source tree with flags.
func buildProgram(t *testing.T, source string, flags ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "herbarium")
	build := exec.CommandContext(t.Context(), "go",
		append(append([]string{"build", "-trimpath", "-ldflags=-w"}, flags...), "-o", path, "./cmd/herbarium")...)
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	return path
}
