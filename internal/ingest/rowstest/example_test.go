package rowstest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// ltsv is a complete format: labeled tab-separated values, a record per line, a label and a colon
// before each value.
var ltsv = rows.Format{
	Name:       "ltsv",
	Extensions: []string{".ltsv"},
	Matches:    func(head []byte) bool { return regexp.MustCompile(`^\w+:[^\t\n]*\t\w+:`).Match(charset.ASCII(head)) },
	Open:       open,
	Keyed:      true, // every row names its own cells
}

func open(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	text, err := charset.Open(ctx, f, o.Encoding, b.MaxRecord())
	if err != nil {
		return nil, err
	}
	return &reader{Text: text, budget: b, options: o, index: map[string]int{}}, nil
}

// reader implements rows.Rows; Text has Notes and Close.
type reader struct {
	*charset.Text
	budget  *rows.Budget
	options rows.Options
	columns []rows.Column
	index   map[string]int // of the columns, by name
	cells   [][]byte
	line    int // number of the current line
	size    int // of the current line
}

func (r *reader) Columns() []rows.Column  { return r.columns }
func (r *reader) Position() rows.Position { return rows.Position{Line: r.line} }

func (r *reader) Layout() herb.Layout { return herb.Layout{} }
func (r *reader) Options() rows.Options {
	o := r.options
	o.Encoding = r.Encoding()
	return o
}

func (r *reader) Next() ([][]byte, error) {
	r.Advance(r.size)
	r.line++
	for bytes.IndexByte(r.Bytes(), '\n') < 0 && r.More() {
	}
	line, _, found := bytes.Cut(r.Bytes(), []byte("\n"))
	r.size = len(line)
	if found {
		r.size++
	} else if err := r.Err(); err == charset.ErrTooLong {
		return nil, herb.Invalidf("line %d: the record is longer than %s", r.line,
			herb.FormatBytes(int64(r.budget.MaxRecord())))
	} else if err != nil {
		return nil, err
	} else if r.size == 0 {
		return nil, io.EOF
	}
	clear(r.cells)
	for pair := range bytes.SplitSeq(line, []byte("\t")) {
		label, value, found := bytes.Cut(pair, []byte(":"))
		if !found {
			return nil, herb.Invalidf("line %d: %q has no label; write it before a colon", r.line,
				rows.Clip(string(pair)))
		}
		i, known := r.index[string(label)]
		if !known {
			i = len(r.columns)
			r.index[string(label)] = i
			r.columns, r.cells = append(r.columns, rows.Column{Name: string(label)}), append(r.cells, nil)
			if err := r.budget.Columns(len(r.columns)); err != nil {
				return nil, herb.Invalidf("line %d: %s", r.line, err)
			}
		}
		r.cells[i] = value
	}
	return r.cells, nil
}

// Example is a new format and how it is tested.
func Example() {
	file := rowstest.Stream{Base: "trees.ltsv", Content: "id:1\tname:oak\nid:2\theight:30\n"}
	table, err := rowstest.Read(context.Background(), ltsv, file, rows.Options{}, rows.Limits{})
	fmt.Printf("%q %v\n", table.Rows, err)

	file.Content = "id:1\nname"
	_, err = rowstest.Read(context.Background(), ltsv, file, rows.Options{}, rows.Limits{})
	fmt.Println(err)

	file.Content = "id:1\nname:a long name"
	_, err = rowstest.Read(context.Background(), ltsv, file, rows.Options{}, rows.Limits{Record: 10})
	fmt.Println(err)
	// Output:
	// [["id" "name" "height"] ["1" "oak"] ["2" "" "30"]] <nil>
	// line 2: "name" has no label; write it before a colon
	// line 2: the record is longer than 10 bytes
}
