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

// TestOpen_FixedWidth finds columns of fixed width.
func TestOpen_FixedWidth(t *testing.T) {
	t.Parallel()
	plain := "ID   Name            City            Amount\n1    John Smith      New York         12.50\n2    Al Bo                             3.00\n" +
		"10   Rose            San Francisco   100.25\n11   Mary Ann Lee    Bath              7.10\n"
	plainTable := cells{{"ID", "Name", "City", "Amount"}, {"1", "John Smith", "New York", "12.50"}, {"2", "Al Bo", "", "3.00"}, {"10", "Rose", "San Francisco", "100.25"},
		{"11", "Mary Ann Lee", "Bath", "7.10"}}
	tests := []struct {
		name, in string
		want     cells
		note     string
	}{
		{"blank characters", plain, plainTable, "they begin at characters 1, 6, 22, "},
		{"titles with commas above and notes below", "Plants, by town\nFor 2020; second edition\n\n" + plain + "\nSource: survey of the plants, 2021.\n", plainTable, "left out: 3 lines"},
		{"a note that crosses columns directly below", plain + "Source: all of the plants in the survey of 2021.\n", plainTable, "left out: line 6"},
		{"a ruler", "Name           City        Height  Planted\n-------------- ----------- ------- ----------\nRose, red      New York        1.5 2020-01-01\n" +
			"Moss                          12.0 2020-02-01\nFern of Wales  Bath                2021-03-04\nIvy            Den Haag        3.2\n",
			cells{{"Name", "City", "Height", "Planted"}, {"Rose, red", "New York", "1.5", "2020-01-01"}, {"Moss", "", "12.0", "2020-02-01"}, {"Fern of Wales", "Bath", "", "2021-03-04"}, {"Ivy", "Den Haag", "3.2", ""}}, "ruler"},
		{"a ruler in comments, bars in values", "#plant name   acc.  from   to note\n#------------ ----- ---- ---- ------------\nGB|A1|A1.2    -        1  193 first\nGB|B2|B2.2    -        1   19 -\n" +
			"GB|A1|A1.2    -        5  193 of two words\n#\n# Program:    x\n# [ok]\n",
			cells{{"#plant name", "acc.", "from", "to", "note"}, {"GB|A1|A1.2", "-", "1", "193", "first"}, {"GB|B2|B2.2", "-", "1", "19", "-"}, {"GB|A1|A1.2", "-", "5", "193", "of two words"}}, "begins with #"},
		{"rulers of equals signs around the header", "=====  ==========  ======\nid     name        height\n=====  ==========  ======\n1      Rose bush   1.5\n2      Moss\n3      Fern        2.5\n=====  ==========  ======\n",
			cells{{"id", "name", "height"}, {"1", "Rose bush", "1.5"}, {"2", "Moss", ""}, {"3", "Fern", "2.5"}}, "3 lines"},
		{"no column for the first word of names", "name          age\nJohn Smith     12\nJane Doe       30\nAnn Lee         7\n", cells{{"name", "age"}, {"John Smith", "12"}, {"Jane Doe", "30"}, {"Ann Lee", "7"}}, "characters 1, "},
		{"names wider than their columns", "Identifier Full name    Long name of height\n1          John Smith     12.5\n2          Al Bo           3.0\n3                        100.2\n4          Mary Ann Lee    7.1\n",
			cells{{"Identifier", "Full name", "Long name of height"}, {"1", "John Smith", "12.5"}, {"2", "Al Bo", "3.0"}, {"3", "", "100.2"}, {"4", "Mary Ann Lee", "7.1"}}, ""},
		{"commas in values, no header", "Smith, John      12  2020-01-01\nDoe, Jane        30  2020-02-01\nLee, Ann          7  2020-03-01\nBush, Rose      112  2020-03-09\n",
			cells{{"column_1", "column_2", "column_3"}, {"Smith, John", "12", "2020-01-01"}, {"Doe, Jane", "30", "2020-02-01"}, {"Lee, Ann", "7", "2020-03-01"}, {"Bush, Rose", "112", "2020-03-09"}}, "no header"},
		{"characters of several bytes", "name      n   town\n苔        1   東京 都\nfern      22  Bath\nÄpfel     3   New York\nrose          Bonn\n",
			cells{{"name", "n", "town"}, {"苔", "1", "東京 都"}, {"fern", "22", "Bath"}, {"Äpfel", "3", "New York"}, {"rose", "", "Bonn"}}, "characters 1, "},
		{"padding beside commas", "id ,name      ,n\n1  ,Rose red  ,1\n2  ,Moss      ,2\n3  ,Fern      ,3\n", cells{{"id", "name", "n"}, {"1  ", "Rose red  ", "1"}, {"2  ", "Moss      ", "2"}, {"3  ", "Fern      ", "3"}}, ""},
		{"lines of a log", "Jun  9 06:06:20 combo sshd: failure from a\nJun 10 06:06:22 combo sshd: session opened\nJun 14 15:16:01 combo su: failure from b\n",
			cells{{"column_1"}, {"Jun  9 06:06:20 combo sshd: failure from a"}, {"Jun 10 06:06:22 combo sshd: session opened"}, {"Jun 14 15:16:01 combo su: failure from b"}}, ""},
		{"lines of a text", "This is a text of several lines that\nis no table at all and its words do\nnot line up in columns of any width\n",
			cells{{"column_1"}, {"This is a text of several lines that"}, {"is no table at all and its words do"}, {"not line up in columns of any width"}}, ""},
	}
	for _, test := range tests {
		m := memory{Base: "a.txt", Content: test.in}
		checkRows(t, test.name, m, rows.Options{}, test.want)
		r := memory{Base: "a.txt", Content: test.in}
		open, err := Format().Open(t.Context(), r, rows.Options{}, rows.NewBudget(t.Context(), r.Size(), rows.Limits{}))
		for err == nil {
			_, err = open.Next()
		}
		if notes := fmt.Sprint(open.Layout().Notes(), open.Notes()); !strings.Contains(notes, test.note) {
			t.Errorf("%s: notes %s, want %q", test.name, notes, test.note)
		}
		if again, _, err := read(t, m, open.Options(), rows.Limits{}); err != nil || !cmp.Equal(test.want, again) {
			t.Errorf("%s: with %+v: error %v, rows (-want +got):\n%s", test.name, open.Options(), err, cmp.Diff(test.want, again))
		}
	}
}

