package app

import (
	"os"
	"runtime/debug"
)

// gcPercent is the GC percentage of a server, whose live heap is a few megabytes. 400 takes twice
// the memory of 200 and no less processor time. The memory limit takes precedence: a large heap is
// collected more often than the percentage says.
const gcPercent = 200

// relaxGC sets the GC percentage of a server, unless the environment configures the garbage
// collector. It returns a function that restores the percentage.
func relaxGC() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(before) }
}
