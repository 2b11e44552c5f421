// Package programtest builds the program and runs it as a server process, for tests.
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

// Variable names the environment variable with the path of a built program. `make test` sets it, so that the program is
// built once and not by each package.
const Variable = "HERBARIUM_TEST_PROGRAM"

// Install puts the program into a folder and returns its path. It copies the program that Variable names, or builds it.
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

// SkipWithout skips a test because a part is missing, such as a program. It fails the test if the environment variable
// HERBARIUM_TEST_REQUIRE names the part or is "all".
func SkipWithout(t testing.TB, part, message string) {
	t.Helper()
	if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required == "all" || strings.Contains(required, part) {
		t.Fatal(message)
	}
	t.Skip(message)
}
