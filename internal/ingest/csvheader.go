package ingest

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// separatorLine takes the delimiter from a line such as sep=; that spreadsheets write before the header.
func (c *csvReader) separatorLine() error {
	head, _ := c.win.sample(len(`"sep=;"` + "\r\n"))
	line := head
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
		line = head[:i]
	}
	if n := len(line); n > 1 && line[0] == '"' && line[n-1] == '"' {
		line = line[1 : n-1]
	}
	if len(line) != len("sep=;") || !strings.EqualFold(string(line[:4]), "sep=") || !validDelimiter(line[4]) {
		return nil
	}
	if c.d.Delimiter != 0 && c.d.Delimiter != line[4] {
		return nil
	}
	d := c.d
	d.Delimiter = line[4]
	c.setDialect(d)
	err := c.skipLine()
	c.win.advance(c.size)
	c.size = 0
	return err
}

// skipTo passes over the lines before the one with a number.
func (c *csvReader) skipTo(line int) error {
	for c.ahead < line {
		c.win.advance(c.size)
		c.line, c.size = c.ahead, 0
		if err := c.skipLine(); err == io.EOF {
			return herb.Invalidf("there is no line %d, which is to name the columns; the file has %d", line, c.ahead-1)
		} else if err != nil {
			return err
		}
	}
	c.win.advance(c.size)
	c.size = 0
	return nil
}

// readHeader finds the names of the columns.
func (c *csvReader) readHeader(names []string) error {
	if c.d.NoHeader {
		return c.nameByPlace(names)
	}
	rows := c.d.HeaderRows
	if len(rows) == 0 {
		rows = []int{0} // the first that there is
	}
	join := c.d.HeaderJoin
	if join == "" {
		join = " "
	}
	for i, row := range rows {
		if i > 0 {
			if err := c.skipTo(row); err != nil {
				return err
			}
		}
		cells, err := c.record()
		switch {
		case err == io.EOF && row == 0:
			return herb.Invalidf("the file is empty; its first line must name the columns")
		case err == io.EOF || err == nil && row > 0 && c.line != row:
			return herb.Invalidf("line %d, which is to name the columns, is blank or within a record", row)
		case err != nil:
			return err
		case c.width > MaxColumns:
			return herb.Invalidf("line %d: the header has %d columns; at most %d are possible", c.line, c.width, MaxColumns)
		}
		for len(c.header) < len(cells) {
			c.header = append(c.header, "")
		}
		for k, cell := range cells {
			name := strings.TrimSpace(string(cell))
			if c.header[k] != "" && name != "" {
				name = join + name
			}
			c.header[k] += name
		}
	}
	return nil
}

// nameByPlace names the columns of a text without a header: by the names that are given if they are enough for the first
// record, which is kept for next.
func (c *csvReader) nameByPlace(names []string) error {
	_, err := c.record()
	switch {
	case err == io.EOF:
		c.header = names
		return nil
	case err != nil:
		return err
	case c.width > MaxColumns:
		return herb.Invalidf("line %d: there are %d values; at most %d are possible", c.line, c.width, MaxColumns)
	}
	c.first, c.header = true, names
	if len(names) < c.width {
		c.header = make([]string, c.width)
		for i := range c.header {
			c.header[i] = "column_" + strconv.Itoa(i+1)
		}
	}
	return nil
}
