//go:build !unix

package library

import (
	"os"
	"sync/atomic"
)

// mapWord maps nothing where there are no maps.
func mapWord(*os.File) *atomic.Uint64 { return nil }
