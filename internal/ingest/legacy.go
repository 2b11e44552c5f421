package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// rowReader is the interface of the readers in this package, which formats replace one by one.
type rowReader interface {
	next() ([][]byte, error)
	columns() []string
	position() string
}

func legacyFormats() []rows.Format {
	return []rows.Format{
		{Name: "csv", Extensions: []string{".csv"}, Open: openLegacyCSV},
		{Name: "tsv", Extensions: []string{".tsv"}, Open: func(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
			if o.Delimiter == 0 {
				o.Delimiter = '\t'
			}
			return openLegacyCSV(ctx, f, o, b)
		}},
		{Name: "json", Extensions: []string{".json", ".ndjson", ".jsonl"}, Matches: beginsLikeJSON, Open: openLegacyJSON, Keyed: true},
	}
}

type legacyRows struct {
	rowReader
	closer io.Closer
	told   []string
	opts   rows.Options
}

func newLegacy(r rowReader, c io.Closer, o rows.Options, err error) (rows.Rows, error) {
	if err != nil {
		return nil, err
	}
	return &legacyRows{rowReader: r, closer: c, opts: o}, nil
}

func (l *legacyRows) Columns() []rows.Column {
	names := l.columns()
	out := make([]rows.Column, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}
func (l *legacyRows) Next() ([][]byte, error) { return l.next() }
func (l *legacyRows) Position() string        { return l.position() }
func (l *legacyRows) Options() rows.Options   { return l.opts }
func (l *legacyRows) Close() error            { return l.closer.Close() }
func (l *legacyRows) Notes() []string {
	if n, ok := l.rowReader.(interface{ notes() []string }); ok {
		return append(l.told, n.notes()...)
	}
	return l.told
}

func legacyOf(o rows.Options) oldDialect {
	return oldDialect{
		Delimiter: o.Delimiter, Quote: o.Quote, NoQuote: o.NoQuote, NoDoubleQuote: o.NoDoubleQuote, Escape: o.Escape,
		SkipInitialSpace: o.SkipInitialSpace, Comment: o.Comment, CommentRows: o.CommentRows, Null: o.Null,
		NoHeader: o.Header == rows.HeaderNone, HeaderRows: o.HeaderRows, HeaderJoin: o.HeaderJoin, Property: o.Table, ItemKeys: o.ItemKeys,
		Sheet: o.Table, SheetNumber: o.TableNo, Table: o.Table,
	}
}

// legacyText opens a text as UTF-8.
func legacyText(f rows.File, o *rows.Options) (text io.Reader, c io.Closer, note string, err error) {
	for found := ""; ; {
		in, err := f.Open()
		if err != nil {
			return nil, nil, "", err
		}
		content := bufio.NewReaderSize(in, windowBytes)
		head, err := content.Peek(64 << 10)
		if err != nil && err != io.EOF {
			return nil, nil, "", errors.Join(err, in.Close())
		}
		text, note, err := openText(content, head, o.Encoding, found, 0)
		if err != nil {
			return nil, nil, "", errors.Join(err, in.Close())
		}
		if found != "" {
			o.Encoding = found
			return text, in, note, nil
		}
		check, err := f.Open()
		if err != nil {
			return nil, nil, "", err
		}
		second := bufio.NewReaderSize(check, windowBytes)
		head2, _ := second.Peek(64 << 10)
		t2, _, err := openText(second, head2, o.Encoding, found, 0)
		if err == nil {
			_, err = io.Copy(io.Discard, t2)
		}
		check.Close()
		if _, ok := errors.AsType[*notUTF8](err); !ok {
			return text, in, note, nil
		}
		in.Close()
		again, err := f.Open()
		if err != nil {
			return nil, nil, "", err
		}
		found, err = judgeEncoding(again)
		if err := errors.Join(err, again.Close()); err != nil {
			return nil, nil, "", err
		}
	}
}

func openLegacyCSV(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	text, c, note, err := legacyText(f, &o)
	if err != nil {
		return nil, err
	}
	r, err := newCSVReader(text, legacyOf(o), o.Names, b.MaxRecord())
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	d := r.d
	o.Delimiter, o.Quote, o.NoQuote = d.Delimiter, d.Quote, d.NoQuote
	l := &legacyRows{rowReader: r, closer: c, opts: o}
	if note != "" {
		l.told = []string{note}
	}
	return l, nil
}

func openLegacyJSON(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	first, c1, note, err := legacyText(f, &o)
	if err != nil {
		return nil, err
	}
	lines := false
	switch strings.ToLower(filepath.Ext(f.Name())) {
	case ".ndjson", ".jsonl":
		lines = true
	}
	at, note2, err := findRecords(first, o.Table, lines, b.MaxRecord())
	if err := errors.Join(err, c1.Close()); err != nil {
		return nil, err
	}
	text, c, _, err := legacyText(f, &o)
	if err != nil {
		return nil, err
	}
	r, err := newJSONReader(text, at, o.ItemKeys, newJSONColumns(), b.MaxRecord())
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	l := &legacyRows{rowReader: r, closer: c, opts: o}
	for _, n := range []string{note, note2} {
		if n != "" {
			l.told = append(l.told, n)
		}
	}
	return l, nil
}

// looksBinary fails if more than three in ten of the first bytes are control characters.
func looksBinary(head []byte) error {
	controls, first := 0, 0
	for i, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B && c != 0x01 && c != 0x1F {
			if controls++; controls == 1 {
				first = i
			}
		}
	}
	if len(head) >= 32 && controls*10 > len(head)*3 {
		return herb.Invalidf("line %d: the file is no text: there are many control characters, the first at byte %d; "+
			"publish CSV, TSV, JSON, Parquet, XLSX or SQLite", 1+countLines(head[:first]), first)
	}
	return nil
}

// beginsLikeJSON reports whether a text begins like an array of objects, or like an object with a member, which no header
// of a table does.
func beginsLikeJSON(head []byte) bool {
	const blanks = " \t\r\n"
	s := bytes.TrimLeft(asciiOf(head), blanks)
	if rest, ok := bytes.CutPrefix(s, []byte("[")); ok {
		if s = bytes.TrimLeft(rest, blanks); len(s) > 0 && s[0] == '[' {
			return true
		}
	}
	rest, ok := bytes.CutPrefix(s, []byte("{"))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, blanks), []byte(`"`))
	if !ok {
		return false
	}
	_, rest, ok = bytes.Cut(rest, []byte(`"`))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, blanks), []byte(":"))
}

// asciiOf returns the beginning of a text without the mark and the zero bytes of wider encodings.
func asciiOf(head []byte) []byte {
	mark, _ := byteOrderMark(head)
	head = head[len(mark):]
	if mark != "" || nulPattern(head) != "" {
		head = bytes.ReplaceAll(head, []byte{0}, nil)
	}
	return head
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
