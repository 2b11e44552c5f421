package xlsx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"

	"herbarium/internal/ingest/rows"
)

// memoryFile is a rows.File in memory.
type memoryFile []byte

func (f memoryFile) Name() string                 { return "test.xlsx" }
func (f memoryFile) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }
func (f memoryFile) Random() (io.ReaderAt, int64, error) {
	return bytes.NewReader(f), int64(len(f)), nil
}
func (f memoryFile) Path() (string, error) { return "", errors.ErrUnsupported }
func (f memoryFile) Size() int64           { return int64(len(f)) }

// openFile opens a workbook under its budget.
func openFile(b []byte, o rows.Options) (rows.Rows, error) {
	ctx := context.Background()
	budget := rows.NewBudget(ctx, int64(len(b)), rows.Limits{})
	r, err := Format().Open(ctx, memoryFile(b), o, budget)
	if err != nil {
		return nil, err
	}
	return rows.Limit(r, budget), nil
}

// readFile reads a workbook: the names of the columns after the last row, then the rows.
func readFile(b []byte, o rows.Options) (out [][]string, notes []string, err error) {
	out, _, notes, err = readTyped(b, o)
	return out, notes, err
}

// readTyped returns the columns too.
func readTyped(b []byte, o rows.Options) (out [][]string, columns []rows.Column, notes []string, err error) {
	r, err := openFile(b, o)
	if err != nil {
		return nil, nil, nil, err
	}
	out = [][]string{nil}
	for {
		cells, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return out, nil, nil, errors.Join(err, r.Close())
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		out = append(out, row)
	}
	for _, c := range r.Columns() {
		out[0] = append(out[0], c.Name)
	}
	return out, r.Columns(), r.Notes(), r.Close()
}

// allocated returns the bytes that a call allocates. Tests that use it do not run in parallel.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
