package herb

import (
	"hash/crc32"
	"slices"
	"strings"
)

// Hiding is what a version does not expose of its source, and of the sources of earlier versions.
// The next version is compared with it, so that nothing hidden becomes public by an accident.
type Hiding struct {
	Columns []HiddenColumn `json:"columns,omitempty"`
	Rows    []RowRule      `json:"rows,omitempty"`
}

// HiddenColumn is a column that no field exposes.
type HiddenColumn struct {
	Name string `json:"name"`
	// Samples identifies the values of the column, so that they are recognized in another one.
	Samples ValueSamples `json:"samples,omitempty"`
}

// RowRule is a condition for a row to become a record: the column has one of the values, or none of
// them.
type RowRule struct {
	Column  string   `json:"column"`
	Values  []string `json:"values"`
	Exclude bool     `json:"exclude,omitempty"` // the column has none of the values
}

// IsZero reports whether nothing is hidden.
func (h *Hiding) IsZero() bool {
	return h == nil || len(h.Columns)+len(h.Rows) == 0
}

// FoldColumn returns the form of a column name by which columns of two files are the same.
func FoldColumn(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// maxSamples is the number of values by which a column is recognized.
const maxSamples = 64

// ValueSamples has the hashes of a random sample of the different values of a column, ascending:
// the smallest ones. It does not depend on the order of the rows.
type ValueSamples []uint32

// Add adds a value. Empty ones are ignored.
func (s *ValueSamples) Add(value []byte) {
	if len(value) == 0 {
		return
	}
	h := HashValue(value)
	if len(*s) == maxSamples && h >= (*s)[maxSamples-1] {
		return
	}
	if i, known := slices.BinarySearch(*s, h); !known {
		*s = slices.Insert(*s, i, h)
		*s = (*s)[:min(len(*s), maxSamples)]
	}
}

// HashValue returns the hash of a value for ValueSamples.
func HashValue[T string | []byte](value T) uint32 {
	h := crc32.Checksum([]byte(value), crc32.MakeTable(crc32.Castagnoli))
	h = (h ^ h>>16) * 0x85EBCA6B // so that the smallest hashes are a random sample
	h = (h ^ h>>13) * 0xC2B2AE35
	return h ^ h>>16
}

// IsMetBy reports whether another rule lets no rows pass that this one does not.
func (r RowRule) IsMetBy(other RowRule) bool {
	if FoldColumn(r.Column) != FoldColumn(other.Column) {
		return false
	}
	isIn := func(values []string) func(string) bool {
		return func(v string) bool { return slices.Contains(values, v) }
	}
	switch {
	case r.Exclude && other.Exclude:
		return all(r.Values, isIn(other.Values))
	case r.Exclude:
		return !slices.ContainsFunc(other.Values, isIn(r.Values))
	case other.Exclude: // it lets values pass that nothing names
		return false
	default:
		return all(other.Values, isIn(r.Values))
	}
}

func all(values []string, is func(string) bool) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !is(v) })
}
