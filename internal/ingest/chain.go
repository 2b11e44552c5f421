package ingest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// chain reads the files of a source as one table.
type chain struct {
	t      *Table
	in     *input
	found  []finding
	glance func(file int, look func(content *bufio.Reader, head []byte) error) error
	whole  func(format Format, f *os.File) (rowReader, error)
	rows   rowReader
	format Format
	header []string
	cols   *jsonColumns
	told   []string
	filled int // non-empty cells that the readers of all files yielded
}

// finding is what only the whole of a file tells about how to read it.
type finding struct {
	encoding string   // of a text that is not UTF-8
	known    bool     // at is known
	at       []string // where the records of JSON are
	note     string
	width    int // columns of a workbook, which its widest row tells; 0: not known
}

// openChain opens the first file.
func openChain(ctx context.Context, t *Table, in *input) (*chain, error) {
	c := &chain{t: t, in: in, found: t.found, cols: newJSONColumns()}
	c.glance = func(file int, look func(*bufio.Reader, []byte) error) error { return glance(ctx, t.src, file, look) }
	c.whole = func(format Format, f *os.File) (rowReader, error) {
		return openWhole(ctx, in, format, f, &t.found[in.at])
	}
	if _, err := in.next(); err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, c.located(err)
	}
	c.header = c.rows.columns()
	if err := checkNames(c.header); err != nil {
		return nil, c.located(err)
	}
	return c, nil
}

// checkNames refuses names of columns that are too long to stand in every record.
func checkNames(names []string) error {
	total := 0
	for i, name := range names {
		if total += len(name); len(name) > MaxName {
			return herb.Invalidf("the name of column %d, %q, has %d bytes; at most %d are possible", i+1, clip(name), len(name), MaxName)
		}
	}
	if total > MaxNames {
		return herb.Invalidf("the names of the %d columns have %d bytes; at most %d are possible", len(names), total, MaxNames)
	}
	return nil
}

// next implements rowReader. Its errors name the file.
func (c *chain) next() ([][]byte, error) {
	for {
		cells, err := c.rows.next()
		if err != io.EOF {
			if err != nil {
				return nil, c.located(err)
			}
			c.filled += filledCells(cells)
			return cells, nil
		}
		c.columns()
		c.collect()
		switch more, err := c.in.next(); {
		case err != nil:
			return nil, err
		case !more:
			return nil, io.EOF
		}
		if err := c.start(); err != nil {
			return nil, c.located(err)
		}
		if err := c.alike(); err != nil {
			return nil, c.located(err)
		}
	}
}

// columns implements rowReader. A row of a workbook may be wider than the header and add columns without a name.
func (c *chain) columns() []string {
	if c.format == FormatJSON {
		return c.cols.names
	}
	if got := c.rows.columns(); len(got) > len(c.header) {
		c.header = append(slices.Clip(c.header), got[len(c.header):]...)
	}
	return c.header
}

// position implements rowReader.
func (c *chain) position() string {
	if c.in.at == 0 {
		return c.rows.position()
	}
	return c.in.src.name(c.in.at) + ", " + c.rows.position()
}

// notes are what a publisher should know, in the order of the files.
func (c *chain) notes() []string { return c.told }

// noter is a rowReader that has something to tell when it has come to its end.
type noter interface{ notes() []string }

func (c *chain) note(s string) {
	if s == "" {
		return
	}
	if len(c.t.src.Parts) > 0 {
		s = c.in.src.name(c.in.at) + ": " + s
	}
	c.told = append(c.told, s)
}

// collect takes up what the reader of a file has to tell.
func (c *chain) collect() {
	if c.format == FormatXLSX {
		c.found[c.in.at].width = len(c.rows.columns())
	}
	if n, ok := c.rows.(noter); ok {
		for _, s := range n.notes() {
			c.note(s)
		}
	}
}

// located adds the path of the file to an error about it.
func (c *chain) located(err error) error {
	if herb.CodeOf(err) == herb.CodeInvalid {
		if damage := c.in.damage(); damage != nil {
			err = damage
		}
	}
	return located(c.in.src.name(c.in.at), err)
}

