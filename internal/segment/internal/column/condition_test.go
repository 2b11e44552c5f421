package column_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// TestColumn_elementRange tests each record for an element in a range and compares this with the set of the range, with and without a
// forward index, and with positions of one and of two bytes.
func TestColumn_elementRange(t *testing.T) {
	t.Parallel()
	const n = 2000
	fields := []herb.Field{{Name: "few", Type: herb.TypeList, Filterable: true}, {Name: "many", Type: herb.TypeList, Filterable: true}}
	g := rand.New(rand.NewPCG(3, 4))
	list := func(elements int) string {
		var all []string
		for range g.IntN(4) {
			all = append(all, fmt.Sprintf("e%03d", g.IntN(elements)))
		}
		return strings.Join(all, ", ")
	}
	columns, pool := openColumns(t, fields, func(int) herb.Record { return herb.Record{list(100), list(900)} }, n)
	for i := range columns {
		for _, raw := range []string{"[gt]=e050", "[lt]=e050", "[gte]=e07", "[prefix]=e01", "[gt]=f", "[lte]=a"} {
			name := strings.ReplaceAll(fields[i].Name+raw, "[", "%5B")
			q, err := query.Parse(strings.ReplaceAll(name, "]", "%5D"), fields)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []*column.Column{&columns[i], columns[i].WithoutLists()} {
				st := guard.NewSteps(t.Context())
				condition, b := c.Term(q.Conditions[0]).Condition, bitmap.NewBuilder(pool)
				condition.Fill(st, b)
				set := b.Set(st)
				for record := range uint32(n) {
					if got, want := condition.Contains(record), set.Has(record); got != want {
						t.Fatalf("%s%s: record %d: %t, want %t", fields[i].Name, raw, record, got, want)
					}
				}
				set.Release()
			}
		}
	}
}
