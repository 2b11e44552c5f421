package gen

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// File returns a file of n records in a folder, which it writes unless it is there. The name tells the seed, the number
// and what generator wrote it, so that a file of an older one is not taken for it.
func File(ctx context.Context, dir string, seed uint64, n int) (path string, err error) {
	g := New(seed)
	sum := crc32.NewIEEE()
	if err := g.WriteCSV(ctx, sum, 1000); err != nil {
		return "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("items-%d-%d-%08x.csv", seed, n, sum.Sum32()))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "*.part")
	if err != nil {
		return "", err
	}
	if err := errors.Join(g.WriteCSV(ctx, f, n), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing %d records: %w", n, err), os.Remove(f.Name()))
	}
	return path, os.Rename(f.Name(), path)
}
