package rows_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// repeated yields one row over and over.
type repeated struct {
	columns []rows.Column
	row     [][]byte
	left    int // rows; negative: endless
}

func (r *repeated) Columns() []rows.Column  { return r.columns }
func (r *repeated) Position() rows.Position { return rows.Position{} }
func (r *repeated) Notes() []string         { return nil }
func (r *repeated) Options() rows.Options   { return rows.Options{} }
func (r *repeated) Close() error            { return nil }
func (r *repeated) Next() ([][]byte, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	r.left--
	return r.row, nil
}

func columns(n int, name string) []rows.Column {
	c := make([]rows.Column, n)
	for i := range c {
		c[i].Name = name
	}
	return c
}

func cells(n, size int) [][]byte {
	c := make([][]byte, n)
	for i := range c {
		c[i] = []byte(strings.Repeat("x", size))
	}
	return c
}

// TestLimit reads rows through the budget of a small file.
func TestLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rows   repeated
		stored int64
		want   string // in the error; empty: io.EOF
		most   int    // rows before the error
	}{
		{"a small file", repeated{columns(3, "a"), cells(3, 10), 1000}, 100, "", 1000},
		{"a million cells of nothing", repeated{columns(1, "a"), cells(1, 0), 1 << 20}, 100, "", 1 << 20},
		{"rows without end", repeated{columns(1, "a"), cells(1, 0), -1}, 100, "more than 1048576 values", 1 << 20},
		{"rows without columns and without end", repeated{nil, nil, -1}, 100, "more than 1048576 values", 1 << 20},
		{"as many as a larger file can have", repeated{columns(2, "a"), cells(2, 0), 1 << 20}, 10_000, "", 1 << 20},
		{"text without end", repeated{columns(1, "a"), cells(1, 1<<20), -1}, 100, "100 bytes and its values more than", 64},
		{"a row that is too long", repeated{columns(9, "a"), cells(9, 1<<20), -1}, 1 << 40, "8388608 bytes", 0},
		{"too many columns", repeated{columns(rows.MaxColumns+1, "a"), nil, -1}, 1 << 40, "more than 10000 columns", 0},
		{"too many columns and no rows", repeated{columns(rows.MaxColumns+1, "a"), nil, 0}, 1 << 40, "more than 10000 columns", 0},
		{"a long name", repeated{columns(1, strings.Repeat("n", rows.MaxName+1)), nil, -1}, 1 << 40, "the name of column 1", 0},
		{"long names", repeated{columns(1000, strings.Repeat("n", rows.MaxName)), nil, -1}, 1 << 40, "the names of the columns", 0},
		{"a row wider than the columns", repeated{columns(1, "a"), cells(2, 1), -1}, 1 << 40, "2 values", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rows.Limit(&c.rows, rows.NewBudget(t.Context(), c.stored, rows.Limits{}))
			n := 0
			var err error
			for ; err == nil; n++ {
				_, err = r.Next()
			}
			n--
			if c.want == "" && err != io.EOF || c.want != "" && (herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v; want %q", err, c.want)
			}
			if n != c.most {
				t.Errorf("%d rows before the end; want %d", n, c.most)
			}
		})
	}
}

func TestLimit_Context(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	r := rows.Limit(&repeated{columns(1, "a"), cells(1, 0), -1}, rows.NewBudget(ctx, 1<<40, rows.Limits{}))
	reason := errors.New("stopped")
	cancel(reason)
	for n := 0; ; n++ {
		if _, err := r.Next(); err != nil {
			if !errors.Is(err, reason) || n > 5000 {
				t.Errorf("got error %v after %d rows", err, n)
			}
			return
		}
	}
}

func TestBudget_Depth(t *testing.T) {
	t.Parallel()
	b := rows.NewBudget(t.Context(), 1, rows.Limits{})
	if err := b.Depth(rows.MaxDepth); err != nil {
		t.Error(err)
	}
	if err := b.Depth(rows.MaxDepth + 1); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("got error %v", err)
	}
}
