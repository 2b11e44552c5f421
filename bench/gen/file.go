package gen

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// File returns the path of a file of n records in a folder, and writes it unless it exists. Its name contains the seed, the
// number, and a fingerprint of the generator.
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
