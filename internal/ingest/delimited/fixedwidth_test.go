package delimited

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/testseed"
)

// TestOpen_FixedWidth reads columns of given widths.
func TestOpen_FixedWidth(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		widths   []int
		want     cells
		note     string
	}{
		{"padding", "id  name      n\n1   Rose red  1\n2   Moss      2\n", []int{4, 10, 1},
			cells{{"id", "name", "n"}, {"1", "Rose red", "1"}, {"2", "Moss", "2"}}, ""},
		{"characters of several bytes", "name n   town\n苔    1   東京 都\nÄpf  22  Bath\n", []int{5, 4, 5},
			cells{{"name", "n", "town"}, {"苔", "1", "東京 都"}, {"Äpf", "22", "Bath"}}, ""},
		{"values that touch", "AB12\nCD34\n", []int{2, 2}, cells{{"column_1", "column_2"}, {"AB", "12"}, {"CD", "34"}},
			"in 2 records, the first in line 1, no blank is between two columns"},
		{"names wider than their columns", "Identifier  Full name  Height\n1  John Smith  12.5\n2  Al Bo        3.0\n",
			[]int{3, 10, 6},
			cells{{"Identifier", "Full name", "Height"}, {"1", "John Smith", "12.5"}, {"2", "Al Bo", "3.0"}}, ""},
		{"longer lines", "a b\n1 x\n2 y and more\n", []int{2, 1}, cells{{"a", "b"}, {"1", "x"}, {"2", "y and more"}},
			"longer than all widths together: 1 line, the first is line 3"},
		{"none given", "id  name      n\n1   Rose red  1\n2   Moss      2\n", nil,
			cells{{"id  name      n"}, {"1   Rose red  1"}, {"2   Moss      2"}}, "each line is one value; set widths"},
	}
	for _, test := range tests {
		m := memory{Base: "a.csv", Content: test.in}
		checkRows(t, test.name, m, rows.Options{Widths: test.widths}, test.want)
		if _, notes, err := read(t, m, rows.Options{Widths: test.widths}, rows.Limits{}); err != nil ||
			!strings.Contains(strings.Join(notes, "\n"), test.note) {
			t.Errorf("%s: error %v, notes %q, want %q", test.name, err, notes, test.note)
		}
	}
}

// TestOpen_FixedWidthRandom writes random tables and reads them with their widths.
func TestOpen_FixedWidthRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	words := strings.Fields("rose Moss fern, Ä ivy of | ; \"x\" 苔 St. - wales")
	for range 200 {
		want := cells{{"id", "name", "amount", "remark"}}
		for i := range 12 + random.IntN(30) {
			text := func(n int) string {
				var some []string
				for range random.IntN(n + 1) {
					some = append(some, words[random.IntN(len(words))])
				}
				return strings.Join(some, " ")
			}
			want = append(want, []string{fmt.Sprint(i + 1), text(3), fmt.Sprintf("%.2f", random.Float64()*1e4),
				"x" + text(2)})
		}
		var b strings.Builder
		for _, r := range want {
			fmt.Fprintf(&b, "%-5s%-24s%12s   %s\n", r[0], r[1], r[2], r[3])
		}
		got, _, err := read(t, memory{Base: "a.txt", Content: b.String()}, rows.Options{Widths: []int{5, 24, 12, 30}},
			rows.Limits{})
		if err != nil || !cmp.Equal(want, got) {
			t.Fatalf("error %v, rows (-want +got):\n%s\n%s", err, cmp.Diff(want, got), b.String())
		}
	}
}

// TestOpen_FixedWidthHostile reads hostile texts, which must not panic.
func TestOpen_FixedWidthHostile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	for _, in := range map[string]string{
		"a long line": long + "\n", "long lines with blanks": strings.Repeat(strings.Repeat("a  ", 1<<18)+"\n", 3),
		"no blanks":          strings.Repeat(strings.Repeat("x", 80)+"\n", 5_000),
		"all blanks":         strings.Repeat(strings.Repeat(" ", 80)+"\n", 5_000),
		"rulers only":        strings.Repeat("--- ---\n", 5_000),
		"many columns":       strings.Repeat(strings.Repeat("1  ", 1_300)+"\n", 20),
		"a long ruler":       strings.Repeat("-- ", 1<<18) + "\na  b\n1  2\n",
		"invalid characters": strings.Repeat("\xff\xfe  1  \x80\n", 100),
		"a ruler at the end": "a  b\n1  2\n-----  ----",
	} {
		for _, o := range []rows.Options{{}, {Widths: []int{3, 1_000_000, 2}}, {Delimiter: '|'}} {
			_, _, _ = read(t, memory{Base: "a.txt", Content: in}, o, rows.Limits{})
		}
	}
}
