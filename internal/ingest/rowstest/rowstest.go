// Package rowstest writes and reads files in tests of ingest.
package rowstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing/iotest"

	"herbarium/internal/ingest/rows"
)

// File is a rows.File in memory.
type File []byte

func (f File) Name() string                 { return "test" }
func (f File) Size() int64                  { return int64(len(f)) }
func (f File) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }
func (f File) Random() (*io.SectionReader, error) {
	return io.NewSectionReader(bytes.NewReader(f), 0, f.Size()), nil
}
func (f File) Path() (string, error) { return "", errors.ErrUnsupported }

// Document does not close the document.
func (f File) Document(open func() (io.Closer, error)) (io.Closer, error) { return open() }

// Stream is a rows.File in memory that can only be read from the start.
type Stream struct {
	rows.File
	Base, Content string
	Wrap          func(io.Reader) io.Reader // nil: the content is read at once
}

func (s Stream) Name() string { return s.Base }
func (s Stream) Size() int64  { return int64(len(s.Content)) }

func (s Stream) Open() (io.ReadCloser, error) {
	var r io.Reader = strings.NewReader(s.Content)
	if s.Wrap != nil {
		r = s.Wrap(r)
	}
	return io.NopCloser(r), nil
}

// Document does not close the document.
func (s Stream) Document(open func() (io.Closer, error)) (io.Closer, error) { return open() }

// Wraps returns values of Stream.Wrap by name: at once, and byte by byte with an error together
// with the last byte.
func Wraps() map[string]func(io.Reader) io.Reader {
	return map[string]func(io.Reader) io.Reader{
		"at once":      nil,
		"byte by byte": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
	}
}

// Table is what was read from a file.
type Table struct {
	Rows    [][]string // the names of the columns, then the rows
	Columns []rows.Column
	Notes   []string // about the layout, and others
}

// Open opens a file within limits.
func Open(ctx context.Context, format rows.Format, f rows.File, o rows.Options, l rows.Limits) (rows.Rows, error) {
	budget := rows.NewBudget(ctx, f.Size(), l)
	r, err := format.Open(ctx, f, o, budget)
	if err != nil {
		return nil, err
	}
	return rows.Limit(r, budget), nil
}

// Read reads a file within limits. If it fails, the table has the rows before the error.
func Read(ctx context.Context, format rows.Format, f rows.File, o rows.Options, l rows.Limits) (t Table, err error) {
	r, err := Open(ctx, format, f, o, l)
	if err != nil {
		return t, err
	}
	t.Rows = [][]string{nil}
	for {
		cells, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return t, errors.Join(err, r.Close())
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Columns, t.Notes = r.Columns(), append(r.Layout().Notes(), r.Notes()...)
	for _, c := range t.Columns {
		t.Rows[0] = append(t.Rows[0], c.Name)
	}
	return t, r.Close()
}

// ReadCanceled opens a file, cancels the context and reads until the format itself returns an
// error.
func ReadCanceled(format rows.Format, f rows.File) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := format.Open(ctx, f, rows.Options{}, rows.NewBudget(ctx, f.Size(), rows.Limits{}))
	if err != nil {
		return err
	}
	defer r.Close()
	cancel()
	for err == nil {
		_, err = r.Next()
	}
	return err
}

// Allocated returns the bytes that a call allocates. Tests that use it do not run in parallel.
func Allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
