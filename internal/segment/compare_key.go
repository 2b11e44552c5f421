package segment

import (
	"crypto/sha256"

	"herbarium/internal/segment/internal/column"
	"herbarium/internal/text"
)

// First bytes of the part of a field in an order key: missing values and those that do not fit
// their type sort last.
const (
	orderValid = 1
	orderOther = 2
)

// appendOrderKey appends bytes that sort as the values of the key do, are equal for equal keys
// only, and are no prefix of others.
func (s *comparedSide) appendOrderKey(dst []byte, raw [][]byte) []byte {
	for _, i := range s.key {
		f := &s.fields[i]
		value := column.Unescape(raw[i])
		canonical, status := text.Canonical(f, value)
		if status == text.Valid {
			before := len(dst)
			if key, ok := text.AppendSortKey(append(dst, orderValid), f.Type, []byte(canonical)); ok {
				dst = key
				continue
			}
			dst = dst[:before]
		}
		dst = append(append(append(dst, orderOther), text.PrimaryKey(value)...), 0, 0)
	}
	identity, _ := text.AppendKey(nil, s.fields, s.key, func(i int) string { return column.Unescape(raw[i]) })
	sum := sha256.Sum256(identity)
	return append(dst, sum[:]...)
}
