// Package deploy_test tries what this folder has for those who run Herbarium, as far as one machine can.
package deploy_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// program returns the path of a program that a test needs. Where it is missing the test is skipped, or fails if
// HERBARIUM_TEST_REQUIRE asks for it.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} { // a user's path may lack the folder of servers
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
