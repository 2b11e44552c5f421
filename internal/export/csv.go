package export

import (
	"bytes"
	"strings"

	"herbarium/internal/herb"
)

// csvWriter converts records to CSV lines.
type csvWriter struct {
	out     *sink
	decoder *herb.RecordDecoder
	fields  int
	written int // values of the line
}

// header writes the field names.
func (c *csvWriter) header(fields []herb.Field) {
	for _, f := range fields {
		c.write([]byte(f.Name), strings.ContainsAny(f.Name, ";|\t"))
	}
	c.endLine()
}

// record writes one line.
func (c *csvWriter) record(rec []byte) error {
	err := c.decoder.Decode(rec, func(value []byte) { c.write(value, false) })
	c.endLine()
	return err
}

func (c *csvWriter) endLine() {
	c.out.write([]byte("\r\n"))
	c.written = 0
}

// write writes a value, in quotes if it needs them or if quote is set.
func (c *csvWriter) write(value []byte, quote bool) {
	if c.written++; c.written > 1 {
		c.out.byte(',')
	}
	if !quote && !c.needsQuotes(value) {
		c.out.write(value)
		return
	}
	c.out.byte('"')
	for {
		i := bytes.IndexByte(value, '"')
		if i < 0 {
			break
		}
		c.out.write(value[:i+1])
		c.out.byte('"')
		value = value[i+1:]
	}
	c.out.write(value)
	c.out.byte('"')
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
