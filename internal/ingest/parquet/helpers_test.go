package parquet

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// openFile opens a file under its budget.
func openFile(ctx context.Context, b []byte) (rows.Rows, error) {
	return rowstest.Open(ctx, Format(), rowstest.File(b), rows.Options{}, rows.Limits{})
}

// openReader opens a file without a limit on its rows.
func openReader(t *testing.T, b []byte) (*reader, error) {
	t.Helper()
	in := io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))
	r, err := newReader(in, rows.NewBudget(t.Context(), in.Size(), rows.Limits{}))
	if err != nil {
		return nil, err
	}
	return r.(*reader), nil
}

// readFile reads a file: the names of the columns, then the rows.
func readFile(b []byte) ([][]string, error) {
	t, err := rowstest.Read(context.Background(), Format(), rowstest.File(b), rows.Options{}, rows.Limits{})
	return t.Rows, err
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
