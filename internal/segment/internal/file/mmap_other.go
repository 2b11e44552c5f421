//go:build !unix

package file

import (
	"io"
	"os"
)

// mapFile reads an entire file on systems that cannot map it.
func mapFile(f *os.File, size int) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(f, b)
	return b, err
}

func unmapFile([]byte) error { return nil }
