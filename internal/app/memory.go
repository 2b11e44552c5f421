package app

import (
	"os"
	"runtime/debug"
)

// softMemory is what the program tries to do with, whatever the size of the files that it publishes.
const softMemory = 320 << 20

// LimitMemory has garbage collected in time to stay below softMemory, unless the environment has a say: records of
// megabytes leave much of it behind. What a server maps of published versions does not count.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}
