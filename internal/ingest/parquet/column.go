package parquet

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// columnReader reads the cells of one column of a row group.
type columnReader struct {
	column  *node
	cursors []*cursor // of the leaves of the column
	budget  *rows.Budget
	err     error  // the first one of the cell, apart from those of the cursors
	text    []byte // of the value that was read last
}

func (r *reader) newColumnReader(group int, column *node) *columnReader {
	c := &columnReader{column: column, budget: r.budget}
	for i := range column.leaves {
		c.cursors = append(c.cursors, r.newCursor(group, column.first+i))
	}
	return c
}

// leaves returns the cursors of the leaves below a node.
func (c *columnReader) leaves(n *node) []*cursor {
	return c.cursors[n.first-c.column.first:][:n.leaves]
}

// appendCell appends the cell of the next row. Lists and maps are compact JSON, empty if they are
// missing or have no items. An error of a cursor inside a cell is returned with the next one.
func (c *columnReader) appendCell(b []byte) ([]byte, error) {
	for _, cursor := range c.cursors {
		if cursor.err != nil {
			return b, noEOF(cursor.err)
		}
		if cursor.rep != 0 {
			return b, errLevels
		}
	}
	n := c.column
	if n.kind == kindLeaf {
		if c.isPresent(n, n.def) {
			b = c.appendText(b, n)
		}
		return b, c.err
	}
	if !c.isPresent(n, n.def+1) {
		return b, c.err
	}
	return c.appendJSON(b, n), c.err
}

// finish fails if a cell was incomplete or values remain after the last row.
func (c *columnReader) finish() error {
	for _, cursor := range c.cursors {
		if cursor.err != io.EOF {
			return cmp.Or(cursor.err, errValues)
		}
	}
	return nil
}

// isPresent reports whether the next values below a node reach a definition level; otherwise it
// consumes the nulls.
func (c *columnReader) isPresent(n *node, def uint64) bool {
	leaves := c.leaves(n)
	isPresent := leaves[0].def >= def
	for _, cursor := range leaves {
		if isPresent != (cursor.def >= def) {
			c.err = cmp.Or(c.err, errLevels)
		}
		if !isPresent {
			cursor.advance()
		}
	}
	return isPresent
}

// appendText appends a value that is not null.
func (c *columnReader) appendText(b []byte, n *node) []byte {
	cursor := c.leaves(n)[0]
	b, err := n.leaf.appendText(b, cursor.data)
	c.err = cmp.Or(c.err, err)
	cursor.advance()
	return b
}

// appendJSON appends a node as compact JSON.
func (c *columnReader) appendJSON(b []byte, n *node) []byte {
	if !c.isPresent(n, n.def) {
		return append(b, "null"...)
	}
	switch n.kind {
	case kindLeaf:
		return c.appendScalar(b, n)
	case kindList:
		return append(c.appendItems(append(b, '['), n), ']')
	case kindMap:
		return append(c.appendItems(append(b, '{'), n), '}')
	}
	separator := byte('{')
	for _, child := range n.children {
		b = append(herb.AppendJSONString(append(b, separator), child.name), ':')
		b = c.appendJSON(b, child)
		separator = ','
	}
	return append(b, '}')
}

// appendItems appends the items of a list or map, with commas between them.
func (c *columnReader) appendItems(b []byte, n *node) []byte {
	leaves := c.leaves(n)
	for more := c.isPresent(n, n.def+1); more; {
		if n.kind == kindMap {
			b = append(c.appendKey(b, n.children[0]), ':')
		}
		b = c.appendJSON(b, n.children[len(n.children)-1])
		c.err = cmp.Or(c.err, c.budget.Step(), c.budget.Record(len(b)))
		more = leaves[0].rep == n.rep+1
		for _, cursor := range leaves {
			if cursor.rep > n.rep+1 || more != (cursor.rep == n.rep+1) {
				c.err = cmp.Or(c.err, errLevels)
			}
		}
		more = more && c.err == nil
		if more {
			b = append(b, ',')
		}
	}
	return b
}

// appendKey appends a key of a map as a JSON string.
func (c *columnReader) appendKey(b []byte, n *node) []byte {
	start := len(b)
	b = c.appendJSON(b, n)
	if b[start] == '"' {
		return b
	}
	return herb.AppendJSONString(b[:start], string(b[start:]))
}

// appendScalar appends a value as JSON: finite numbers and booleans as they are, everything else in
// quotes.
func (c *columnReader) appendScalar(b []byte, n *node) []byte {
	c.text = c.appendText(c.text[:0], n)
	isFinite := len(c.text) > 0 && c.text[len(c.text)-1] <= '9'
	if n.leaf.declared == herb.TypeBoolean || n.leaf.declared == herb.TypeNumber && isFinite {
		return append(b, c.text...)
	}
	return herb.AppendJSONString(b, string(c.text))
}

