package ingest

import (
	"context"
	"io"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// fixedRows are rows of a format that exists in tests only.
type fixedRows struct {
	names []string
	rows  [][]string
	at    int
}

func (f *fixedRows) Columns() (columns []rows.Column) {
	for _, n := range f.names {
		columns = append(columns, rows.Column{Name: n})
	}
	return columns
}
func (f *fixedRows) Position() rows.Position { return rows.Position{} }
func (f *fixedRows) Notes() []string         { return nil }
func (f *fixedRows) Options() rows.Options   { return rows.Options{} }
func (f *fixedRows) Layout() herb.Layout     { return herb.Layout{} }
func (f *fixedRows) Close() error            { return nil }
func (f *fixedRows) Next() ([][]byte, error) {
	if f.at == len(f.rows) {
		return nil, io.EOF
	}
	f.at++
	var cells [][]byte
	for _, c := range f.rows[f.at-1] {
		cells = append(cells, []byte(c))
	}
	return cells, nil
}

// readFixed reads rows as a source.
func readFixed(t *testing.T, src Source, names []string, content [][]string) (*pass, error) {
	t.Helper()
	src.Input = io.NewSectionReader(strings.NewReader("x"), 0, 1)
	format := rows.Format{Name: "csv", Open: func(context.Context, rows.File, rows.Options,
		*rows.Budget) (rows.Rows, error) {
		return &fixedRows{names: names, rows: content}, nil
	}}
	p, err := newPass(src, Options{}, []rows.Format{format})
	if err != nil {
		t.Fatal(err)
	}
	return p, p.readFiles(t.Context())
}

// respill replaces the rows of the spill file.
func respill(content ...[]string) func(p *pass) {
	return func(p *pass) {
		p.spill = &spill{}
		for _, r := range content {
			row := storedRow{cells: [][]byte{[]byte(r[0]), []byte(r[1]), []byte(r[2])}}
			_ = p.spill.add(row.append(nil))
		}
	}
}

// TestReconcile_faults proves that the certificate detects faults between the reader of a format
// and the listing.
func TestReconcile_faults(t *testing.T) {
	t.Parallel()
	content := [][]string{{"1", "x", "p"}, {"2", "", "q"}, {"3", "z", "NA"}}
	three := []string{"a", "b", "c"}
	include := Source{Missing: []string{"NA"}, Include: []Condition{{Column: "a", Values: []string{"1", "3"}}}}
	for _, c := range []struct {
		name  string
		src   Source
		spill func(p *pass)                   // a fault before the listing
		list  func(r herb.Record) herb.Record // a fault in the listing
		want  string                          // in the error; empty: none
	}{
		{"no fault", Source{}, nil, nil, ""},
		{"no fault, narrowed", include, nil, nil, ""},
		{"no fault, a column hidden and one shown twice",
			Source{Fields: []FieldSetting{{Name: "x", From: "a"}, {Name: "y", From: "a"}, {Name: "b"}}}, nil, nil, ""},
		{"a cell is lost", Source{}, nil, func(r herb.Record) herb.Record { return herb.Record{r[0], r[1], ""} },
			"but the listing has 5"},
		{"columns are swapped", Source{}, nil, func(r herb.Record) herb.Record { return herb.Record{r[2], r[1], r[0]} },
			`field "a" does not hold the values of column "a"`},
		{"a value is changed", Source{}, nil, func(r herb.Record) herb.Record {
			return herb.Record{r[0], r[1], strings.ToUpper(r[2])}
		}, `field "c" does not hold`},
		{"the spill file loses a row", Source{}, respill(content[0], content[2]), nil, "but the listing has 6"},
		{"the spill file loses a row, narrowed", include, respill(content[1], content[2]), nil,
			"but the listing has 2"},
		{"the spill file swaps two values", Source{},
			respill([]string{"3", "x", "p"}, content[1], []string{"1", "z", "NA"}), nil, `field "a" does not hold`},
		{"the view empties another cell", include, func(p *pass) { p.view.removed[1].Filled++ }, nil,
			"changed column 2"},
		{"the view keeps a cell in the wrong column", include, func(p *pass) {
			p.view.kept[0], p.view.kept[1] = p.view.kept[1], p.view.kept[0]
		}, nil, "changed column 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := func() error {
				p, err := readFixed(t, c.src, three, content)
				if err != nil {
					return err
				}
				if c.spill != nil {
					c.spill(p)
				}
				table, err := newTable(t.Context(), p)
				if err != nil {
					return err
				}
				listing := make([]herb.ColumnCells, len(table.view.fields))
				n := 0
				for r, err := range table.Records(t.Context()) {
					if err != nil {
						return err
					}
					if c.list != nil {
						r = c.list(r)
					}
					for i, v := range r {
						listing[i].Add(n, []byte(v))
					}
					n++
				}
				return table.Dataset.Report.Reconcile(listing)
			}()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v; want %q", err, c.want)
			}
		})
	}
}

// TestRead_UnnamedCells rejects a row that is wider than the columns: no cell is dropped.
func TestRead_UnnamedCells(t *testing.T) {
	t.Parallel()
	_, err := readFixed(t, Source{}, []string{"a"}, [][]string{{"1", "2"}})
	if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), "2 values") {
		t.Errorf("got error %v", err)
	}
}
