package app

import (
	"runtime/debug"
	"testing"
)

// TestRelaxGC checks that a server sets the GC percentage and restores it, unless the environment
// configures it. It is not parallel, because there is one percentage per process.
func TestRelaxGC(t *testing.T) {
	for variable, want := range map[string]int{"": gcPercent, "GOGC": 55, "GOMEMLIMIT": 55} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv("GOGC", "")
			t.Setenv("GOMEMLIMIT", "")
			if variable != "" {
				t.Setenv(variable, "1")
			}
			defer debug.SetGCPercent(debug.SetGCPercent(55))
			restore := relaxGC()
			got := debug.SetGCPercent(55)
			debug.SetGCPercent(got)
			restore()
			if after := debug.SetGCPercent(55); got != want || after != 55 {
				t.Errorf("the percentage is %d, want %d; afterwards %d", got, want, after)
			}
		})
	}
}