// start makes a reader for the file that the input has opened.
func (c *chain) start() error {
	content, head, err := c.in.content()
	if err != nil {
		return err
	}
	src := c.t.src
	format, note, err := settleFormat(src.Format, head)
	if err != nil {
		return err
	}
	c.note(note)
	if c.format != "" && c.format != format {
		return herb.Invalidf("the file is %s while %s is %s; all parts must have the same format", format, src.name(0), c.format)
	}
	c.format = format
	if randomAccess(format) {
		f, err := c.in.whole(content)
		if err != nil {
			return err
		}
		c.rows, err = c.whole(format, f)
		c.in.reader, _ = c.rows.(io.Closer)
		return err
	}
	found := &c.found[c.in.at]
	text, note, err := openText(content, head, src.Encoding, found.encoding, c.in.at)
	if err != nil {
		return err
	}
	c.note(note)
	if format == FormatJSON {
		if err := c.findRecords(found); err != nil {
			return err
		}
		c.note(found.note)
		c.rows, err = newJSONReader(text, found.at, src.Dialect.ItemKeys, c.cols, c.t.opts.MaxRecord)
		return err
	}
	d := src.Dialect
	if format == FormatTSV && d.Delimiter == 0 {
		d.Delimiter = '\t'
	}
	c.rows, err = newCSVReader(text, d, c.names(), c.t.opts.MaxRecord)
	return err
}

// names are what columns are called that have no name in their file.
func (c *chain) names() []string {
	if c.header != nil {
		return c.header
	}
	var names []string
	for _, f := range c.t.src.Fields {
		names = append(names, f.From)
	}
	return names
}

// findRecords finds where the records of the JSON file are, if that is not known yet.
func (c *chain) findRecords(found *finding) (err error) {
	if found.known {
		return nil
	}
	src := c.t.src
	lines := src.Inline == nil && isLines(src.files()[c.in.at])
	return c.glance(c.in.at, func(content *bufio.Reader, head []byte) error {
		text, _, err := openText(content, head, src.Encoding, found.encoding, c.in.at)
		if err != nil {
			return err
		}
		found.at, found.note, err = findRecords(text, src.Dialect.Property, lines, c.t.opts.MaxRecord)
		found.known = err == nil
		return err
	})
}

// isLines tells by the extension of a file that each of its objects is a record.
func isLines(path string) bool {
	switch strings.ToLower(filepath.Ext(unpackedName(path))) {
	case ".ndjson", ".jsonl":
		return true
	}
	return false
}

// alike checks that the columns of a part are those of the first file. The records of JSON bring theirs with them.
func (c *chain) alike() error {
	if c.format == FormatJSON {
		return nil
	}
	got, want, first := c.rows.columns(), c.header, c.t.src.name(0)
	if c.format == FormatXLSX { // unnamed columns at the end come from rows, which may differ in width
		got, want = trimUnnamed(got), trimUnnamed(want)
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return herb.Invalidf("column %d is %q, and %q in %s; all parts must have the same columns in the same order", i+1,
				clip(got[i]), clip(want[i]), first)
		}
	}
	if len(got) != len(want) {
		return herb.Invalidf("there are %d columns, and %d in %s; all parts must have the same columns in the same order", len(got),
			len(want), first)
	}
	return nil
}

// trimUnnamed returns names without the empty ones at the end.
func trimUnnamed(names []string) []string {
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	return names
}

// glance looks at a file of the source beside a pass, for what must be known of all of it.
func glance(ctx context.Context, src Source, file int, look func(content *bufio.Reader, head []byte) error) error {
	src.Path, src.Parts, src.Called = src.files()[file], nil, src.name(file)
	in, err := openInput(ctx, src, Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := in.next(); err != nil {
		return err
	}
	content, head, err := in.content()
	if err != nil {
		return err
	}
	return look(content, head)
}

// reconsider finds the encoding of a file that turned out not to be UTF-8. It returns false if err is about anything else.
func reconsider(ctx context.Context, src Source, found []finding, err error) (bool, error) {
	e, ok := errors.AsType[*notUTF8](err)
	if !ok {
		return false, nil
	}
	err = glance(ctx, src, e.file, func(content *bufio.Reader, _ []byte) (err error) {
		found[e.file].encoding, err = judgeEncoding(content)
		return err
	})
	if err != nil {
		return false, located(src.name(e.file), err)
	}
	return true, nil
}
