package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// This file contains everything that depends on the type of a field: sort keys, whether equal keys mean equal values,
// prefixes, and buckets of facets. A new type changes this file and packages text and query.

// AppendSortKey appends the sort key of a value, by which the rows of a field are sorted. No key is a prefix of another.
func AppendSortKey(dst []byte, f herb.Field, value []byte) ([]byte, error) {
	key, ok := text.AppendSortKey(dst, f.Type, value)
	if !ok {
		return nil, herb.Invalidf("field %q has the value %q, which is not a %s", f.Name, value, f.Type)
	}
	return key, nil
}

// sortKey returns the sort key of a valid value.
func sortKey(t herb.Type, value string) string {
	key, _ := text.Key(t, value)
	return key
}

// appendElementKey appends the sort key of an element of a list.
func appendElementKey(dst, element []byte) []byte {
	key, _ := text.AppendSortKey(dst, herb.TypeText, element)
	return key
}

// EqualByKey reports whether values with the same sort key are equal to filters, however they are written: 1 and 1.0 are
// the same number. Otherwise a run of such values is non-uniform.
func EqualByKey(t herb.Type) bool { return t == herb.TypeNumber }

// AppendIdentity appends bytes that are equal for equal values, given as written in JSON.
func AppendIdentity(dst []byte, t herb.Type, raw []byte) []byte {
	if EqualByKey(t) && len(raw) > 0 {
		return append(dst, sortKey(t, string(raw))...) // digits need no escapes
	}
	return append(dst, raw...)
}

// countsAsWritten reports whether facets count values with the same sort key separately if they are written differently.
func countsAsWritten(t herb.Type) bool { return t == herb.TypeText }

// prefixKeys returns a range of sort keys that contains those of all values with a prefix; ok is false if all keys do.
//
// For text it uses only the leading ASCII characters without the last one, whose weight could depend on the character
// after it.
func prefixKeys(t herb.Type, prefix string) (from, to string, ok bool) {
	ascii := 0
	for ascii < len(prefix) && prefix[ascii] < 0x80 {
		ascii++
	}
	switch {
	case ascii < 2:
		return "", "", false
	case t == herb.TypeDate:
		return prefix, prefix + "\xff", true
	default:
		letters := text.PrimaryKey(prefix[:ascii-1])
		return letters, letters + "\xff\xff", true
	}
}

// buckets returns the empty histogram of a facet between two values, or nil if the type has none.
func buckets(t herb.Type, first, last string, n int) []query.Bucket {
	return query.Buckets(t, first, last, n)
}
