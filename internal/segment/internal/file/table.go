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

// Table is an encoded table of items, which are strings or sets: their number, the start of each
// and the end of the last, and the items.
type Table struct {
	starts U64s
	items  []byte
}

// OpenTable returns the table encoded in b.
func OpenTable(b []byte) (t Table, err error) {
	if len(b) == 0 {
		return t, nil
	}
	if len(b) >= 8 {
		if n := binary.LittleEndian.Uint64(b); n <= uint64(len(b))/8 && 8*(n+2) <= uint64(len(b)) {
			return Table{b[8 : 8*(n+2)], b[8*(n+2):]}, nil
		}
	}
	return t, fmt.Errorf("%w: table of strings or sets", guard.ErrCorrupt)
}

// Len returns the number of items.
func (t *Table) Len() int { return max(t.starts.Len()-1, 0) }

// At returns item i.
func (t *Table) At(i int) []byte { return t.items[t.starts.At(i):t.starts.At(i+1)] }

// Size returns the number of bytes of all items.
func (t *Table) Size() int { return len(t.items) }

// Strings is a table of sorted strings.
type Strings struct{ Table }

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

// TableHead is the part of a table before its items: their number, the start of each, and the end
// of the last.
type TableHead struct {
	Sizes []uint32 // of the items
	Unit  uint64   // of the sizes, in bytes
}

// WriteTo implements io.WriterTo.
func (h TableHead) WriteTo(w io.Writer) (written int64, err error) {
	buf := bufio.NewWriterSize(w, min(1<<12, 8*(len(h.Sizes)+2)))
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
