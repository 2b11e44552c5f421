package bitmap

import "herbarium/internal/segment/internal/file"

// Table is a table of sets of record numbers: aligned, in the portable roaring format, each
// followed by data that the section defines.
type Table struct{ file.Table }

// OpenTable returns the table encoded in b.
func OpenTable(b []byte) (t Table, err error) {
	t.Table, err = file.OpenTable(b)
	return t, err
}

// Set returns a set.
func (t *Table) Set(i int) EncodedSet { return t.At(i) }

// Trailer returns the bytes that follow a set, with padding.
func (t *Table) Trailer(i int) []byte { return t.Set(i).trailer() }
