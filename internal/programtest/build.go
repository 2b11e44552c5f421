// Package programtest builds the program, runs it as a server process and sends requests to it, for
// tests.
package programtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Variable names the environment variable with the path of a built program. `make test` sets it, so
// that the program is built once and not by each package.
const Variable = "HERBARIUM_TEST_PROGRAM"

// Install puts the program into a folder and returns its path. It copies the program that Variable
// names, or builds it.
func Install(ctx context.Context, folder string) (path string, err error) {
	path = filepath.Join(folder, "herbarium")
	if built := os.Getenv(Variable); built != "" {
		content, err := os.ReadFile(built)
		if err != nil {
			return "", err
		}
		return path, os.WriteFile(path, content, 0o755)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "herbarium/cmd/herbarium")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the program: %w\n%s", err, out)
	}
	return path, nil
}

// Environ returns the environment without the program's own settings, followed by some of them.
func Environ(settings ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HERBARIUM_") })
	return append(env, settings...)
}

// SkipWithout skips a test because a part is missing, such as a program. It fails the test if the
// environment variable HERBARIUM_TEST_REQUIRE names the part or is "all".
func SkipWithout(t testing.TB, part, message string) {
	t.Helper()
	if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required == "all" || strings.Contains(required, part) {
		t.Fatal(message)
	}
	t.Skip(message)
}

// NodeModules returns the folder of npm packages in which a package is installed. Without the
// package or Node.js, the test is skipped or fails; see SkipWithout.
func NodeModules(t testing.TB, name string) string {
	t.Helper()
	LookPath(t, "node")
	folder, err := filepath.Abs(filepath.Join("..", "..", "tools", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
		SkipWithout(t, name, name+" is not installed; `make parts interop-parts` installs it")
	}
	return folder
}

// LookPath returns the path of an installed program. Without it, the test is skipped or fails; see
// SkipWithout.
func LookPath(t testing.TB, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} { // PATH of a user may not contain /usr/sbin
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	SkipWithout(t, name, name+" is not installed; `make parts` installs it")
	return ""
}