const (
	secondsPerDay = 24 * 60 * 60
	maxDecimal    = 4 << 10 // bytes of a decimal; converting more takes long
)

// appendText appends a value that is not null.
func (l *leafType) appendText(b, data []byte) ([]byte, error) {
	if l.width > 0 && len(data) != l.width {
		return b, errors.New("a value does not have the length that the schema declares")
	}
	return l.render(b, data)
}

func unsigned(data []byte) uint64 {
	if len(data) == 4 {
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return binary.LittleEndian.Uint64(data)
}

func signed(data []byte) int64 {
	if len(data) == 4 {
		return int64(int32(unsigned(data)))
	}
	return int64(unsigned(data))
}

func appendBoolean(b, data []byte) ([]byte, error) { return strconv.AppendBool(b, data[0] != 0), nil }

func appendInt(b, data []byte) ([]byte, error) { return strconv.AppendInt(b, signed(data), 10), nil }

func appendUint(b, data []byte) ([]byte, error) {
	return strconv.AppendUint(b, unsigned(data), 10), nil
}

func appendFloat(b, data []byte) ([]byte, error) {
	if len(data) == 4 {
		return rows.AppendFloat(b, float64(math.Float32frombits(uint32(unsigned(data)))), 32), nil
	}
	return rows.AppendFloat(b, math.Float64frombits(unsigned(data)), 64), nil
}

// appendDecimal returns a function that appends integers with a decimal point before their last
// digits. Integers that are stored as bytes have the most significant byte first.
func appendDecimal(scale int, isInt bool) appendFunc {
	return func(b, data []byte) ([]byte, error) {
		start := len(b)
		switch {
		case isInt:
			b = strconv.AppendInt(b, signed(data), 10)
		case len(data) > maxDecimal:
			return b, fmt.Errorf("a decimal has %d bytes", len(data))
		default:
			n := new(big.Int).SetBytes(data)
			if len(data) > 0 && data[0] >= 0x80 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
			}
			b = n.Append(b, 10)
		}
		if scale == 0 {
			return b, nil
		}
		if b[start] == '-' {
			start++
		}
		if missing := scale + 1 - (len(b) - start); missing > 0 {
			b = slices.Insert(b, start, bytes.Repeat([]byte{'0'}, missing)...)
		}
		return slices.Insert(b, len(b)-scale, '.'), nil
	}
}

func appendUTF8(b, data []byte) ([]byte, error) {
	if !utf8.Valid(data) {
		return b, herb.Invalidf("the text is not valid UTF-8; write it as UTF-8")
	}
	return append(b, data...), nil
}

// appendBytes appends bytes without an annotation, with which some writers store text.
func appendBytes(b, data []byte) ([]byte, error) {
	if !utf8.Valid(data) {
		return b, herb.Invalidf(
			"the value is not text, and its type is BYTE_ARRAY without an annotation; write the column as text, or " +
				"leave it out")
	}
	return append(b, data...), nil
}

func appendBase64(b, data []byte) ([]byte, error) {
	return base64.StdEncoding.AppendEncode(b, data), nil
}

func appendUUID(b, data []byte) ([]byte, error) {
	return fmt.Appendf(b, "%x-%x-%x-%x-%x", data[:4], data[4:6], data[6:8], data[8:10], data[10:]), nil
}

func appendDate(b, data []byte) ([]byte, error) {
	return rows.AppendDate(b, time.Unix(signed(data)*secondsPerDay, 0).UTC()), nil
}

// appendInt96 appends a timestamp of older writers without a time zone: nanoseconds of a day, and
// the Julian day number.
func appendInt96(b, data []byte) ([]byte, error) {
	const julianOfEpoch = 2_440_588
	t := time.Unix((signed(data[8:])-julianOfEpoch)*secondsPerDay, signed(data[:8])).UTC()
	return t.AppendFormat(rows.AppendDate(b, t), "T15:04:05.000000000"), nil
}

// appendTime returns a function that appends timestamps or times of day with all the digits of
// their unit, or nil if the unit is unknown. Times of day have no zone: Arrow marks all of them as
// UTC.
func appendTime(unit meta.TimeUnit, isUTC, hasDate bool) appendFunc {
	if unit.Value == nil {
		return nil
	}
	format := "15:04:05." + strings.Repeat("000", int(unit.Value.FieldID())) // milliseconds, microseconds, nanoseconds
	if isUTC && hasDate {
		format += "Z"
	}
	duration := int64(unit.Value.Duration())
	perSecond := int64(time.Second) / duration
	return func(b, data []byte) ([]byte, error) {
		v := signed(data)
		t := time.Unix(v/perSecond, v%perSecond*duration).UTC()
		if hasDate {
			b = append(rows.AppendDate(b, t), 'T')
		} else if s := t.Unix(); s < 0 || s >= secondsPerDay {
			return b, errors.New("a time of day is outside the day")
		}
		return t.AppendFormat(b, format), nil
	}
}
