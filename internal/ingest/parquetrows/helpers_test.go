package parquetrows

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"

	"herbarium/internal/ingest/rows"
)

// memoryFile is a rows.File in memory.
type memoryFile []byte

func (f memoryFile) Name() string                 { return "test.parquet" }
func (f memoryFile) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f)), nil }
func (f memoryFile) Random() (io.ReaderAt, int64, error) {
	return bytes.NewReader(f), int64(len(f)), nil
}
func (f memoryFile) Path() (string, error) { return "", errors.ErrUnsupported }
func (f memoryFile) Size() int64           { return int64(len(f)) }

// openFile opens a file under its budget.
func openFile(ctx context.Context, b []byte) (rows.Rows, error) {
	budget := rows.NewBudget(ctx, int64(len(b)), rows.Limits{})
	r, err := Format().Open(ctx, memoryFile(b), rows.Options{}, budget)
	if err != nil {
		return nil, err
	}
	return rows.Limit(r, budget), nil
}

// openReader opens a file without a limit on its rows.
func openReader(t *testing.T, b []byte) (*reader, error) {
	t.Helper()
	in, err := rows.OpenInput(t.Context(), memoryFile(b))
	if err != nil {
		t.Fatal(err)
	}
	return newReader(in, rows.NewBudget(t.Context(), int64(len(b)), rows.Limits{}))
}

// readFile reads a file: the names of the columns, then the rows.
func readFile(b []byte) ([][]string, error) {
	out, _, err := readTyped(b)
	return out, err
}

// readTyped returns the columns after the last row too.
func readTyped(b []byte) (out [][]string, columns []rows.Column, err error) {
	r, err := openFile(context.Background(), b)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, c := range r.Columns() {
		names = append(names, c.Name)
	}
	out = append(out, names)
	for {
		cells, err := r.Next()
		if err == io.EOF {
			return out, r.Columns(), r.Close()
		}
		if err != nil {
			return out, nil, errors.Join(err, r.Close())
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		out = append(out, row)
	}
}

// mustWrite writes rows of Go values.
func mustWrite[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mustWriteColumn writes one optional column; a nil value is null.
func mustWriteColumn(t testing.TB, node parquet.Node, values []any, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	schema := parquet.NewSchema("test", parquet.Group{"v": parquet.Optional(node)})
	w := parquet.NewWriter(&b, append([]parquet.WriterOption{schema}, options...)...)
	for _, v := range values {
		value := parquet.ValueOf(v).Level(0, 1, 0)
		if v == nil {
			value = parquet.NullValue().Level(0, 0, 0)
		}
		if _, err := w.WriteRows([]parquet.Row{{value}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
