package cli_test

import (
	"strings"
	"testing"
)

func TestAggregate(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	table := e.must(t, "aggregate", "garden/catalog", "--by", "category", "--measure", "sum:price", "--sort=-sum:price",
		"--top", "2", "--format", "table")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "category") ||
		!strings.HasSuffix(lines[1], strings.Repeat("█", 32)) {
		t.Errorf("unexpected table\n%s", table)
	}
	csv := e.must(t, "aggregate", "garden/catalog", "--by", "date:year", "--query", "category=tree")
	if !strings.HasPrefix(csv, "date:year,count\r\n") {
		t.Errorf("unexpected CSV\n%s", csv)
	}
	if json := e.must(t, "aggregate", "garden/catalog", "--json"); !strings.HasPrefix(json,
		`{"data":[{"by":[],"values":["`) {
		t.Errorf("unexpected JSON\n%s", json)
	}
	e.fails(t, 2, "choose table or csv", "aggregate", "garden/catalog", "--format", "xml")
	e.fails(t, 2, `did you mean "price"?`, "aggregate", "garden/catalog", "--measure", "sum:prise")
}
