// Package deploy_test tests the deployment files in this folder, as far as that is possible on one
// machine.
package deploy_test

import (
	"os"
	"testing"

	"herbarium/internal/must"
)

// read returns a file of this folder.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	must.NoError(t, err)
	return string(content)
}
