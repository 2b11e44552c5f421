package export

import (
	"bufio"
	"bytes"
	"strings"

	"herbarium/internal/herb"
)

// csvWriter converts records to CSV lines. The package encoding/csv would need strings, and quotes fewer values.
type csvWriter struct {
	out     *bufio.Writer // its errors are sticky
	decoder *herb.RecordDecoder
	fields  int
	written int // values of the line
}

// header writes the field names.
func (c *csvWriter) header(fields []herb.Field) {
	for _, f := range fields {
		c.write([]byte(f.Name), strings.ContainsAny(f.Name, ";|\t"))
	}
	_ = c.endLine()
}

// record writes one line.
func (c *csvWriter) record(rec []byte) error {
	if err := c.decoder.Decode(rec, func(value []byte) { c.write(value, false) }); err != nil {
		return err
	}
	return c.endLine()
}

func (c *csvWriter) endLine() error {
	c.written = 0
	_, err := c.out.WriteString("\r\n")
	return err
}

// write writes a value, in quotes if it needs them or if quote is set.
func (c *csvWriter) write(value []byte, quote bool) {
	if c.written++; c.written > 1 {
		_ = c.out.WriteByte(',')
	}
	if !quote && !c.needsQuotes(value) {
		_, _ = c.out.Write(value)
		return
	}
	_ = c.out.WriteByte('"')
	for i := bytes.IndexByte(value, '"'); i >= 0; i = bytes.IndexByte(value, '"') {
		_, _ = c.out.Write(value[:i+1])
		_ = c.out.WriteByte('"')
		value = value[i+1:]
	}
	_, _ = c.out.Write(value)
	_ = c.out.WriteByte('"')
}

func (c *csvWriter) needsQuotes(value []byte) bool {
	if len(value) == 0 {
		return c.fields == 1 // the line must not be blank
	}
	return isBlank(value[0]) || isBlank(value[len(value)-1]) || bytes.HasPrefix(value, []byte("\uFEFF")) ||
		bytes.IndexByte(value, ',') >= 0 || bytes.IndexByte(value, '"') >= 0 || bytes.IndexByte(value, '\n') >= 0 ||
		bytes.IndexByte(value, '\r') >= 0
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }
