package column

import (
	"slices"
	"testing"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// TestValueMerger merges values in memory of several parts.
func TestValueMerger(t *testing.T) {
	t.Parallel()
	value := func(key, text string, n int) Value { return Value{Key: key, Text: text, Count: n} }
	for _, tt := range []struct {
		name       string
		parts      [][]Value
		equalByKey bool
		request    query.FacetRequest
		want       []string // text of the most frequent values
		counts     []int
		distinct   int
		matching   int
	}{
		{"none", nil, false, query.FacetRequest{Top: 5}, nil, nil, 0, 0},
		{"one part", [][]Value{{value("a", "a", 1), value("b", "b", 3)}}, false,
			query.FacetRequest{Top: 5}, []string{"b", "a"}, []int{3, 1}, 2, 2},
		{"in both parts", [][]Value{{value("a", "a", 1), value("c", "c", 1)}, {value("a", "a", 2), value("b", "b", 1)}}, false,
			query.FacetRequest{Top: 5}, []string{"a", "b", "c"}, []int{3, 1, 1}, 3, 3},
		{"repeated in a part", [][]Value{{value("a", "a", 1), value("a", "a", 1), value("b", "b", 1)}}, false,
			query.FacetRequest{Top: 5}, []string{"a", "b"}, []int{2, 1}, 2, 2},
		{"same key, other text", [][]Value{{value("k", "X", 1)}, {value("k", "x", 1)}}, false,
			query.FacetRequest{Top: 5}, []string{"X", "x"}, []int{1, 1}, 2, 2},
		{"equal by key", [][]Value{{value("k", "1", 1), value("k", "1.0", 1)}}, true,
			query.FacetRequest{Top: 5}, []string{"1"}, []int{2}, 1, 1},
		{"key is a prefix of another", [][]Value{{value("a", "a", 1)}, {value("ab", "ab", 1)}, {value("a", "a", 1)}}, false,
			query.FacetRequest{Top: 5}, []string{"a", "ab"}, []int{2, 1}, 2, 2},
		{"only the first", [][]Value{{value("a", "a", 1), value("b", "b", 2)}, {value("c", "c", 3)}}, false,
			query.FacetRequest{Top: 1}, []string{"c"}, []int{3}, 3, 3},
		{"that contain a text", [][]Value{{value("oak", "oak", 1), value("yew", "yew", 5)}, {value("soak", "soak", 2)}}, false,
			query.FacetRequest{Top: 5, Containing: "oak"}, []string{"soak", "oak"}, []int{2, 1}, 3, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newValueMerger(guard.NewSteps(t.Context()), &tt.request)
			for _, values := range tt.parts {
				m.addValues(values, tt.equalByKey)
			}
			m.merge()
			m.sort()
			var got []string
			var counts []int
			for _, v := range m.values {
				got, counts = append(got, v.text()), append(counts, v.n)
			}
			if !slices.Equal(got, tt.want) || !slices.Equal(counts, tt.counts) || m.distinct != tt.distinct || m.matching != tt.matching {
				t.Errorf("%q %v, %d distinct, %d matching; want %q %v, %d, %d",
					got, counts, m.distinct, m.matching, tt.want, tt.counts, tt.distinct, tt.matching)
			}
		})
	}
}

func TestCommonPrefix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b       string
		from, want int
	}{
		{"", "", 0, 0}, {"a", "", 0, 0}, {"abc", "abd", 0, 2}, {"abc", "abc", 0, 3}, {"abc", "abcd", 1, 3},
		{"0123456789abcdefX", "0123456789abcdefY", 0, 16}, {"0123456789", "0123456789", 4, 10}, {"x123456789", "y123456789", 0, 0},
	} {
		if got := commonPrefix([]byte(tt.a), []byte(tt.b), tt.from); got != tt.want {
			t.Errorf("commonPrefix(%q, %q, %d) = %d; want %d", tt.a, tt.b, tt.from, got, tt.want)
		}
	}
}

// TestKeyRange checks the range of every operator that selects one, and that others are not treated
// as one of these.
func TestKeyRange(t *testing.T) {
	t.Parallel()
	for op, want := range map[query.Op][2]string{
		query.OpGt: {"k\x00", maxKey}, query.OpGte: {"k", maxKey}, query.OpLt: {"", "k"}, query.OpLte: {"", "k\x00"}, query.OpPrefix: {"k", "l"},
	} {
		if from, to := KeyRange(op, query.Operand{Key: "k"}); from != want[0] || to != want[1] {
			t.Errorf("%s: %q to %q; want %q", op, from, to, want)
		}
	}
	for _, op := range []query.Op{query.OpEq, query.OpNe, query.OpContains, query.OpMatch, "later"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s has a range", op)
				}
			}()
			KeyRange(op, query.Operand{Key: "k"})
		}()
	}
}
