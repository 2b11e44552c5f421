package file

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
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
func OpenStrings(b []byte) (t Strings, err error) {
	t.starts, t.bytes, err = SplitTable(b)
	return t, err
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

// SplitTable splits an encoded table of strings or sets into the start of each item and the end of the last, and the
// items.
func SplitTable(b []byte) (starts U64s, items []byte, err error) {
	if len(b) == 0 {
		return nil, nil, nil
	}
	if len(b) >= 8 {
		if n := binary.LittleEndian.Uint64(b); n <= uint64(len(b))/8 && 8*(n+2) <= uint64(len(b)) {
			return b[8 : 8*(n+2)], b[8*(n+2):], nil
		}
	}
	return nil, nil, fmt.Errorf("%w: table of strings or sets", guard.ErrCorrupt)
}

// TableHead is the part of a table before its items: their number, the start of each, and the end of the last.
type TableHead struct {
	Sizes []uint32 // of the items
	Unit  uint64   // of the sizes, in bytes
}

// WriteTo implements io.WriterTo.
func (h TableHead) WriteTo(w io.Writer) (written int64, err error) {
	buf := bufio.NewWriterSize(w, 1<<12)
	var num [8]byte
	put := func(n uint64) {
		written += 8
		_, _ = buf.Write(binary.LittleEndian.AppendUint64(num[:0], n)) // Flush returns the first error
	}
	put(uint64(len(h.Sizes)))
	start := uint64(0)
	put(start)
	for _, size := range h.Sizes {
		start += uint64(size) * h.Unit
		put(start)
	}
	return written, buf.Flush()
}
