package app

import (
	"os"
	"runtime/debug"
)

// What the program tries to do with, whatever the size of the files that it publishes. A server has the files of the
// versions that it lists in memory beside that, as far as they are in use.
const (
	PublishMemory = 320 << 20
	ServeMemory   = 256 << 20
)

// LimitMemory has garbage collected in time to stay below a number of bytes, unless the environment has a say: records of
// megabytes leave much of it behind.
func LimitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}
