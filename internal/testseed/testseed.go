// Package testseed chooses the seeds of randomized tests. Only tests import it.
package testseed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const (
	// Variable names the environment variable that repeats a run with one seed.
	Variable = "HERBARIUM_TEST_SEED"
	// SoakVariable names the environment variable that makes every run random, and long runs
	// longer.
	SoakVariable = "HERBARIUM_TEST_SOAK"
)

// Soak reports whether this is a soak run.
func Soak() bool { return os.Getenv(SoakVariable) != "" }

// Seed returns the seed of a test: always the same, so that a change is never rejected because of
// bad luck, unless this is a soak run or Variable is set. A failing test logs it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv(Variable); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", Variable, err)
		}
	} else if Soak() {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat this run: %s=%d", Variable, seed)
		}
	})
	return seed
}
