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
func (r *repeated) Layout() herb.Layout     { return herb.Layout{} }
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
		{"a million cells of nothing", repeated{columns(2, "a"), cells(2, 0), 1 << 19}, 100, "", 1 << 19},
		{"rows without end", repeated{columns(2, "a"), cells(2, 0), -1}, 100, "more than 2097152 values", 1 << 19},
		{"rows without columns and without end", repeated{nil, nil, -1}, 100, "more than 2097152 values", 1 << 20},
		{"as many as a larger file can have", repeated{columns(98, "a"), nil, 64_000}, 400_000, "", 64_000},
		{"more than a larger file can have", repeated{columns(98, "a"), nil, -1}, 400_000,
			"more than 6400000 values", 64_000},
		{"text without end", repeated{columns(1, "a"), cells(1, 1<<20), -1}, 100,
			"more than 67108864 bytes of values", 64},
		{"text of a larger file without end", repeated{columns(1, "a"), cells(1, 1<<20), -1}, 4 << 20,
			"more than 268435456 bytes of values", 256},
		{"a row that is too long", repeated{columns(9, "a"), cells(9, 1<<20), -1}, 1 << 40, "8 MiB", 0},
		{"too many columns", repeated{columns(rows.MaxColumns+1, "a"), nil, -1}, 1 << 40, "more than 10000 columns", 0},
		{"too many columns and no rows", repeated{columns(rows.MaxColumns+1, "a"), nil, 0}, 1 << 40,
			"more than 10000 columns", 0},
		{"a long name", repeated{columns(1, strings.Repeat("n", rows.MaxName+1)), nil, -1}, 1 << 40,
			"the name of column 1", 0},
		{"long names", repeated{columns(2000, strings.Repeat("n", rows.MaxName)), nil, -1}, 1 << 40,
			"the names of the columns", 0},
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
			if c.want == "" && err != io.EOF || c.want != "" &&
				(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v; want %q", err, c.want)
			}
			if n != c.most {
				t.Errorf("%d rows before the end; want %d", n, c.most)
			}
		})
	}
}

// TestLimit_Context reads few rows after the context has ended, fewer if they are long.
func TestLimit_Context(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int{0: 5000, 1 << 20: 1} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := rows.Limit(&repeated{columns(1, "a"), cells(1, size), -1}, rows.NewBudget(ctx, 1<<40, rows.Limits{}))
		reason := errors.New("stopped")
		cancel(reason)
		n, err := 0, error(nil)
		for ; err == nil; n++ {
			_, err = r.Next()
		}
		if !errors.Is(err, reason) || n > most {
			t.Errorf("rows of %d bytes: got error %v after %d rows", size, err, n)
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

// TestBudget_Usage charges several tables of a file.
func TestBudget_Usage(t *testing.T) {
	t.Parallel()
	usage, read, row := new(rows.Usage), 0, cells(1, 1<<20)
	for range 100 {
		b := rows.NewBudget(t.Context(), 1, rows.Limits{Usage: usage})
		for range 100 {
			if b.Row(row, 1) == nil {
				read++
			}
		}
		if trial := b.Trial(); trial.Row(row, 1) == nil {
			t.Fatal("a trial begins without what was charged")
		}
	}
	if read != 64 {
		t.Errorf("read %d rows; want 64 from all tables", read)
	}
	wide := 0
	for ; wide < 100; wide++ {
		r := rows.Limit(&repeated{columns(rows.MaxColumns, "a"), nil, 0},
			rows.NewBudget(t.Context(), 1, rows.Limits{Usage: usage}))
		if _, err := r.Next(); err != io.EOF {
			break
		}
	}
	if wide != rows.MaxAllColumns/rows.MaxColumns {
		t.Errorf("read %d tables of %d columns", wide, rows.MaxColumns)
	}
	b := rows.NewBudget(t.Context(), 1, rows.Limits{})
	for range 100 {
		_ = b.Trial().Row(row, 1)
	}
	if err := b.Row(row, 1); err != nil {
		t.Errorf("a trial is charged: %v", err)
	}
}

// TestBudget_Expansion charges for what is read and does not become values.
func TestBudget_Expansion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		stored int64
		charge func(b *rows.Budget) error
		want   int
	}{
		{"unpacked from a small file", 100, func(b *rows.Budget) error { return b.Unpack(1 << 20) }, 64},
		{"unpacked", 4 << 20, func(b *rows.Budget) error { return b.Unpack(1 << 20) }, 256},
		{"elements of a small file", 100, func(b *rows.Budget) error { return b.Elements(2) }, 1 << 19},
		{"elements", 1_000_000, func(b *rows.Budget) error { return b.Elements(10) }, 400_000},
	} {
		b, n := rows.NewBudget(t.Context(), c.stored, rows.Limits{}), 0
		err := c.charge(b)
		for ; err == nil; n++ {
			err = c.charge(b)
		}
		if n != c.want || herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: %d before the error %v; want %d", c.name, n, err, c.want)
		}
	}
}
