package column_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// TestColumn_elementRange tests each record for an element in some ranges, and adds those that have
// one to a set. It compares both with the elements of the records, with positions of one and of two
// bytes.
func TestColumn_elementRange(t *testing.T) {
	t.Parallel()
	const n = 2000
	fields := []herb.Field{{Name: "few", Type: herb.TypeList, Filterable: true},
		{Name: "many", Type: herb.TypeList, Filterable: true}}
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
		for raw, inRange := range map[string]func(e string) bool{
			"?[gt]=e050":    func(e string) bool { return e > "e050" },
			"?[lt]=e050":    func(e string) bool { return e < "e050" },
			"?[gte]=e07":    func(e string) bool { return e >= "e07" },
			"?[prefix]=e01": func(e string) bool { return strings.HasPrefix(e, "e01") },
			"?[gt]=f":       func(string) bool { return false },
			"?[lte]=a":      func(string) bool { return false },
			"?[prefix]=e01&?[prefix]=e05": func(e string) bool {
				return strings.HasPrefix(e, "e01") ||
					strings.HasPrefix(e, "e05")
			},
			"?[contains]=05": func(e string) bool { return strings.Contains(e, "05") },
			"?[contains]=0&?[contains]=E1": func(e string) bool {
				return strings.Contains(e, "0") ||
					strings.Contains(e, "e1")
			},
			"?[contains]=x":     func(string) bool { return false },
			"?[lt]=e02&?[lt]=a": func(e string) bool { return e < "e02" },
		} {
			q, err := query.Parse(strings.NewReplacer("?", fields[i].Name, "[", "%5B", "]", "%5D").Replace(raw), fields)
			if err != nil {
				t.Fatal(err)
			}
			st, b := guard.NewSteps(t.Context()), bitmap.NewBuilder(pool)
			condition := columns[i].Term(st, q.Conditions[0])
			condition.Fill(st, b)
			filled := b.Set(st)
			for record := range uint32(n) {
				want := slices.ContainsFunc(columns[i].ElementsOf(record), inRange)
				if got := condition.Contains(record); got != want || filled.Has(record) != want {
					t.Fatalf("%s %s: record %d: %t, in the set: %t, want %t", fields[i].Name, raw, record, got,
						filled.Has(record), want)
				}
			}
			filled.Release()
		}
	}
}

// TestColumn_rankRange tests each record for a number in a range that begins or ends at a value of
// the column, beside it, or outside of all, and adds those in it to a set.
func TestColumn_rankRange(t *testing.T) {
	t.Parallel()
	const n = 1000
	fields := []herb.Field{{Name: "price", Type: herb.TypeNumber, Filterable: true}}
	price := func(record int) int { return record * 7 % 50 * 2 }
	columns, pool := openColumns(t, fields, func(i int) herb.Record { return herb.Record{fmt.Sprint(price(i))} }, n)
	for _, operand := range []int{-1, 0, 1, 48, 49, 98, 99} {
		for op, inRange := range map[string]func(int) bool{
			"[lt]":  func(v int) bool { return v < operand },
			"[lte]": func(v int) bool { return v <= operand },
			"[gt]":  func(v int) bool { return v > operand },
			"[gte]": func(v int) bool { return v >= operand },
			"":      func(v int) bool { return v == operand },
		} {
			q, err := query.Parse(fmt.Sprintf("price%s=%d", op, operand), fields)
			if err != nil {
				t.Fatal(err)
			}
			st, b := guard.NewSteps(t.Context()), bitmap.NewBuilder(pool)
			condition := columns[0].Term(st, q.Conditions[0])
			condition.Fill(st, b)
			filled := b.Set(st)
			for record := range uint32(n) {
				want := inRange(price(int(record)))
				if got := condition.Contains(record); got != want || filled.Has(record) != want {
					t.Fatalf("price%s=%d: record %d: %t, in the set: %t, want %t", op, operand, record, got,
						filled.Has(record), want)
				}
			}
			filled.Release()
		}
	}
}
