package delimited

import (
	"strings"
	"testing"

	"herbarium/internal/ingest/rows"
)

// TestOpen_Bars reads tables with bars between values, and rulers below their headers.
func TestOpen_Bars(t *testing.T) {
	t.Parallel()
	plants := cells{{"id", "name", "height"}, {"1", "Rose, red", "1.5"}, {"2", `"Moss"`, ""}, {"3", "Fern", "-"}}
	tests := []struct {
		name, in string
		want     cells
	}{
		{"Markdown", "| id | name      | height |\n|---:|-----------|:------:|\n|  1 | Rose, red | 1.5    |\n|  2 | \"Moss\"    |        |\n|  3 | Fern      | -      |\n", plants},
		{"Markdown with short rulers and text around", "# Plants\n\nA list, in short.\n\n|id|name|height|\n|-:|--|:-:|\n|1|Rose, red|1.5|\n|2|\"Moss\"||\n|3|Fern|-|\n\nMore text.\n", plants},
		{"Markdown without bars at the ends", "id | name | height\n-- | --- | ---\n1 | Rose, red | 1.5\n2 | \"Moss\" |\n3 | Fern | -\n", plants},
		{"psql", " id |   name    | height \n----+-----------+--------\n  1 | Rose, red |    1.5\n  2 | \"Moss\"    |       \n  3 | Fern      | -\n(3 rows)\n\n", plants},
		{"MySQL", "+----+-----------+--------+\r\n| id | name      | height |\r\n+----+-----------+--------+\r\n|  1 | Rose, red |    1.5 |\r\n|  2 | \"Moss\"    |        |\r\n|  3 | Fern      | -      |\r\n+----+-----------+--------+\r\n3 rows in set (0.00 sec)\r\n", plants},
		{"equals signs below the header", "+----+------+\n| id | name |\n+====+======+\n|  1 | Rose |\n+----+------+\n|  2 | Moss |\n+----+------+\n", cells{{"id", "name"}, {"1", "Rose"}, {"2", "Moss"}}},
		{"bars at both ends without rulers", "|id|name|\n|1|Rose|\n|2|Moss|\n", cells{{"id", "name"}, {"1", "Rose"}, {"2", "Moss"}}},
		{"a bar at the start only", "|id|name\n|1|Rose\n|2|Moss\n", cells{{"", "id", "name"}, {"", "1", "Rose"}, {"", "2", "Moss"}}},
		{"an escaped bar", "| id | name |\n|----|------|\n| 1 | a\\|b |\n| 2 | c |\n", cells{{"id", "name"}, {"1", "a|b"}, {"2", "c"}}},
		{"one column", "| name |\n|------|\n| Rose |\n| Moss |\n", cells{{"name"}, {"Rose"}, {"Moss"}}},
		{"rulers between commas", "id,name\n--,----\n1,Rose\n2,Moss\n", cells{{"id", "name"}, {"1", "Rose"}, {"2", "Moss"}}},
		{"rulers between tabs", "id\tname\n---\t----\n1\tRose\n2\tMoss\n", cells{{"id", "name"}, {"1", "Rose"}, {"2", "Moss"}}},
		{"hyphens for missing values", "id,name\n-,-\n1,Rose\n-,--\n", cells{{"id", "name"}, {"-", "-"}, {"1", "Rose"}, {"-", "--"}}},
		{"a list of hyphens", "plant_name\nrose\n-----\nmoss\n", cells{{"plant_name"}, {"rose"}, {"-----"}, {"moss"}}},
	}
	for _, test := range tests {
		checkRows(t, test.name, memory{Content: test.in}, rows.Options{}, test.want)
	}
}

func TestOpen_Widths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		widths   []int
		options  rows.Options
		want     cells
		note     string
	}{
		{"values that touch", "id  name      n\n0001Rose     12\n0002Moss    120\n", []int{4, 8, 3}, rows.Options{},
			cells{{"id", "name", "n"}, {"0001", "Rose", "12"}, {"0002", "Moss", "120"}}, "in 2 records, the first in line 2, no blank"},
		{"no header", "0001Rose\n0002Moss\n", []int{4, 8}, rows.Options{Header: rows.HeaderNone}, cells{{"column_1", "column_2"}, {"0001", "Rose"}, {"0002", "Moss"}}, ""},
		{"empty cells and blank lines", "a  b  c\n1     3\n\n      \n   2\n", []int{3, 3, 1}, rows.Options{}, cells{{"a", "b", "c"}, {"1", "", "3"}, {"", "2", ""}}, ""},
		{"characters, not bytes", "name  n\nÄönß  1\n苔     2\nfern  3\n", []int{6, 1}, rows.Options{}, cells{{"name", "n"}, {"Äönß", "1"}, {"苔", "2"}, {"fern", "3"}}, ""},
		{"the last column has the rest", "a b\n1 two and more\n2 x\n", []int{2, 3}, rows.Options{}, cells{{"a", "b"}, {"1", "two and more"}, {"2", "x"}}, "longer than all widths together: 1 line, the first is line 2"},
		{"quotes, commas and inner blanks are data", "a     b\n\"x, y 1\n z\"   2\n", []int{6, 1}, rows.Options{}, cells{{"a", "b"}, {`"x, y`, "1"}, {`z"`, "2"}}, ""},
		{"a ruler", "a  b\n-- --\n1  2\n3  4\n", []int{3, 2}, rows.Options{}, cells{{"a", "b"}, {"1", "2"}, {"3", "4"}}, "ruler"},
		{"a header of wide names", "number  long name\n1    2\n3    4\n", []int{5, 1}, rows.Options{Header: rows.HeaderPresent}, cells{{"number", "long name"}, {"1", "2"}, {"3", "4"}}, ""},
		{"one column", "a\n1 2\n", []int{5}, rows.Options{}, cells{{"a"}, {"1 2"}}, ""},
		{"a tab is one character", "a\tb\n1\t2\n", []int{2, 1}, rows.Options{}, cells{{"a", "b"}, {"1", "2"}}, ""},
	}
	for _, test := range tests {
		o := test.options
		o.Widths = test.widths
		checkRows(t, test.name, memory{Content: test.in}, o, test.want)
		_, notes, err := read(t, memory{Content: test.in}, o, rows.Limits{})
		if all := strings.Join(notes, "\n"); err != nil || test.note != "" && !strings.Contains(all, test.note) {
			t.Errorf("%s: error %v, notes %q, want %q", test.name, err, all, test.note)
		}
	}
}
