// Package deploy_test tests the deployment files in this folder, as far as that is possible on one machine.
package deploy_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// program returns the path of a program that a test needs. If it is missing, the test is skipped, or fails if
// HERBARIUM_TEST_REQUIRE names it.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} { // PATH of a user may not contain /usr/sbin
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required == "all" || strings.Contains(required, name) {
		t.Fatalf("%s is not installed; `make parts` installs it", name)
	}
	t.Skipf("%s is not installed; `make parts` installs it", name)
	return ""
}

// read returns a file of this folder.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
