package ingest

import (
	"io"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// faultyReader is a rowReader with a fault: what it says of its columns is not what it yields, or it yields something
// else when it is read again.
type faultyReader struct {
	names []string
	rows  [][]string
	at    int
}

func (f *faultyReader) columns() []string { return f.names }
func (f *faultyReader) position() string  { return "row" }
func (f *faultyReader) next() ([][]byte, error) {
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

// TestReconcile_faults proves that the certificate notices faults between the reader of a format and the listing.
func TestReconcile_faults(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"1", "x", "p"}, {"2", "", "q"}, {"3", "z", "NA"}}
	three := []string{"a", "b", "c"}
	include := Source{Missing: []string{"NA"}, Include: []Include{{Column: "a", Values: []string{"1", "3"}}}}
	for _, c := range []struct {
		name  string
		src   Source
		names []string
		list  func(r herb.Record) herb.Record // what the fault makes of a record
		want  string                          // in the error; empty: none
	}{
		{"no fault", Source{}, three, nil, ""},
		{"no fault, narrowed", include, three, nil, ""},
		{"no fault, a column hidden and one shown twice", Source{Fields: []FieldSetting{{Name: "x", From: "a"}, {Name: "y", From: "a"}, {Name: "b"}}}, three, nil, ""},
		{"a column without a name is lost", Source{}, three[:2], nil, "the source has 8 non-empty cells"},
		{"a cell is lost", Source{}, three, func(r herb.Record) herb.Record { return herb.Record{r[0], r[1], ""} }, "but the listing has 5"},
		{"columns are swapped", Source{}, three, func(r herb.Record) herb.Record { return herb.Record{r[2], r[1], r[0]} }, `field "a" does not hold the values of column "a"`},
		{"a value is changed", Source{}, three, func(r herb.Record) herb.Record { return herb.Record{r[0], r[1], strings.ToUpper(r[2])} }, `field "c" does not hold`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src, err := c.src.settled()
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, r := range rows {
				for _, cell := range r {
					if cell != "" {
						total++
					}
				}
			}
			narrowed, left := src.narrowed(&faultyReader{names: c.names, rows: rows})
			s, err := newSurvey(narrowed)
			if err != nil {
				t.Fatal(err)
			}
			e, err := expose(src, s.columns, s.profiles)
			if err != nil {
				t.Fatal(err)
			}
			report := newReport(src, s, e)
			report.SourceCells = s.account(e, total, *left)

			table, listing := &Table{pick: e.pick}, make([]herb.ColumnCells, len(e.fields))
			narrowed, _ = src.narrowed(&faultyReader{names: c.names, rows: rows})
			for n := 0; ; n++ {
				cells, err := narrowed.next()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				r := table.record(cells)
				if c.list != nil {
					r = c.list(r)
				}
				for i, v := range r {
					listing[i].Add(n, []byte(v))
				}
			}
			err = report.Reconcile(listing)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v; want %q", err, c.want)
			}
		})
	}
}
