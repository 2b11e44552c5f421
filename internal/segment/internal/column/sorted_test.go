package column_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// TestPage compares pages of results that are evenly distributed in the sorted rows, at one end,
// clustered and sparse with a full scan.
func TestOrder(t *testing.T) {
	t.Parallel()
	const n = 20_000
	g := rand.New(rand.NewPCG(3, 3))
	fields := []herb.Field{{Name: "v", Type: herb.TypeNumber, Sortable: true, Filterable: true}}
	columns, pool := openColumns(t, fields, func(int) herb.Record {
		v := ""
		if g.IntN(10) > 0 {
			v = strconv.Itoa(g.IntN(3000) * g.IntN(2)) // half of them in one long run
		}
		return herb.Record{v}
	}, n)
	c := &columns[0]
	for name, in := range map[string]func(rank int) bool{
		"evenly":       func(int) bool { return g.IntN(3) == 0 },
		"rarely":       func(int) bool { return g.IntN(100) == 0 },
		"very rarely":  func(int) bool { return g.IntN(400) == 0 },
		"first":        func(p int) bool { return p < n/20 },
		"last":         func(p int) bool { return p >= n-n/20 },
		"clustered":    func(p int) bool { return p/500%5 == 3 },
		"far apart":    func(p int) bool { return p%(n/16) == 0 || p > n-n/10 },
		"near the end": func(p int) bool { return p > n/10*7 && p < n/10*8 || p == 5 },
	} {
		set := roaring.New()
		for p := range n {
			if in(p) {
				set.Add(c.RecordAt(p))
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, desc := range []bool{false, true} {
				var want []uint32
				runs := make([]int, c.Distinct()+1)
				for i := range runs {
					runs[i] = i
					if desc && i < c.Distinct() {
						runs[i] = c.Distinct() - 1 - i
					}
				}
				for _, run := range runs {
					from, to := c.Run(run)
					for p := from; p < to; p++ {
						if rec := c.RecordAt(p); set.Contains(rec) {
							want = append(want, rec)
						}
					}
				}
				total := len(want)
				page := func(from, to int) []uint32 {
					o := column.NewOrder(guard.NewSteps(t.Context()), columns,
						[]query.SortField{{Field: 0, Desc: desc}}, setOf(pool, set))
					defer o.Release()
					return o.Page(from, to)
				}
				if got := page(0, total); !slices.Equal(got, want) {
					t.Errorf("%s: desc %v: the records differ", name, desc)
				}
				for _, from := range []int{0, 1, 25, total / 100, total / 7, total / 2, total/2 + 13, total - total/7,
					total - 1} {
					to := min(from+25, total)
					got := page(from, to)
					if !slices.Equal(got, want[from:to]) {
						t.Errorf("%s: desc %v, from %d of %d: %v; want %v", name, desc, from, total, got, want[from:to])
					}
				}
			}
		})
	}
}
