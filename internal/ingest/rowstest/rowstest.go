// Package rowstest reads files in tests of file formats.
package rowstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"

	"herbarium/internal/ingest/rows"
)

// File is a rows.File in memory.
type File []byte

// Name implements rows.File.
func (f File) Name() string { return "test" }

// Open implements rows.File.
func (f File) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }

// Random implements rows.File.
func (f File) Random() (io.ReaderAt, int64, error) { return bytes.NewReader(f), int64(len(f)), nil }

// Path implements rows.File.
func (f File) Path() (string, error) { return "", errors.ErrUnsupported }

// Size implements rows.File.
func (f File) Size() int64 { return int64(len(f)) }

// Table is what was read from a file.
type Table struct {
	Rows    [][]string // the names of the columns, then the rows
	Columns []rows.Column
	Notes   []string
}

// Open opens a file under the default limits.
func Open(ctx context.Context, format rows.Format, f rows.File, o rows.Options) (rows.Rows, error) {
	budget := rows.NewBudget(ctx, f.Size(), rows.Limits{})
	r, err := format.Open(ctx, f, o, budget)
	if err != nil {
		return nil, err
	}
	return rows.Limit(r, budget), nil
}

// Read reads a file under the default limits. If it fails, the table has the rows before the error.
func Read(ctx context.Context, format rows.Format, f rows.File, o rows.Options) (t Table, err error) {
	r, err := Open(ctx, format, f, o)
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
	t.Columns, t.Notes = r.Columns(), r.Notes()
	for _, c := range t.Columns {
		t.Rows[0] = append(t.Rows[0], c.Name)
	}
	return t, r.Close()
}

// Allocated returns the bytes that a call allocates. Tests that use it do not run in parallel.
func Allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
