package table

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestEvidence_example computes the scores that the package comment states.
func TestEvidence_example(t *testing.T) {
	t.Parallel()
	var in Sample
	for i, line := range strings.Split(
		"Pupils by school\n|Boys||Girls|\nSchool|2019|2020|2019|2020\nElm Road|12|14|13|11\nPark Lane|31|30|27|29",
		"\n") {
		row := Row{Line: i + 1, End: i + 1}
		for _, cell := range strings.Split(line, "|") {
			row.Cells = append(row.Cells, []byte(cell))
		}
		in.Rows = append(in.Rows, row)
	}
	in.Tabular = true
	e := newEvidence(in)
	comment, err := os.ReadFile("row.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(comment), "\n// ", " ")
	for _, c := range []struct {
		first, end int
		words      string
	}{{0, 1, "row 1 alone scores %.1f,"}, {2, 3, "Row 3 alone scores %.1f:"},
		{1, 3, "Rows 2 and 3 joined score %.1f."}} {
		l, ok := e.candidate(c.first, c.end)
		if want := fmt.Sprintf(c.words, l.Score); !ok || !strings.Contains(text, want) {
			t.Errorf("the package comment does not say %q", want)
		}
	}
	if l := detect(in); l.First != 1 || l.End != 3 {
		t.Errorf("the header is %d to %d", l.First, l.End)
	}
}
