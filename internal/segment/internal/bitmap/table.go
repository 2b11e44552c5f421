// Package bitmap implements sets of record numbers: tables of encoded sets, which are read in place, dense bitsets, and
// the sets that queries compute.
package bitmap

import (
	"io"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/file"
)

// Table is an encoded table of sets of record numbers: their number, the start of each and the end of the last, and the
// aligned sets in the portable roaring format, each followed by data that the section defines.
type Table struct {
	starts file.U64s
	body   []byte
}

// OpenTable returns the table encoded in b.
func OpenTable(b []byte) (t Table, err error) {
	t.starts, t.body, err = file.SplitTable(b)
	return t, err
}

// Len returns the number of sets.
func (t *Table) Len() int { return max(t.starts.Len()-1, 0) }

// Size returns the number of bytes of all sets.
func (t *Table) Size() int { return len(t.body) }

// Set returns a set.
func (t *Table) Set(i int) Encoded { return t.body[t.starts.At(i):t.starts.At(i+1)] }

// Trailer returns the bytes that follow a set, with padding.
func (t *Table) Trailer(i int) []byte { return t.Set(i).trailer() }

// Encoder encodes a table. The head precedes the sets but is complete only after them.
type Encoder struct {
	W      io.Writer // of the sets
	starts []uint64
	at     uint64
}

// Add appends a set in its smallest encoding, followed by a trailer.
func (e *Encoder) Add(b *roaring.Bitmap, trailer []byte) error {
	b.RunOptimize()
	return e.AddEncoded(b, trailer)
}

// AddEncoded appends a set in its current encoding, followed by a trailer. Empty sets take no space.
func (e *Encoder) AddEncoded(b *roaring.Bitmap, trailer []byte) error {
	e.starts = append(e.starts, e.at)
	if b.IsEmpty() {
		return nil
	}
	n, err := b.WriteTo(e.W)
	if err != nil {
		return err
	}
	n += int64(len(trailer))
	pad := -n & (file.Alignment - 1)
	if _, err := e.W.Write(append(trailer, make([]byte, pad)...)); err != nil {
		return err
	}
	e.at += uint64(n + pad)
	return nil
}

// Head returns the part of the table that precedes the sets.
func (e *Encoder) Head() []byte { return file.EncodeStarts(append(e.starts, e.at)) }
