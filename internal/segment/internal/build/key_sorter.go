package build

import (
	"context"
	"errors"
	"iter"

	"herbarium/internal/filesystem"
)

// KeySorter sorts keys of records, ties by record, in bounded memory: what exceeds it is in files
// of a directory that exists until Close.
type KeySorter struct {
	dir string
	fs  filesystem.FS
	tmp *tempDir
	s   *sorter
}

// NewKeySorter returns a sorter of the keys of a number of records, which have about the given size
// together. It creates the directory dir.
func NewKeySorter(ctx context.Context, fs filesystem.FS, dir string, memory, records int,
	size int64) (*KeySorter, error) {
	if err := fs.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	k := &KeySorter{dir: dir, fs: fs, tmp: newTempDir(ctx, fs, dir, memory, 1)}
	k.s = newSorter(k.tmp, memory, records, size)
	k.s.begin(func(dst, key []byte) ([]byte, error) { return append(dst, key...), nil },
		func(dst, _ []byte) []byte { return dst })
	return k, nil
}

// Add adds the key of a record, which must not be a prefix of another key. Records must be added in
// order.
func (k *KeySorter) Add(key []byte, record uint32) error { return k.s.add(key, record) }

// Each calls f for every key in order. The key is only valid until f returns.
func (k *KeySorter) Each(f func(key []byte, record uint32)) error {
	return k.s.each(func(key, _ []byte, record uint32) { f(key, record) })
}

// All yields every key in order. A key is only valid until the next one.
func (k *KeySorter) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		stopped := false
		err := k.Each(func(key []byte, _ uint32) { stopped = stopped || !yield(key, nil) })
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Close removes the directory.
func (k *KeySorter) Close() error {
	return errors.Join(k.s.finish(), k.tmp.close(), k.fs.RemoveAll(k.dir))
}
