// Package programtest builds and runs the program for tests that need a real server process.
package programtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ProgramEnv names a program that was built before. Build uses it instead of building one.
const ProgramEnv = "HERBARIUM_TEST_PROGRAM"

// Build returns the path of the program, built into a folder unless ProgramEnv names one.
func Build(ctx context.Context, folder string) (path string, err error) {
	if path := os.Getenv(ProgramEnv); path != "" {
		return filepath.Abs(path)
	}
	path = filepath.Join(folder, "herbarium")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "herbarium/cmd/herbarium")
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