// A record below the sample that does not fit the columns is an error, not two wrong values.
func TestOpen_FixedWidthCrossed(t *testing.T) {
	t.Parallel()
	in := "name        height  note\n" + strings.Repeat("Rose bush      1.5  tall and red\nMoss                small\n", 3_000)
	_, _, err := read(t, memory{Content: in + "Fern of Wales and more 7.1  x\n" + in}, rows.Options{}, rows.Limits{})
	if want := "line 6002: a value continues from one column of fixed width to the next; the columns begin at characters 1, "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestOpen_FixedWidthRandom writes random tables, and reads them with and without their widths.
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
			want = append(want, []string{fmt.Sprint(i + 1), text(3), fmt.Sprintf("%.2f", random.Float64()*1e4), "x" + text(2)})
		}
		var b strings.Builder
		for _, r := range want {
			fmt.Fprintf(&b, "%-5s%-24s%12s   %s\n", r[0], r[1], r[2], r[3])
		}
		for _, o := range []rows.Options{{}, {Widths: []int{5, 24, 12, 30}}} {
			got, _, err := read(t, memory{Base: "a.txt", Content: b.String()}, o, rows.Limits{})
			if err != nil || !cmp.Equal(want, got) {
				t.Fatalf("%v: error %v, rows (-want +got):\n%s\n%s", o.Widths, err, cmp.Diff(want, got), b.String())
			}
		}
	}
}

// TestOpen_FixedWidthHostile reads hostile texts, which must not panic.
func TestOpen_FixedWidthHostile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	for _, in := range map[string]string{
		"a long line": long + "\n", "long lines with blanks": strings.Repeat(strings.Repeat("a  ", 1<<18)+"\n", 3), "no blanks": strings.Repeat(strings.Repeat("x", 80)+"\n", 5_000),
		"all blanks": strings.Repeat(strings.Repeat(" ", 80)+"\n", 5_000), "rulers only": strings.Repeat("--- ---\n", 5_000), "many columns": strings.Repeat(strings.Repeat("1  ", 1_300)+"\n", 20),
		"a long ruler": strings.Repeat("-- ", 1<<18) + "\na  b\n1  2\n", "invalid characters": strings.Repeat("\xff\xfe  1  \x80\n", 100), "a ruler at the end": "a  b\n1  2\n-----  ----",
	} {
		for _, o := range []rows.Options{{}, {Widths: []int{3, 1_000_000, 2}}, {Delimiter: '|'}} {
			_, _, _ = read(t, memory{Base: "a.txt", Content: in}, o, rows.Limits{})
		}
	}
}
