package column_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// openColumns builds a file and opens its columns.
func openColumns(t testing.TB, fields []herb.Field, record func(i int) herb.Record, n int) ([]column.Column,
	*bitmap.Pool) {
	t.Helper()
	indexes := build.DefaultIndexes()
	indexes.MinRecords = 0
	f := buildtest.Open(t, fields, n, record, build.Options{Indexes: indexes})
	all, err := column.OpenRecords(f)
	if err != nil {
		t.Fatal(err)
	}
	pool, columns := &bitmap.Pool{Records: n}, make([]column.Column, len(fields))
	for i := range columns {
		columns[i], err = column.Open(f, all, pool, i)
		if err != nil {
			t.Fatal(err)
		}
	}
	return columns, pool
}

// setOf returns the records of a bitmap.
func setOf(pool *bitmap.Pool, set *roaring.Bitmap) *bitmap.Set {
	return bitmap.ListSet(pool, set.ToArray())
}

// facetColumns returns columns that cover every facet counter: few values with stored sets, some of
// them run containers, many values, unique values, empty ones, and lists.
func facetColumns(t testing.TB, n int) ([]column.Column, *bitmap.Pool) {
	t.Helper()
	fields := []herb.Field{
		{Name: "few", Type: herb.TypeText}, {Name: "halves", Type: herb.TypeText},
		{Name: "many", Type: herb.TypeNumber},
		{Name: "unique", Type: herb.TypeNumber}, {Name: "list", Type: herb.TypeList},
	}
	g := rand.New(rand.NewPCG(1, 2))
	return openColumns(t, fields, func(i int) herb.Record {
		var list []string
		for range g.IntN(4) {
			list = append(list, "e"+strconv.Itoa(g.IntN(40)*g.IntN(40)))
		}
		return herb.Record{
			strings.Repeat("x", g.IntN(5)), "h" + strconv.Itoa(2*i/n), strconv.Itoa(g.IntN(300) * g.IntN(300)),
			strconv.Itoa(i * 7919 % n),
			strings.Join(list, ","),
		}
	}, n)
}

// TestFacetCounters checks that all counters agree.
func TestFacetCounters(t *testing.T) {
	t.Parallel()
	const n = 70_001
	columns, pool := facetColumns(t, n)
	g := rand.New(rand.NewPCG(3, 4))
	var sets []*roaring.Bitmap
	for _, size := range []int{1, 2, 100, 5_000, 60_000} {
		set := roaring.New()
		for range size {
			set.Add(uint32(g.IntN(n)))
		}
		sets = append(sets, set)
	}
	ranges := roaring.New()
	ranges.AddRange(1000, 1064)
	ranges.AddRange(30_000, 66_000)
	for i, set := range append(sets, ranges) {
		for k := range columns {
			t.Run(fmt.Sprint(i, columns[k].Field.Name),
				func(t *testing.T) { testFacetCounters(t, &columns[k], pool, set) })
		}
	}
	if columns[0].LongRuns() == 0 || columns[3].LongRuns() != 0 {
		t.Error("the fields do not have the intended sets")
	}
}

func testFacetCounters(t *testing.T, c *column.Column, pool *bitmap.Pool, set *roaring.Bitmap) {
	t.Helper()
	st, matches := guard.NewSteps(t.Context()), setOf(pool, set)
	want, withValue := map[int]int{}, 0
	for run := range c.Distinct() {
		from, to := c.Run(run)
		for p := from; p < to; p++ {
			if set.Contains(c.RecordAt(p)) {
				want[run]++
				withValue++
			}
		}
	}
	if got := c.CountBelow(st, matches, "\xff"); got != withValue {
		t.Errorf("%d with a value; want %d", got, withValue)
	}
	count := func(name string, least int) map[int]int {
		got, last := map[int]int{}, -1
		c.CountRuns(st, name, least, matches, func(run, n int) {
			if run <= last {
				t.Fatalf("%s: run %d after %d", name, run, last)
			}
			got[run], last = n, run
		})
		return got
	}
	isShort := func(run, _ int) bool {
		from, to := c.Run(run)
		return to-from == 1
	}
	for _, name := range column.Counters() {
		if got := count(name, 1); !maps.Equal(want, got) { // a detailed diff would take long
			t.Errorf("%s: %d runs, want %d, or wrong counts", name, len(got), len(want))
		}
	}
	maps.DeleteFunc(want, isShort)
	if got := count("sets", 2); !maps.Equal(want, got) {
		t.Errorf("%d runs of several records, want %d, or wrong counts", len(got), len(want))
	}
	if c.Field.Type != herb.TypeList {
		return
	}
	for _, among := range []*bitmap.Set{matches, nil} {
		counts := map[string]int{}
		for record := range uint32(pool.Records) {
			if among == nil || among.Has(record) {
				for _, e := range c.ElementsOf(record) {
					counts[e]++
				}
			}
		}
		top, distinct := c.TopElements(st, among, 7)
		if distinct != len(counts) || len(top) != min(7, len(counts)) {
			t.Errorf("the first %d of %d elements; want %d in all", len(top), distinct, len(counts))
		}
		for i, v := range top {
			if v.Count != counts[v.Value] || i > 0 && v.Count > top[i-1].Count {
				t.Errorf("element %d is %v; it occurs in %d records", i, v, counts[v.Value])
			}
			delete(counts, v.Value)
		}
		for e, n := range counts {
			if n > top[len(top)-1].Count {
				t.Errorf("%q occurs in %d records and is not among the first", e, n)
			}
		}
	}
}

// TestFacetCounter_choice checks that each method is selected for some field.
func TestFacetCounter_choice(t *testing.T) {
	t.Parallel()
	const n = 20_000
	columns, pool := facetColumns(t, n)
	for _, tt := range []struct {
		field, n int
		want     string
	}{
		{0, 10_000, "sets"}, {3, 10_000, "sets"}, {2, 10, "marks"}, {0, 10, "marks"},
	} {
		set := roaring.New()
		set.AddRange(0, uint64(tt.n))
		if got := columns[tt.field].ChosenCounter(guard.NewSteps(t.Context()), setOf(pool, set)); got != tt.want {
			t.Errorf("%d records of field %d are counted by %s, not %s", tt.n, tt.field, got, tt.want)
		}
	}
}
