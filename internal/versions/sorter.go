package versions

import (
	"context"
	"errors"
	"os"

	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// sorterMemory is how many bytes a Sorter has in memory.
const sorterMemory = 32 << 20

// Sorter sorts keys of records in bounded memory. Its files are in the folder of the versions,
// where Sweep removes them if the process is killed.
type Sorter struct {
	*segment.KeySorter
	lock *os.File
}

// NewSorter returns a sorter of the keys of a number of records, of which most have at most keySize
// bytes. It must be closed.
func (s *Service) NewSorter(ctx context.Context, records, keySize int) (*Sorter, error) {
	lock, err := store.LockVersions(s.opts.Dir)
	if err != nil {
		return nil, err
	}
	keys, err := segment.NewKeySorter(ctx, s.opts.Dir, sorterMemory, records, keySize)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Sorter{keys, lock}, nil
}

// Close removes the keys.
func (s *Sorter) Close() error { return errors.Join(s.KeySorter.Close(), s.lock.Close()) }
