package column

import (
	"cmp"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// SortKey is the position of a value in the ascending order of its field.
type SortKey struct {
	Missing int    // 0, or 1 + text.MissingRank of a missing value, which has no key
	Key     string // of the value
}

// NewSortKey returns the key of a value. ok is false if it is not valid for the type of the field.
func NewSortKey(f *herb.Field, value string) (k SortKey, ok bool) {
	if missing := text.MissingRank(f, value); missing >= 0 {
		return SortKey{Missing: 1 + missing}, true
	}
	key, status := text.FieldKey(f, value)
	return SortKey{Key: key}, status == text.Valid
}

// Compare compares two keys of one field. Missing values are last in both directions.
func (k SortKey) Compare(other SortKey, desc bool) int {
	keys := strings.Compare(k.Key, other.Key)
	if desc {
		keys = -keys
	}
	return cmp.Or(cmp.Compare(k.Missing, other.Missing), keys)
}

// CompareSortKeys compares the keys of two records, one for each sort field.
func CompareSortKeys(a, b []SortKey, sort []query.SortField) int {
	for i, f := range sort {
		if c := a[i].Compare(b[i], f.Desc); c != 0 {
			return c
		}
	}
	return 0
}
