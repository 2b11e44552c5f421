package file

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"

	"herbarium/internal/segment/internal/guard"
)

// Strings is an encoded sorted table of strings: their number, the start of each and the end of the last, and their
// bytes.
type Strings struct {
	starts U64s
	bytes  []byte
}

// OpenStrings returns the table encoded in b.
func OpenStrings(b []byte) (Strings, error) {
	if len(b) == 0 {
		return Strings{}, nil
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b))/8 || 8*(n+2) > uint64(len(b)) {
		return Strings{}, fmt.Errorf("%w: table of strings", guard.ErrCorrupt)
	}
	return Strings{starts: U64s(b[8 : 8*(n+2)]), bytes: b[8*(n+2):]}, nil
}

// Len returns the number of strings.
func (t *Strings) Len() int { return max(t.starts.Len()-1, 0) }

// At returns string i.
func (t *Strings) At(i int) []byte { return t.bytes[t.starts.At(i):t.starts.At(i+1)] }

// Find returns the index of s, or where it would be inserted.
func (t *Strings) Find(s string) (i int, ok bool) {
	i = sort.Search(t.Len(), func(i int) bool { return string(t.At(i)) >= s })
	return i, i < t.Len() && string(t.At(i)) == s
}

// WithPrefix returns the indexes of the strings with a prefix.
func (t *Strings) WithPrefix(prefix string) (from, to int) {
	from, _ = t.Find(prefix)
	n := sort.Search(t.Len()-from, func(i int) bool { return !strings.HasPrefix(string(t.At(from+i)), prefix) })
	return from, from + n
}

// EncodeStrings encodes a table of sorted strings.
func EncodeStrings(sorted []string) []byte {
	total := 0
	for _, s := range sorted {
		total += len(s)
	}
	b := make([]byte, 0, 8*(len(sorted)+2)+total)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(sorted)))
	at := uint64(0)
	for _, s := range sorted {
		b = binary.LittleEndian.AppendUint64(b, at)
		at += uint64(len(s))
	}
	b = binary.LittleEndian.AppendUint64(b, at)
	for _, s := range sorted {
		b = append(b, s...)
	}
	return b
}
