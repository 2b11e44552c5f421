package segment

import (
	"cmp"
	"context"
	"crypto/rand"
	"math"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/guard"
)

// KeySorter sorts keys of records in bounded memory.
type KeySorter = build.KeySorter

// NewKeySorter returns a sorter of the keys of a number of records, of which most have at most
// keySize bytes. Keys that exceed the memory are in files below dir, whose names have PartSuffix.
func NewKeySorter(ctx context.Context, dir string, memory, records, keySize int) (*KeySorter, error) {
	dir = filepath.Join(dir, "sort-"+rand.Text()+PartSuffix)
	return build.NewKeySorter(ctx, filesystem.OS{}, dir, memory, records,
		min(int64(keySize)*int64(records), math.MaxInt32))
}

// SortOptions configures sorting.
type SortOptions struct {
	Dir    string // folder for temporary files; it must exist
	Memory int    // bytes; 0 means 64 MiB
}

// newSorter returns a sorter like NewKeySorter, for whose memory it reserves bytes.
func (o SortOptions) newSorter(ctx context.Context, steps *guard.Steps, records, keySize int) (*KeySorter, error) {
	const perRecord = 48 // besides the key
	memory := cmp.Or(o.Memory, 64<<20)
	steps.Reserve(min(memory, records*(keySize+perRecord)))
	return NewKeySorter(ctx, o.Dir, memory, records, keySize)
}
