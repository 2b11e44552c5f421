package comparisons

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

func stateOf(t *testing.T, rawQuery string, fields int) *state.State {
	t.Helper()
	d := herb.Dataset{}
	for i := range fields {
		d.Fields = append(d.Fields, herb.Field{Name: fmt.Sprintf("f%d", i), Type: herb.TypeText})
	}
	s, _, err := state.ParseState("/x", query.Split(rawQuery), columns.Read(&d))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestTable_Add(t *testing.T) {
	t.Parallel()
	table := NewTable(stateOf(t, "", 2), []herb.Field{{Name: "f0"}}, []int{1, 3}, 1000)
	if h := table.Headers; h[0].New || !h[1].New || h[0].Share != 1 || h[1].Changed != 3 {
		t.Errorf("the headers are %+v", h)
	}
	old, now := herb.Record{"a", "b"}, herb.Record{"a", "c"}
	isChanged := func(i int) bool { return i == 1 }
	table.Add(Row{}, Pair{Op: query.OpChanged, Old: old, New: now, IsChanged: isChanged})
	table.Add(Row{}, Pair{Op: query.OpAdded, New: now})
	table.Add(Row{}, Pair{Op: query.OpRemoved, Old: old})
	table.Add(Row{}, Pair{Old: now, New: now})
	var got []string
	for _, row := range table.Rows {
		for _, c := range row.Cells {
			got = append(got, fmt.Sprintf("%s%q>%q %t", row.Sign(), written(c.Old), written(c.New), c.Changed))
		}
	}
	want := []string{
		`~"">"a" false`, `~"b">"c" true`, `+"">"a" false`, `+"">"c" false`, `−"a">"" false`, `−"b">"" false`,
		`"">"a" false`, `"">"c" false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// TestNewTable_order checks that the column that names the records comes first, then those with
// changes, in the order of the file, and that a selection of columns keeps its order.
func TestNewTable_order(t *testing.T) {
	t.Parallel()
	for rawQuery, want := range map[string]string{"": "f0 f2 f4 f1 f3", "_fields=f3,f4,f1": "f3 f4 f1"} {
		var got []string
		for _, h := range NewTable(stateOf(t, rawQuery, 5), nil, []int{0, 0, 9, 0, 1}, 10).Headers {
			got = append(got, h.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: the columns are %q, want %s", rawQuery, got, want)
		}
	}
	short, long := Cell{Old: plainText("1.5"), New: plainText("1.75")}, Cell{Old: plainText(strings.Repeat("x", 70))}
	if short.IsLong() || !long.IsLong() {
		t.Error("a short change takes several lines, or a long one takes one")
	}
}

// TestNewTable_wide checks that a table of many columns has those that changed.
func TestNewTable_wide(t *testing.T) {
	t.Parallel()
	changed := make([]int, 500)
	for i := 300; i < 500; i++ {
		changed[i] = 1
	}
	table := NewTable(stateOf(t, "", 500), nil, changed, 10)
	if n := len(table.Headers); n != maxColumns || table.Headers[n-1].Name != "f338" || table.Headers[0].Name != "f0" {
		t.Errorf("%d columns, the last is %s", n, table.Headers[n-1].Name)
	}
	table = NewTable(stateOf(t, "_fields=f7", 500), nil, changed, 10)
	if len(table.Headers) != 1 || table.Headers[0].Name != "f7" {
		t.Errorf("with a selection, the columns are %+v", table.Headers)
	}
	record := make(herb.Record, 500)
	table.Add(Row{}, Pair{Op: query.OpChanged, Old: record, New: record, IsChanged: func(i int) bool { return i == 9 }})
	if got := table.Rows[0].Detail; got != "in columns that are not shown" {
		t.Errorf("a change of a column that is not shown says %q", got)
	}
}

func TestNewCounts(t *testing.T) {
	t.Parallel()
	counts := NewCounts([]*herb.RecordChanges{{Added: 10_000, Changed: 1, Removed: 2500}, nil, {Removed: 1}, {}})
	if counts[1] != nil || counts[0].Total() != 12_501 || len(counts[0].Bars) != 3 || len(counts[2].Bars) != 1 ||
		len(counts[3].Bars) != 0 {
		t.Fatalf("the counts are %+v", counts)
	}
	last := counts[0].Bars[2]
	if end := last.X + last.Width; end > barsWidth || end < barsWidth-10 || last.Op != query.OpRemoved {
		t.Errorf("the bars are %+v", counts[0].Bars)
	}
	if a, b := counts[0].Bars[0].Width, last.Width; a/b < 1.9 || a/b > 2.1 || counts[2].Bars[0].Width < 2 {
		t.Errorf("10,000 rows take %g pixels, 2,500 take %g, one takes %g", a, b, counts[2].Bars[0].Width)
	}
}
