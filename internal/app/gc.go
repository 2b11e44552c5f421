package app

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// The headroom of the garbage collector is this share of the memory of a server, at most
// maxGCHeadroom.
const (
	gcHeadroomShare = 16
	maxGCHeadroom   = 64 << 20
)

// startGCHeadroom lets a server allocate a constant amount of memory between two collections. Go
// collects whenever the heap has doubled, and the heap of a server that maps its data is a few
// megabytes: it would collect every few hundred requests. An untouched allocation counts as heap
// but takes no memory, so it raises the goal by its size, and the memory limit does not count it.
// The environment takes precedence. It returns a function that ends this.
func startGCHeadroom(memory int64) (stop func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	headroom := make([]byte, min(memory/gcHeadroomShare, maxGCHeadroom))
	size := int64(len(headroom))
	limit := debug.SetMemoryLimit(-1)
	if limit < math.MaxInt64-size {
		debug.SetMemoryLimit(limit + size)
	}
	return func() {
		debug.SetMemoryLimit(limit)
		runtime.KeepAlive(headroom)
	}
}
