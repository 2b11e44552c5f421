// Package deploy_test tests the deployment files in this folder, as far as that is possible on one machine.
package deploy_test

import (
	"os"
	"testing"
)

// read returns a file of this folder.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	must(t, err)
	return string(content)
}

// must fails the test if there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
