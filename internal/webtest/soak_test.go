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

// scriptModes returns in which ways a test runs: with scripts, and in soak runs also without. It is
// for forms whose like TestPublishing sends without scripts.
func scriptModes() []bool {
	if testseed.Soak() {
		return []bool{true, false}
	}
	return []bool{true}
}
