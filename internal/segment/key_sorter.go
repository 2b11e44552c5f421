package segment

import (
	"context"
	"crypto/rand"
	"math"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/segment/internal/build"
)

// KeySorter sorts keys of records in bounded memory.
type KeySorter = build.KeySorter

// NewKeySorter returns a sorter of the keys of a number of records, of which most have at most
// keySize bytes. Keys that exceed the memory are in files below dir, whose names have PartSuffix.
func NewKeySorter(ctx context.Context, dir string, memory, records, keySize int) (*KeySorter, error) {
	dir = filepath.Join(dir, "sort-"+rand.Text()+PartSuffix)
	return build.NewKeySorter(ctx, filesystem.OS{}, dir, memory, records, min(int64(keySize)*int64(records), math.MaxInt32))
}
