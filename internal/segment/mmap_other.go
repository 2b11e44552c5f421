//go:build !unix

package segment

import (
	"io"
	"os"
)

// mapFile reads a whole file where it cannot be mapped.
func mapFile(f *os.File, size int) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(f, b)
	return b, err
}

func unmapFile([]byte) error { return nil }

// forget does nothing where files are not mapped.
func forget([]byte) {}
