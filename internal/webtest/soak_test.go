package webtest_test

import (
	"testing"

	"herbarium/internal/testseed"
)

// onlyInSoakRuns skips a test that takes long and repeats, with other data, what others test.
func onlyInSoakRuns(t *testing.T) {
	t.Helper()
	if !testseed.Soak() {
		t.Skip("takes long; `make soak` runs it")
	}
}
