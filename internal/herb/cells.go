package herb

import (
	"fmt"
	"hash/crc32"
)

// SourceCells accounts for every non-empty cell that the reader of a file returned, before settings are applied. The
// listing must have Total + Repeated - Hidden - Excluded - Missing of them.
type SourceCells struct {
	Total    int `json:"total"`
	Hidden   int `json:"hidden,omitempty"`   // in columns that are not exposed
	Excluded int `json:"excluded,omitempty"` // in rows excluded by the settings
	Missing  int `json:"missing,omitempty"`  // values that the settings declare as missing
	Repeated int `json:"repeated,omitempty"` // listed again because several fields expose their column
}

// Listed returns the number of non-empty cells that the listing must have.
func (s SourceCells) Listed() int { return s.Total + s.Repeated - s.Hidden - s.Excluded - s.Missing }

// ColumnCells fingerprints a column: the number of its non-empty cells and a checksum of their values and rows. It is
// computed for the source and for the listing, to detect cells in the wrong column. It does not depend on the order of
// the calls of Add, so that the fingerprints of two parts of a column add up to that of the column.
type ColumnCells struct {
	Filled int
	Sum    uint32
}

// Add adds the cell of a row. Empty cells are ignored.
func (c *ColumnCells) Add(row int, cell []byte) {
	if len(cell) == 0 {
		return
	}
	c.Filled++
	h := crc32.Update(uint32(row), crc32.MakeTable(crc32.Castagnoli), cell) // which processors compute for short cells too
	h = (h ^ h>>16) * 0x85EBCA6B                                            // CRCs are linear; mixing makes their sum depend on which cell is in which row
	h = (h ^ h>>13) * 0xC2B2AE35
	c.Sum += h ^ h>>16
}

// Plus returns the fingerprint of the cells of both.
func (c ColumnCells) Plus(o ColumnCells) ColumnCells {
	return ColumnCells{c.Filled + o.Filled, c.Sum + o.Sum}
}

// Reconcile compares the source with the columns of the listing, in field order. The error says what differs. A report
// without SourceCells is not compared: it was not made from a file.
func (r *Report) Reconcile(listing []ColumnCells) error {
	if r == nil || r.SourceCells == nil {
		return nil
	}
	listed := 0
	for _, c := range listing {
		listed += c.Filled
	}
	if s := *r.SourceCells; listed != s.Listed() {
		return fmt.Errorf("the source has %s non-empty cells, of which %s are in columns that are not exposed, %s in excluded rows and %s "+
			"declared missing (%s are listed twice); that leaves %s, but the listing has %s", Count(s.Total), Count(s.Hidden),
			Count(s.Excluded), Count(s.Missing), Count(s.Repeated), Count(s.Listed()), Count(listed))
	}
	if len(r.Columns) != len(listing) {
		return fmt.Errorf("%d columns of the source are exposed, but the listing has %d fields", len(r.Columns), len(listing))
	}
	for i, c := range r.Columns {
		if c.Source != listing[i] {
			return fmt.Errorf("field %q does not hold the values of column %q: %s non-empty cells in the source, %s in the listing",
				c.Field, c.Column, Count(c.Source.Filled), Count(listing[i].Filled))
		}
	}
	return nil
}
