//go:build !unix

package library

import (
	"os"
	"sync/atomic"
)

// mapStamp returns nil: this system has no memory maps.
func mapStamp(*os.File) *atomic.Uint64 { return nil }
