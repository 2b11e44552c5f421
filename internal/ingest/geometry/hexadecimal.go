package geometry

import (
	"encoding/hex"
	"fmt"
	"slices"

	"herbarium/internal/ingest/rows"
)

// minHexadecimal is the number of digits of a point with two coordinates.
const minHexadecimal = 2 * (1 + 4 + 2*8)

// DecodeHexadecimal returns rows in which values that are WKB or EWKB in hexadecimal digits, as
// PostGIS exports geometries, are well-known text. A note names their columns.
func DecodeHexadecimal(r rows.Rows) rows.Rows { return &hexadecimal{Rows: r} }

type hexadecimal struct {
	rows.Rows
	decoded []int // values by column
	binary  []byte
	text    []byte
	cells   [][]byte
}

func (h *hexadecimal) Next() ([][]byte, error) {
	cells, err := h.Rows.Next()
	h.text = h.text[:0]
	for i, cell := range cells {
		if !mayBeHexadecimal(cell) {
			continue
		}
		from := len(h.text)
		if !h.decode(cell) {
			continue
		}
		if len(h.cells) == 0 || &h.cells[0] != &cells[0] { // the cells belong to the format
			h.cells = append(h.cells[:0], cells...)
			cells = h.cells
		}
		cells[i] = h.text[from:len(h.text):len(h.text)]
		for len(h.decoded) <= i {
			h.decoded = append(h.decoded, 0)
		}
		h.decoded[i]++
	}
	return cells, err
}

// mayBeHexadecimal reports whether a value begins like a geometry: with its byte order.
func mayBeHexadecimal(cell []byte) bool {
	return len(cell) >= minHexadecimal && len(cell)%2 == 0 && cell[0] == '0' && (cell[1] == '0' || cell[1] == '1')
}

// decode appends the text of a value to h.text.
func (h *hexadecimal) decode(cell []byte) (ok bool) {
	h.binary = slices.Grow(h.binary[:0], len(cell)/2)[:len(cell)/2]
	if _, err := hex.Decode(h.binary, cell); err == nil {
		h.text, ok = AppendWKT(h.text, h.binary)
	}
	return ok
}

func (h *hexadecimal) Notes() []string {
	notes := h.Rows.Notes()
	for i, n := range h.decoded {
		if n > 0 {
			notes = append(slices.Clip(notes), fmt.Sprintf("column %q: hexadecimal geometries (WKB) are listed as well-known text: %d", rows.Clip(h.Rows.Columns()[i].Name), n))
		}
	}
	return notes
}
