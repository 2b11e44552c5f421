// Package rowstest reads files in memory, for tests of file formats.
package rowstest

import (
	"context"
	"io"
	"strings"
	"testing/iotest"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// File is a rows.File in memory that can only be read from the start.
type File struct {
	rows.File
	Base, Content string
	Wrap          func(io.Reader) io.Reader // nil: the content is read at once
}

// Name implements rows.File.
func (f File) Name() string { return f.Base }

// Size implements rows.File.
func (f File) Size() int64 { return int64(len(f.Content)) }

// Open implements rows.File.
func (f File) Open() (io.ReadCloser, error) {
	var r io.Reader = strings.NewReader(f.Content)
	if f.Wrap != nil {
		r = f.Wrap(r)
	}
	return io.NopCloser(r), nil
}

// Wraps returns values of File.Wrap by name: at once, and byte by byte with an error together with the last byte.
func Wraps() map[string]func(io.Reader) io.Reader {
	return map[string]func(io.Reader) io.Reader{
		"at once":      nil,
		"byte by byte": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
	}
}

// Result is the content of a table.
type Result struct {
	Rows  [][]string // the first has the names of the columns
	Types []herb.Type
	Notes []string
}

// Read reads a table within limits.
func Read(ctx context.Context, format rows.Format, f rows.File, o rows.Options, l rows.Limits) (Result, error) {
	b := rows.NewBudget(ctx, f.Size(), l)
	opened, err := format.Open(ctx, f, o, b)
	if err != nil {
		return Result{}, err
	}
	defer opened.Close()
	r := rows.Limit(opened, b)
	got := Result{Rows: [][]string{nil}}
	for {
		cells, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Result{}, err
		}
		row := []string{}
		for _, c := range cells {
			row = append(row, string(c))
		}
		got.Rows = append(got.Rows, row)
	}
	for _, c := range r.Columns() {
		got.Rows[0] = append(got.Rows[0], c.Name)
		got.Types = append(got.Types, c.Type)
	}
	got.Notes = r.Notes()
	return got, nil
}
