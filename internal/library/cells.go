package library

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"iter"
	"strconv"

	"herbarium/internal/herb"
)

// cellHash hashes a table: its field names, then its records, row by row. A cell is written as its length in bytes, in
// decimal, a colon and its bytes; a row ends with a line feed. The encoding is unambiguous, and anybody can compute the hash
// from an export.
type cellHash struct {
	sum hash.Hash
	buf []byte
}

// hashPrefix names the hash function.
const hashPrefix = "sha256:"

func newCellHash(fields []herb.Field) *cellHash {
	h := &cellHash{sum: sha256.New(), buf: make([]byte, 0, 64<<10)}
	for _, f := range fields {
		addCell(h, f.Name)
	}
	h.endRow()
	return h
}

// addCell adds the next cell of a row.
func addCell[T string | []byte](h *cellHash, value T) {
	const room = 32 // for the length and the end of the previous row
	if cap(h.buf)-len(h.buf) < room {
		h.flush()
	}
	h.buf = strconv.AppendInt(h.buf, int64(len(value)), 10)
	h.buf = append(h.buf, ':')
	for free := cap(h.buf) - len(h.buf); len(value) > free; free = cap(h.buf) {
		h.buf = append(h.buf, value[:free]...)
		value = value[free:]
		h.flush()
	}
	h.buf = append(h.buf, value...)
}

func (h *cellHash) endRow() {
	if len(h.buf) == cap(h.buf) {
		h.flush()
	}
	h.buf = append(h.buf, '\n')
}

func (h *cellHash) flush() {
	h.sum.Write(h.buf)
	h.buf = h.buf[:0]
}

// String returns the hash of all rows added so far.
func (h *cellHash) String() string {
	h.flush()
	return hashPrefix + hex.EncodeToString(h.sum.Sum(nil))
}

// withHash yields records unchanged and adds each to h.
func withHash(records iter.Seq2[herb.Record, error], h *cellHash) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for r, err := range records {
			if err == nil {
				for _, v := range r {
					addCell(h, v)
				}
				h.endRow()
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
