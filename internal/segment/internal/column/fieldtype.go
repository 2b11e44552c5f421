package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// This file contains everything that depends on the type of a field: sort keys, and whether equal
// keys mean equal values. A new type changes this file and packages text and query.

// AppendSortKey appends the sort key of a value that is not missing, by which the rows of a field
// are sorted. No key is a prefix of another.
func AppendSortKey(dst []byte, f *herb.Field, value []byte) ([]byte, error) {
	if !f.Type.IsScalar() {
		key, _ := text.AppendSortKey(dst, f.Type, value)
		return key, nil
	}
	if f.Type == herb.TypeNumber && f.Notation.Decimal == "" {
		if key, ok := text.AppendScalarSortKey(dst, f.Type, value); ok { // nearly all values are in canonical form
			return key, nil
		}
	}
	var buf [64]byte
	canonical, status := text.AppendCanonical(buf[:0], f, value)
	key, ok := text.AppendScalarSortKey(dst, f.Type, canonical)
	if status != text.Valid || !ok {
		return nil, herb.Invalidf("field %q has the value %q, which is not a %s", f.Name, value, f.Type)
	}
	return key, nil
}

func sortKey(f *herb.Field, value string) string {
	key, _ := text.FieldKey(f, value)
	return key
}

func edgeKey(f *herb.Field, edge string) string {
	canonical, _ := text.Bound(f, edge)
	key, _ := text.Key(f.Type, canonical)
	return key
}

// EqualByKey reports whether values with the same sort key are equal to filters, however they are
// written: 1 and 1.0 are the same number. Otherwise a run of such values is non-uniform.
func EqualByKey(t herb.Type) bool { return t.IsScalar() }

// KeyIsAmbiguous reports whether a value that is not equal can have the same sort key.
func KeyIsAmbiguous(t herb.Type, value []byte) bool {
	return !EqualByKey(t) && !text.IsPrintableASCII(value)
}

// appendValueKey appends the value key of a text: its sort key, followed by the text if the key is
// ambiguous.
func appendValueKey(dst, value []byte) []byte {
	dst, _ = text.AppendSortKey(dst, herb.TypeText, value)
	if KeyIsAmbiguous(herb.TypeText, value) {
		dst = append(dst, value...)
	}
	return dst
}
