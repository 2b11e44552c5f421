package column_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// TestRunValues reads the values of runs in sequence, stored and from the records, all and some of
// them, and compares them with those of single runs.
func TestRunValues(t *testing.T) {
	t.Parallel()
	const n = 3000
	fields := []herb.Field{
		{Name: "stored", Type: herb.TypeText, Filterable: true},
		{Name: "number", Type: herb.TypeNumber, Filterable: true},
		{Name: "long", Type: herb.TypeText, Filterable: true}, {Name: "not filterable", Type: herb.TypeText},
		{Name: "ascii", Type: herb.TypeText, Filterable: true},
		{Name: "grouped", Type: herb.TypeNumber, Filterable: true, Notation: herb.Notation{Group: "\u00a0"}},
		{Name: "sharing much", Type: herb.TypeText, Filterable: true},
	}
	g := rand.New(rand.NewPCG(7, 7))
	parts := []string{"rose", "Rose garden ", "rosé", "oak", " ", "\t", "植物", "Straße", "\"", "1"}
	columns, _ := openColumns(t, fields, func(int) herb.Record {
		var value string
		for range g.IntN(6) {
			value += parts[g.IntN(len(parts))]
		}
		return herb.Record{value, strconv.Itoa(g.IntN(5000)), value + strings.Repeat("x", 200), value,
			strings.Repeat("Rose oak "[:g.IntN(9)], g.IntN(4)),
			strconv.Itoa(1+g.IntN(99)) + []string{"", "\u00a0123"}[g.IntN(2)],
			strings.Repeat("oak ", []int{0, 0, 0, 0, 0, 0, 0, 50}[g.IntN(8)]) + value}
	}, n)
	for i, stored := range []bool{true, true, false, false, true, true, true} {
		c := &columns[i]
		if c.StoresValues() != stored {
			t.Errorf("%s: stored values: %t", c.Field.Name, !stored)
		}
		for _, part := range []string{"ros", "É", "ss", "\"", "物r", "12", "xx", "e", "ser", "oak"} {
			from := g.IntN(c.Distinct())
			found := c.SearchRunValues(guard.NewSteps(t.Context()), from, text.NewSubstring(part))
			for run := range c.Distinct() {
				value := c.RunValue(run)
				if got, want := found.Has(uint32(run)), run >= from &&
					text.NewSubstring(part).In([]byte(value)); got != want {
					t.Errorf("%s: run %d from %d, %q: %q found: %t", c.Field.Name, run, from, value, part, got)
				}
			}
		}
		// few are read from the records
		for step, n := range map[int]int{1: c.Distinct(), 3: c.Distinct(), 5: 1, 100: 1} {
			for _, part := range []string{"ros", "É", "ss", "\"", "物r", "12", "xx"} {
				at, contains := c.ReadRunValues(guard.NewSteps(t.Context()), n, text.NewSubstring(part))
				for run := 0; run < c.Distinct(); run += step {
					value := c.RunValue(run)
					if got, want := at(run), c.ValueOf(value); got != want {
						t.Fatalf("%s: run %d has %q; want %q", c.Field.Name, run, got, want)
					}
					if got := contains(run); got != text.NewSubstring(part).In([]byte(value)) {
						t.Errorf("%s: %q contains %q: %t", c.Field.Name, value, part, got)
					}
				}
			}
		}
	}
}
