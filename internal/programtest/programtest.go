// Package programtest provides the herbarium program to tests that run it as a process. Only tests import it.
package programtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable names the environment variable with the path of a built program. `make test` sets it, so that the program is
// built once and not by each package.
const Variable = "HERBARIUM_TEST_PROGRAM"

// Place puts the program into a folder and returns its path. It copies the program that Variable names, else it builds it.
func Place(folder string) (path string, err error) {
	path = filepath.Join(folder, "herbarium")
	if built := os.Getenv(Variable); built != "" {
		return path, copyFile(built, path)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", path, "herbarium/cmd/herbarium")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
