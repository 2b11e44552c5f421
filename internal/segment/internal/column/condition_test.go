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

// TestColumn_elementRange tests each record for an element in some ranges and compares this with the postings of the elements, with and
// without a forward index, and with positions of one and of two bytes.
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
		for _, raw := range []string{"?[gt]=e050", "?[lt]=e050", "?[gte]=e07", "?[prefix]=e01", "?[gt]=f", "?[lte]=a", "?[prefix]=e01&?[prefix]=e05", "?[contains]=05", "?[contains]=0&?[contains]=E1", "?[contains]=x", "?[lt]=e02&?[lt]=a"} {
			q, err := query.Parse(strings.NewReplacer("?", fields[i].Name, "[", "%5B", "]", "%5D").Replace(raw), fields)
			if err != nil {
				t.Fatal(err)
			}
			st, b := guard.NewSteps(t.Context()), bitmap.NewBuilder(pool)
			columns[i].WithoutLists().Term(st, q.Conditions[0]).Fill(st, b)
			want := b.Set(st)
			for _, c := range []*column.Column{&columns[i], columns[i].WithoutLists()} {
				condition := c.Term(st, q.Conditions[0])
				for record := range uint32(n) {
					if got, want := condition.Contains(record), want.Has(record); got != want {
						t.Fatalf("%s %s: record %d: %t, want %t", fields[i].Name, raw, record, got, want)
					}
				}
			}
			want.Release()
		}
	}
}
