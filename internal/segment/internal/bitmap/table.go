// Package bitmap implements sets of record numbers: tables of encoded sets, which are read in
// place, dense bitsets, and the sets that queries compute.
//
//	Encoded   set in a file, roaring format       [head: 0 has 2, 1 has 5000][2 7][bits of 65,536 records]
//	Bits      one bit per record, from a Pool     0010 0001 …
//	Set       result of a query: one of a stored set, an ascending list if it has few records, or Bits
//
// An Encoded has a container for every 65,536 record numbers that have members: the numbers, runs
// of them, or bits, whichever is smallest. In the example, the records 2 and 7 are in container 0,
// and 5000 records from 65,536 on in container 1.
//
// category=tree & search=oak: Set starts as the stored set of oak, still in the file. Intersect
// decodes both sets to Bits, a word of 64 records at a time, and counts the result. If it has few
// records, it becomes a list, and the bits return to the Pool.
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
func (t *Table) Set(i int) Encoded { return t.At(i) }

// Trailer returns the bytes that follow a set, with padding.
func (t *Table) Trailer(i int) []byte { return t.Set(i).trailer() }
