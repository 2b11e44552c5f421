package library

import (
	"bufio"
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
	sum    hash.Hash
	out    *bufio.Writer // to sum, which never fails
	length []byte
}

// hashPrefix names the hash function.
const hashPrefix = "sha256:"

func newCellHash(fields []herb.Field) *cellHash {
	sum := sha256.New()
	h := &cellHash{sum: sum, out: bufio.NewWriterSize(sum, 64<<10)}
	for _, f := range fields {
		h.addCell([]byte(f.Name))
	}
	h.endRow()
	return h
}

// addCell adds the next cell of a row.
func (h *cellHash) addCell(value []byte) {
	h.addLength(len(value))
	_, _ = h.out.Write(value)
}

func (h *cellHash) addLength(n int) {
	h.length = append(strconv.AppendInt(h.length[:0], int64(n), 10), ':')
	_, _ = h.out.Write(h.length)
}

func (h *cellHash) endRow() { _ = h.out.WriteByte('\n') }

// String returns the hash of all rows added so far.
func (h *cellHash) String() string {
	_ = h.out.Flush()
	return hashPrefix + hex.EncodeToString(h.sum.Sum(nil))
}

// withHash yields records unchanged and adds each to h.
func withHash(records iter.Seq2[herb.Record, error], h *cellHash) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for r, err := range records {
			if err == nil {
				for _, v := range r {
					h.addLength(len(v))
					_, _ = h.out.WriteString(v)
				}
				h.endRow()
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
