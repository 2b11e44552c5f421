package column_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// orderFields are fields with long and short groups, also of missing values, and a list.
func orderFields() []herb.Field {
	fields := []herb.Field{
		{Name: "long", Notation: herb.Notation{Missing: []string{"NA"}}}, {Name: "two"}, {Name: "short"},
		{Name: "distinct"},
	}
	for i := range fields {
		fields[i].Type, fields[i].Sortable, fields[i].Filterable = herb.TypeNumber, true, true
	}
	return append(fields, herb.Field{Name: "list", Type: herb.TypeList, Filterable: true})
}

// operand returns the operand of a filter.
func operand(f herb.Field, value string) query.Operand {
	key, _ := column.NewSortKey(&f, value)
	return query.Operand{Text: value, Key: key.Key}
}

// TestOrder_severalFields compares orders by several fields with sorted records: pages, and counts
// of records through a key.
func TestOrder_severalFields(t *testing.T) {
	t.Parallel()
	const n = 30_000
	g := rand.New(rand.NewPCG(5, 5))
	records := make([]herb.Record, n)
	for i := range records {
		short := ""
		if v := g.IntN(50); v > 0 {
			short = strconv.Itoa(v)
		}
		records[i] = herb.Record{[]string{"1", "2", "3", "NA", ""}[g.IntN(5)], strconv.Itoa(g.IntN(2)), short,
			strconv.Itoa(i * 7919 % n), []string{"x", "x,y", "y", ""}[g.IntN(4)]}
	}
	columns, pool := openColumns(t, orderFields(), func(i int) herb.Record { return records[i] }, n)
	// Of a value in ascending order: missing values have positions of their own.
	position := func(value string, desc bool) int {
		switch v, err := strconv.Atoi(value); {
		case value == "NA":
			return n
		case err != nil:
			return n + 1
		case desc:
			return -v
		default:
			return v
		}
	}
	sets := map[string]*roaring.Bitmap{"all": nil, "half": roaring.New(), "some": roaring.New(), "few": roaring.New()}
	for i := range uint32(n) {
		for name, share := range map[string]int{"half": 2, "some": 30, "few": 1000} {
			if g.IntN(share) == 0 {
				sets[name].Add(i)
			}
		}
	}
	for _, c := range []struct {
		field   int
		operand query.Operand
	}{
		{0, operand(orderFields()[0], "2")}, {0, operand(orderFields()[0], "")}, {1, operand(orderFields()[1], "1")},
		{4, query.Operand{Text: "y"}},
	} {
		name := fmt.Sprintf("%s=%s", orderFields()[c.field].Name, c.operand.Text)
		sets[name] = roaring.New()
		for i, r := range records {
			if r[c.field] == c.operand.Text || c.field == 4 && strings.Contains(r[4], c.operand.Text) {
				sets[name].Add(uint32(i))
			}
		}
	}
	for name, set := range sets {
		for _, order := range [][]query.SortField{
			{{Field: 0}, {Field: 2}},
			{{Field: 0, Desc: true}, {Field: 2, Desc: true}, {Field: 3}},
			{{Field: 0}, {Field: 1, Desc: true}, {Field: 3, Desc: true}},
			{{Field: 1, Desc: true}, {Field: 0, Desc: true}, {Field: 2}},
			{{Field: 1}, {Field: 2}, {Field: 0, Desc: true}},
			{{Field: 2, Desc: true}, {Field: 0}, {Field: 1}},
			{{Field: 3, Desc: true}, {Field: 0}},
			{{Field: 3}},
			{{Field: 2, Desc: true}},
		} {
			compare := func(a, b uint32) int {
				for _, f := range order {
					if c := cmp.Compare(position(records[a][f.Field], f.Desc),
						position(records[b][f.Field], f.Desc)); c != 0 {
						return c
					}
				}
				return 0
			}
			var want []uint32
			for i := range uint32(n) {
				if set == nil || set.Contains(i) {
					want = append(want, i)
				}
			}
			slices.SortStableFunc(want, compare)
			t.Run(fmt.Sprint(name, order), func(t *testing.T) {
				t.Parallel()
				var matches *bitmap.Set
				if set != nil {
					matches = setOf(pool, set)
				}
				o := column.NewOrder(guard.NewSteps(t.Context()), columns, order, matches)
				defer o.Release()
				total := len(want)
				if got := o.Page(0, total); !slices.Equal(got, want) {
					t.Error("the records differ")
				}
				for _, from := range []int{0, 1, total / 100, total / 7, total / 2, total/2 + 13, total - total/7,
					total - 1} {
					to := min(from+25, total)
					if got := o.Page(from, to); !slices.Equal(got, want[from:to]) {
						t.Errorf("from %d of %d: %v; want %v", from, total, got, want[from:to])
					}
				}
			})
		}
	}
}

// TestOrder_adjacentLongGroups reads pages that span the end of one long group and the start of the
// next. An order keeps only the last long group sorted, so it must notice that another one is due.
func TestOrder_adjacentLongGroups(t *testing.T) {
	t.Parallel()
	const size, groups = column.LongRun + 10, 3
	const n = size * groups
	fields := []herb.Field{
		{Name: "category", Type: herb.TypeText, Sortable: true, Filterable: true},
		{Name: "price", Type: herb.TypeNumber, Sortable: true, Filterable: true},
	}
	categories := []string{"a", "b", ""} // missing values form a long group too
	price := func(record int) int { return record * 7919 % n }
	columns, pool := openColumns(t, fields, func(i int) herb.Record {
		return herb.Record{categories[i%groups], strconv.Itoa(price(i))}
	}, n)
	for _, tt := range []struct {
		name       string
		desc       bool     // order of the category; the price is descending
		categories []string // in the order of the pages
		set        bool     // the order is that of a set instead of all records
	}{
		{name: "ascending", categories: []string{"a", "b", ""}},
		{name: "descending", desc: true, categories: []string{"b", "a", ""}},
		{name: "ascending, set", categories: []string{"a", "b", ""}, set: true},
		{name: "descending, set", desc: true, categories: []string{"b", "a", ""}, set: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var set *bitmap.Set
			if tt.set {
				set = bitmap.All(guard.NewSteps(t.Context()), pool)
				defer set.Release()
			}
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			group := func(record uint32) int { return slices.Index(tt.categories, categories[record%groups]) }
			slices.SortFunc(want, func(a, b uint32) int {
				return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(price(int(b)), price(int(a))))
			})
			sort := []query.SortField{{Field: 0, Desc: tt.desc}, {Field: 1, Desc: true}}
			o := column.NewOrder(guard.NewSteps(t.Context()), columns, sort, set)
			defer o.Release()
			// The last pages are before the ones that were read, and in another group.
			for _, from := range []int{size - 5, 2*size - 5, 0, 2 * size, size} {
				if got := o.Page(from, from+10); !slices.Equal(got, want[from:from+10]) {
					t.Errorf("from %d: %v; want %v", from, got, want[from:from+10])
				}
			}
		})
	}
}
