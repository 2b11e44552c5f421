// Package bitmap implements sets of record numbers: tables of encoded sets, which are read in place, dense bitsets, and
// the sets that queries compute.
package bitmap

import "herbarium/internal/segment/internal/file"

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
