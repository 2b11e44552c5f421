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

// TestRunValues reads the values of runs in sequence, stored and from the records, all and some of them, and compares them with
// those of single runs.
func TestRunValues(t *testing.T) {
	t.Parallel()
	const n = 3000
	fields := []herb.Field{
		{Name: "stored", Type: herb.TypeText, Filterable: true}, {Name: "number", Type: herb.TypeNumber, Filterable: true},
		{Name: "long", Type: herb.TypeText, Filterable: true}, {Name: "not filterable", Type: herb.TypeText},
		{Name: "ascii", Type: herb.TypeText, Filterable: true},
	}
	g := rand.New(rand.NewPCG(7, 7))
	parts := []string{"rose", "Rose garden ", "rosé", "oak", " ", "\t", "植物", "Straße", "\"", "1"}
	columns, _ := openColumns(t, fields, func(int) herb.Record {
		var value string
		for range g.IntN(6) {
			value += parts[g.IntN(len(parts))]
		}
		return herb.Record{value, strconv.Itoa(g.IntN(5000)), value + strings.Repeat("x", 200), value, strings.Repeat("Rose oak "[:g.IntN(9)], g.IntN(4))}
	}, n)
	for i, stored := range []bool{true, true, false, false, true} {
		c := &columns[i]
		if c.StoresValues() != stored {
			t.Errorf("%s: stored values: %t", c.Field.Name, !stored)
		}
		if c.StoresWeights() != (i == 0) {
			t.Errorf("%s: stored weights: %t", c.Field.Name, i != 0)
		}
		for _, step := range []int{1, 3, 100} {
			for _, part := range []string{"ros", "É", "ss", "\"", "物r", "12", "xx"} {
				at, contains := c.ReadRunValues(guard.NewSteps(t.Context()), text.NewSubstring(part))
				for run := 0; run < c.Distinct(); run += step {
					want := c.RunValue(run)
					if got := at(run); got != want {
						t.Fatalf("%s: run %d has %q; want %q", c.Field.Name, run, got, want)
					}
					if got := contains(run); got != text.NewSubstring(part).In([]byte(want)) {
						t.Errorf("%s: %q contains %q: %t", c.Field.Name, want, part, got)
					}
				}
			}
		}
	}
}

// TestRunValues_weights reads the weights of runs in sequence, stored and computed from the records.
func TestRunValues_weights(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(8, 8))
	letters := []rune("abAé 植")
	columns, _ := openColumns(t, []herb.Field{{Name: "a", Type: herb.TypeText, Filterable: true}}, func(int) herb.Record {
		value := make([]rune, g.IntN(5))
		for i := range value {
			value[i] = letters[g.IntN(len(letters))]
		}
		return herb.Record{string(value)}
	}, 500)
	c := &columns[0]
	for _, n := range []int{c.Distinct(), 1} { // stored, computed
		for _, step := range []int{1, 7} {
			at := c.ReadRunWeights(guard.NewSteps(t.Context()), n)
			for run := 0; run < c.Distinct(); run += step {
				if got, want := at(run), text.PrimaryKey(c.RunValue(run)); got != want {
					t.Fatalf("run %d of %q has the weights %x; want %x", run, c.RunValue(run), got, want)
				}
			}
		}
	}
}
