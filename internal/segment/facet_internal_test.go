package segment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
)

// countable builds a segment with fields that cover every facet counter: few values with stored sets, some of them run
// containers, many values, unique values, empty ones, and lists.
func countable(t testing.TB, n int) *Reader {
	t.Helper()
	fields := []herb.Field{
		{Name: "few", Type: herb.TypeText}, {Name: "halves", Type: herb.TypeText}, {Name: "many", Type: herb.TypeNumber},
		{Name: "different", Type: herb.TypeNumber}, {Name: "list", Type: herb.TypeList},
	}
	g := rand.New(rand.NewPCG(1, 2))
	records := func(yield func(herb.Record, error) bool) {
		for i := range n {
			var list []string
			for range g.IntN(4) {
				list = append(list, "e"+strconv.Itoa(g.IntN(40)*g.IntN(40)))
			}
			rec := herb.Record{
				strings.Repeat("x", g.IntN(5)), "h" + strconv.Itoa(2*i/n), strconv.Itoa(g.IntN(300) * g.IntN(300)), strconv.Itoa(i * 7919 % n),
				strings.Join(list, ","),
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
	path := filepath.Join(t.TempDir(), "countable")
	if _, err := Create(t.Context(), path, fields, records, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// counted is the result of a facet counter.
type counted struct {
	Empty, First, Last int
	Runs               map[int]int
}

func countAll(t facetCounter, n int) counted {
	out := counted{Empty: t.empty(), Runs: map[int]int{}}
	if out.Empty < n {
		out.First, out.Last = t.ends()
	}
	at := -1
	t.each(func(run, n int) {
		if run <= at {
			panic("runs out of order")
		}
		at = run
		out.Runs[run] = n
	})
	return out
}

// TestFacetCounters checks that all counters agree.
func TestFacetCounters(t *testing.T) {
	t.Parallel()
	const n = 70_001
	r := countable(t, n)
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
	all := roaring.New()
	all.AddRange(0, n)
	for i, set := range append(sets, ranges, all) {
		for c := range r.columns {
			m := &matches{steps: newSteps(t.Context()), set: set, n: int(set.GetCardinality()), records: n, scratch: r.scratch.get()}
			col := &r.columns[c]
			if t.Run(fmt.Sprint(i, col.field.Name), func(t *testing.T) { testFacetCounters(t, col, m) }); t.Failed() {
				return
			}
			r.scratch.put(m.scratch)
		}
	}
	if r.columns[0].longRuns.len() == 0 || r.columns[3].longRuns.len() != 0 {
		t.Error("the fields do not have the intended sets")
	}
}

func testFacetCounters(t *testing.T, c *column, m *matches) {
	want := counted{Runs: map[int]int{}, First: -1}
	for run := range c.distinct() + 1 {
		from, to := c.run(run)
		for p := from; p < to; p++ {
			switch {
			case !m.set.Contains(c.sorted.at(p)):
			case run == c.distinct():
				want.Empty++
			default:
				want.Runs[run]++
				want.Last = run
				if want.First < 0 {
					want.First = run
				}
			}
		}
	}
	want.First = max(want.First, 0)
	ways := []func() facetCounter{ // in sequence, because they share scratch memory
		func() facetCounter { return setCounter{c, m.dense(), m.steps} },
		func() facetCounter { return newMarkCounter(c, m) },
		func() facetCounter { return newRankCounter(c, m) },
		func() facetCounter { return c.facetCounter(m) },
	}
	if m.n == m.records {
		ways = append(ways, func() facetCounter { return allCounter{c, m.steps} })
	}
	for i, way := range ways {
		got := countAll(way(), m.n)
		if !maps.Equal(want.Runs, got.Runs) { // a detailed diff would take long
			t.Errorf("counter %d has %d runs, want %d, or wrong counts", i, len(got.Runs), len(want.Runs))
		}
		if got.Empty != want.Empty || got.First != want.First || got.Last != want.Last {
			t.Errorf("counter %d has %d without a value and runs %d to %d; want %d, %d to %d",
				i, got.Empty, got.First, got.Last, want.Empty, want.First, want.Last)
		}
	}
	if c.field.Type != herb.TypeList {
		return
	}
	if got := c.countEmpty(m); got != want.Empty {
		t.Errorf("%d without a value; want %d", got, want.Empty)
	}
	few, many := topElements{topValues: topValues{most: 7}}, topElements{topValues: topValues{most: 7}}
	if a, b := c.elementsOfFew(m, &few), c.elementsOfMany(m, &many); a != b {
		t.Errorf("%d different elements one by one, %d by their sets", a, b)
	}
	if diff := cmp.Diff(few.values, many.values, cmp.AllowUnexported(valueCount{})); diff != "" {
		t.Errorf("elements (-one by one +by sets):\n%s", diff)
	}
}

// TestFacetCounter_choice checks that each counter is selected for some field.
func TestFacetCounter_choice(t *testing.T) {
	t.Parallel()
	r := countable(t, 20_000)
	for _, tt := range []struct {
		field, n int
		want     facetCounter
	}{
		{0, 10_000, setCounter{}}, {3, 10_000, markCounter{}}, {3, 10, rankCounter{}}, {3, 20_000, allCounter{}},
	} {
		set := roaring.New()
		set.AddRange(0, uint64(tt.n))
		if tt.n == r.Len() {
			set = nil
		}
		m := &matches{steps: newSteps(t.Context()), set: set, n: tt.n, records: r.Len(), scratch: r.scratch.get()}
		if got, want := fmt.Sprintf("%T", r.columns[tt.field].facetCounter(m)), fmt.Sprintf("%T", tt.want); got != want {
			t.Errorf("%d records of field %d are counted by %s, not %s", tt.n, tt.field, got, want)
		}
	}
}

// TestTopValues checks that the top few of many values equal the start of all values.
func TestTopValues(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(5, 6))
	for most := range 12 {
		best, all := topValues{most: most}, topValues{most: 1000}
		for run := range 200 {
			n := 1 + g.IntN(20)
			best.offerRun(run, n)
			all.offer(valueCount{n: n, run: run})
		}
		for i := range all.values[1:] {
			if !all.values[i].before(&all.values[i+1]) {
				t.Fatalf("%+v is before %+v", all.values[i], all.values[i+1])
			}
		}
		if diff := cmp.Diff(all.values[:most], best.values, cmp.AllowUnexported(valueCount{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the first %d (-want +got):\n%s", most, diff)
		}
	}
}
