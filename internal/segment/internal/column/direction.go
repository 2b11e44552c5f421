package column

import (
	"cmp"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// This file decides where missing values sort: after all others, in ascending and in descending
// order. Other files work in ascending order and convert positions with mirror.
//
//	ascending   1 3 3 7 NA ""      positions 0 to 3 have a value
//	descending  7 3 3 1 NA ""      position i of these is 3 - i

// mirrorRange returns the positions in the order of a direction that are [from, to) in ascending
// order, and vice versa. Of all positions, the first n have a value. Those of the range all have
// one, or are all missing.
func mirrorRange(from, to, n int, desc, missing bool) (mirroredFrom, mirroredTo int) {
	if desc && !missing {
		return n - to, n - from
	}
	return from, to
}

// mirror is mirrorRange for one position.
func mirror(i, n int, desc bool) int {
	i, _ = mirrorRange(i, i+1, n, desc, i >= n)
	return i
}

// SortKey is the position of a value in the ascending order of its field.
type SortKey struct {
	Missing int    // 0, or 1 + text.MissingPosition of a missing value, which has no key
	Key     string // of the value
}

// NewSortKey returns the key of a value. ok is false if it is not valid for the type of the field.
func NewSortKey(f *herb.Field, value string) (k SortKey, ok bool) {
	if missing := text.MissingPosition(f, value); missing >= 0 {
		return SortKey{Missing: 1 + missing}, true
	}
	key, status := text.FieldKey(f, value)
	return SortKey{Key: key}, status == text.Valid
}

// Compare compares two keys of one field. A missing value has no key, so missing values are only
// compared by their ranks, which are greater than that of a value.
func (k SortKey) Compare(other SortKey, desc bool) int {
	keys := strings.Compare(k.Key, other.Key)
	if desc {
		keys = -keys
	}
	return cmp.Or(cmp.Compare(k.Missing, other.Missing), keys)
}
