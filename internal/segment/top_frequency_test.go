package segment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/query"
)

// TestTopByFrequency compares the top records found by frequency with those found by scoring all.
func TestTopByFrequency(t *testing.T) {
	t.Parallel()
	opts := AllOptionalIndexes(Options{})
	opts.optional.prefixes.from = math.MaxInt // they would be found by their counts
	r := openWordy(t, 20_000, opts)
	ways := map[string]int{}
	for _, raw := range []string{
		"search=oak", "search=elm", "search=ivy", "search=oak&kind=b", "search=elm+-oak", "search=a", "search=%22oak+oak%22",
		"search=%22oak+elm%22", "search=%22oak+elm%22&kind=a", "search=o*", "search=e*&kind=c", "search=b*", "search=o*&kind=a", "search=a*", "search=oak+elm",
		"search=oak+e*", "search=elm+%22oak+oak%22",
	} {
		q, err := query.Parse(raw, r.Fields())
		if err != nil {
			t.Fatal(err)
		}
		set, clauses, err := r.evaluate(newSteps(t.Context()), q)
		if err != nil {
			t.Fatal(err)
		}
		v, plain := newRelevance(newSteps(t.Context()), r, clauses), newRelevance(newSteps(t.Context()), withoutLengthOrder(r), clauses)
		for _, n := range []int{1, 2, 13, 26, 100, 700} {
			n = min(n, int(set.GetCardinality()))
			want, err := plain.scored(set, 0, n)
			if err != nil {
				t.Fatal(err)
			}
			check := func(way string, got []scored, ok bool) {
				if !ok {
					return
				}
				ways[way]++
				if !slices.Equal(got, want) {
					t.Errorf("%s: the first %d, %s, are %v; want %v", raw, n, way, got, want)
				}
			}
			got, ok, err := v.topByFrequency(set, n)
			if err != nil {
				t.Fatal(err)
			}
			check("by counts", got, ok)
			got, ok = v.topAtLeast3(set, n)
			check("three times", got, ok)
			more, err := v.frequencies(set)
			if err != nil {
				t.Fatal(err)
			}
			got, ok = v.topRepeated(more, n)
			check("repeated", got, ok)
		}
	}
	for _, way := range []string{"by counts", "three times", "repeated"} {
		if ways[way] < 5 {
			t.Errorf("records were found %s only %d times", way, ways[way])
		}
	}
}

func TestPositionsOf(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(1, 1))
	counts := make([]byte, 1003)
	for i := range counts {
		counts[i] = byte(2 + min(g.IntN(254), g.IntN(254), g.IntN(254)))
	}
	for _, least := range []int{2, 3, 4, 100, 127, 128, 129, 200, 254, 255} {
		t.Run(fmt.Sprint(least), func(t *testing.T) {
			t.Parallel()
			var want []uint32
			for i, c := range counts {
				if int(c) >= least {
					want = append(want, uint32(i))
				}
			}
			if d := cmp.Diff(want, positionsOf(counts, least)); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
			if got := minFrequency(counts, len(want)); got < least {
				t.Errorf("%d counts reach %d; minFrequency returns %d", len(want), least, got)
			}
		})
	}
	if got := minFrequency(counts, len(counts)+1); got != 2 {
		t.Errorf("more than there are reach %d; want 2", got)
	}
}
