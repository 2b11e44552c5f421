// Package contenthash computes the hash of the cells of a table, from the records of a source and
// from a listing, so that a version is known to list what was read.
package contenthash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"iter"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// Hash hashes a table: its field names, then its records, row by row. A cell is written as its
// length in bytes, in decimal, a colon and its bytes; a row ends with a line feed. The encoding is
// unambiguous, and the hash can be computed from an export.
type Hash struct {
	columns []herb.ColumnCells // fingerprints of the records
	rows    int
	sum     hash.Hash
	buf     []byte // cells that are not in sum yet
}

const (
	hashPrefix = "sha256:" // names the hash function
	rowEnd     = '\n'
)

func New(fields []herb.Field) *Hash {
	h := &Hash{sum: sha256.New(), columns: make([]herb.ColumnCells, len(fields))}
	for _, f := range fields {
		h.buf = appendCell(h.buf, f.Name)
	}
	h.buf = append(h.buf, rowEnd)
	return h
}

// appendCell appends a cell as it is hashed.
func appendCell[T string | []byte](b []byte, value T) []byte {
	b = strconv.AppendInt(b, int64(len(value)), 10)
	return append(append(b, ':'), value...)
}

// add adds a row.
func (h *Hash) add(r herb.Record) {
	for i, v := range r {
		h.buf = appendCell(h.buf, v)
		if i < len(h.columns) { // an additional value changes the hash
			h.columns[i].Add(h.rows, h.buf[len(h.buf)-len(v):])
		}
	}
	h.rows++
	h.endRow()
}

// endRow ends a row whose cells are in buf.
func (h *Hash) endRow() {
	h.buf = append(h.buf, rowEnd)
	if len(h.buf) >= 64<<10 {
		h.flush()
	}
}

func (h *Hash) flush() {
	h.sum.Write(h.buf)
	h.buf = h.buf[:0]
}

// String returns the hash of all rows added so far.
func (h *Hash) String() string {
	h.flush()
	return hashPrefix + hex.EncodeToString(h.sum.Sum(nil))
}

// Of yields records unchanged and adds each to the hash.
func (h *Hash) Of(records iter.Seq2[herb.Record, error]) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for r, err := range records {
			if err == nil {
				h.add(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Columns returns the fingerprints of the columns of all rows added so far.
func (h *Hash) Columns() []herb.ColumnCells { return h.columns }

// OfListing returns the hash of all listed cells.
func OfListing(ctx context.Context, r *segment.Reader, fields []herb.Field,
	progress func(records int)) (string, error) {
	const step = 10_000 // records between progress reports
	h, decoder, n := New(fields), herb.NewRecordDecoder(fields), 0
	cell := func(value []byte) { h.buf = appendCell(h.buf, value) }
	err := r.Each(ctx, func(record []byte) error {
		if err := decoder.Decode(record, cell); err != nil {
			return fmt.Errorf("record %d: %w", n+1, err)
		}
		h.endRow()
		n++
		if n%step == 0 || n == r.Len() {
			progress(n)
		}
		return nil
	})
	return h.String(), err
}
