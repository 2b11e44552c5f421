package publish

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"

	"herbarium/internal/filesystem"
	"herbarium/internal/versions"
)

// keySize is the size of the hash of a primary key.
const keySize = 16

// keyMatcher decides which records of a version the records of a file replace. It sorts the keys of
// both in bounded memory: first those of the file, then those of the version.
type keyMatcher struct {
	sorter  *versions.Sorter
	offsets *os.File // of the records of the file, in their order; negative: the record is removed
	w       *bufio.Writer
	changes uint32 // records of the file
	live    uint32 // records of the version

	newSorter func(records, keySize int) (*versions.Sorter, error)
	replaced  *versions.Sorter // keys: numbers of replaced records and of the records that replace them
	appended  *versions.Sorter // keys: numbers of records of the file that replace none
}

func (q *Queue) newKeyMatcher(ctx context.Context, records int) (m *keyMatcher, err error) {
	m = &keyMatcher{newSorter: func(records, keySize int) (*versions.Sorter, error) {
		return q.opts.Versions.NewSorter(ctx, records, keySize)
	}}
	m.offsets, err = filesystem.TempFile(q.opts.Dir)
	if err != nil {
		return nil, err
	}
	m.w = bufio.NewWriterSize(m.offsets, bufferBytes)
	m.sorter, err = m.newSorter(records, keySize)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close removes the keys.
func (m *keyMatcher) Close() (err error) {
	if m == nil {
		return nil
	}
	for _, s := range []*versions.Sorter{m.sorter, m.replaced, m.appended} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return errors.Join(err, m.offsets.Close())
}

// addChange adds the next record of the file.
func (m *keyMatcher) addChange(key [keySize]byte, at int64, removed bool) error {
	if removed {
		at = removedRow
	}
	if err := binary.Write(m.w, binary.LittleEndian, at); err != nil {
		return err
	}
	m.changes++
	return m.sorter.Add(key[:], m.changes-1)
}

// addLive adds the next record of the version. All records of the file must have been added.
func (m *keyMatcher) addLive(key [keySize]byte) error {
	m.live++
	return m.sorter.Add(key[:], m.changes+m.live-1)
}

// removedRow is the offset that means that a record is removed.
const removedRow = -1

// replacement is what becomes of a record of the version.
type replacement struct {
	live uint32 // its number
	at   int64  // offset of the record that replaces it, or removedRow
}

// errRepeatedKey reports that a record of the file has the key of several records of the version.
var errRepeatedKey = errors.New("repeated key")

// match yields the records of the version that are replaced or removed, in order, and the offsets
// of those records of the file that replace none. Of several records of the file with the same key,
// the last one counts. If several records of the version have the key of a record of the file, the
// error is errRepeatedKey.
func (m *keyMatcher) match() (replacements iter.Seq2[replacement, error], added iter.Seq2[int64, error], err error) {
	if err := m.w.Flush(); err != nil {
		return nil, nil, err
	}
	m.replaced, err = m.newSorter(int(min(m.changes, m.live)), 2*4)
	if err != nil {
		return nil, nil, err
	}
	m.appended, err = m.newSorter(int(m.changes), 4)
	if err != nil {
		return nil, nil, err
	}
	const none = ^uint32(0)
	var (
		key     []byte
		change  = none // last record of the file with the key
		isKnown bool   // the version has the key
		failed  error
	)
	endGroup := func() {
		if change != none && !isKnown {
			failed = errors.Join(failed, m.appended.Add(binary.BigEndian.AppendUint32(nil, change), change))
		}
		change, isKnown = none, false
	}
	err = m.sorter.Each(func(k []byte, n uint32) {
		if !bytes.Equal(k, key) {
			endGroup()
			key = append(key[:0], k...)
		}
		if n < m.changes {
			change = n
			return
		}
		if isKnown && change != none {
			failed = cmp.Or(failed, errRepeatedKey)
		}
		isKnown = true
		if change != none && failed == nil {
			live := n - m.changes
			failed = m.replaced.Add(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, live),
				change), live)
		}
	})
	endGroup()
	if err := errors.Join(err, failed, m.sorter.Close()); err != nil {
		return nil, nil, err
	}
	m.sorter = nil
	return m.replacements(), m.added(), nil
}

func (m *keyMatcher) replacements() iter.Seq2[replacement, error] {
	return func(yield func(replacement, error) bool) {
		for key, err := range m.replaced.All() {
			if err != nil {
				yield(replacement{}, err)
				return
			}
			at, err := m.offsetOf(binary.BigEndian.Uint32(key[4:]))
			if !yield(replacement{binary.BigEndian.Uint32(key), at}, err) || err != nil {
				return
			}
		}
	}
}

func (m *keyMatcher) added() iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for key, err := range m.appended.All() {
			at := int64(removedRow)
			if err == nil {
				at, err = m.offsetOf(binary.BigEndian.Uint32(key))
			}
			if (err != nil || at != removedRow) && !yield(at, err) || err != nil {
				return
			}
		}
	}
}

// offsetOf returns the offset of a record of the file.
func (m *keyMatcher) offsetOf(change uint32) (int64, error) {
	var b [8]byte
	_, err := m.offsets.ReadAt(b[:], 8*int64(change))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return int64(binary.LittleEndian.Uint64(b[:])), err
}
