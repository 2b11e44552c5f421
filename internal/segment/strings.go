package segment

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
)

// stringTable is an encoded sorted table of strings: their number, the start of each and the end of the last, and their
// bytes.
type stringTable struct {
	starts u64s
	bytes  []byte
}

func openStrings(b []byte) (stringTable, error) {
	if len(b) == 0 {
		return stringTable{}, nil
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b))/8 || 8*(n+2) > uint64(len(b)) {
		return stringTable{}, fmt.Errorf("%w: table of strings", ErrCorrupt)
	}
	return stringTable{starts: u64s(b[8 : 8*(n+2)]), bytes: b[8*(n+2):]}, nil
}

func (t *stringTable) len() int { return max(t.starts.len()-1, 0) }

func (t *stringTable) at(i int) []byte { return t.bytes[t.starts.at(i):t.starts.at(i+1)] }

// find returns the index of s, or where it would be inserted.
func (t *stringTable) find(s string) (i int, ok bool) {
	i = sort.Search(t.len(), func(i int) bool { return string(t.at(i)) >= s })
	return i, i < t.len() && string(t.at(i)) == s
}

// withPrefix returns the indexes of the strings with a prefix.
func (t *stringTable) withPrefix(prefix string) (from, to int) {
	from, _ = t.find(prefix)
	n := sort.Search(t.len()-from, func(i int) bool { return !strings.HasPrefix(string(t.at(from+i)), prefix) })
	return from, from + n
}

// encodeStrings encodes a table.
func encodeStrings(sorted []string) []byte {
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
