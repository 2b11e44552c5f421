package fulltext_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
)

// Rules with which a file has as many optional indexes as possible, and none.
func allIndexes() build.OptionalIndexes {
	return build.OptionalIndexes{
		Bigrams:  build.BigramRules{MinRecords: 1, Share: 1 << 62, MaxPerEight: 64},
		Prefixes: build.PrefixRules{MinRecords: 1, Share: 1 << 30, Max: 1 << 20, Room: 1},
	}
}

func noIndexes() build.OptionalIndexes {
	return build.OptionalIndexes{
		Bigrams: build.BigramRules{MinRecords: math.MaxInt}, Prefixes: build.PrefixRules{MinRecords: math.MaxInt},
	}
}

// openIndex builds a file with n records of few distinct words, common and rare ones, and opens its full-text index.
func openIndex(t *testing.T, n int, opts build.Options) *fulltext.Index {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(n)))
	vocabulary := []string{"oak", "elm", "ash", "yew", "fir", "box", "bay", "rue", "may", "ivy"}
	records := func(yield func(herb.Record, error) bool) {
		for range n {
			words := make([]string, 1+r.IntN(12))
			for k := range words {
				words[k] = vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))]
			}
			if !yield(herb.Record{strings.Join(words, " "), []string{"a", "b", "c"}[r.IntN(3)]}, nil) {
				return
			}
		}
	}
	path := filepath.Join(t.TempDir(), "x")
	if _, err := build.Create(t.Context(), path, fields(), records, opts); err != nil {
		t.Fatal(err)
	}
	f, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	index, err := fulltext.Open(f, &bitmap.Pool{Records: n})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func fields() []herb.Field {
	return []herb.Field{
		{Name: "words", Type: herb.TypeText, Searchable: true}, {Name: "kind", Type: herb.TypeText, Searchable: true},
	}
}

// search returns the matches of a search and its clauses.
func search(t *testing.T, index *fulltext.Index, raw string) (*roaring.Bitmap, []fulltext.Clause) {
	t.Helper()
	q, err := query.Parse("search="+raw, fields())
	if err != nil {
		t.Fatal(err)
	}
	st := guard.NewSteps(t.Context())
	var sets []*roaring.Bitmap
	var clauses []fulltext.Clause
	without := roaring.New()
	for _, c := range q.Search.Clauses {
		found := index.Match(st, c)
		if c.Exclude {
			without.Or(found.Set)
			continue
		}
		sets, clauses = append(sets, found.Set), append(clauses, found)
	}
	if len(sets) == 0 {
		t.Fatalf("%s has no clause", raw)
	}
	return roaring.AndNot(bitmap.Intersection(st, sets), without), clauses
}

// compareSearches compares pages of searches in files with and without optional indexes. It returns how often the first
// clauses had each kind of postings.
func compareSearches(t *testing.T, searches ...string) map[string]int {
	t.Helper()
	const n, perPage = 5000, 13
	with, without := openIndex(t, n, build.Options{Indexes: allIndexes()}), openIndex(t, n, build.Options{Indexes: noIndexes()})
	sources := map[string]int{}
	for _, raw := range searches {
		gotSet, gotClauses := search(t, with, raw)
		wantSet, wantClauses := search(t, without, raw)
		sources[with.Source(gotClauses[0])]++
		if source := without.Source(wantClauses[0]); source != "terms" && source != "none" {
			t.Errorf("%s: a file without optional indexes has %s", raw, source)
		}
		if !gotSet.Equals(wantSet) {
			t.Errorf("%s: %d records; want %d", raw, gotSet.GetCardinality(), wantSet.GetCardinality())
			continue
		}
		for _, page := range []int{0, 1, 4} {
			total := int(wantSet.GetCardinality())
			from, to := min(page*perPage, total), min((page+1)*perPage, total)
			if from == to {
				continue
			}
			got := with.Page(guard.NewSteps(t.Context()), gotSet, gotClauses, from, to)
			want := without.Page(guard.NewSteps(t.Context()), wantSet, wantClauses, from, to)
			if !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %v; want %v", raw, page, got, want)
			}
		}
		with.Release(gotClauses)
		without.Release(wantClauses)
	}
	return sources
}

// TestBigrams compares phrase searches in files with and without bigrams, and checks that these are used.
func TestBigrams(t *testing.T) {
	t.Parallel()
	sources := compareSearches(t,
		"%22oak+elm%22", "%22elm+oak%22", "%22oak+ivy%22", "%22oak+oak%22", "%22oak+elm+ash%22", "%22oak+oak+oak+oak%22", "%22ivy+ivy%22",
		"%22oak+elm%22+ash", "%22oak+e*%22", "%22oak+elm+a*%22", "oak+-%22oak+elm%22", "%22oak+absent%22", "%22a+oak%22",
	)
	if sources["bigrams"] < 5 {
		t.Errorf("postings: %v; want at least 5 bigrams", sources)
	}
}

// TestPrefixPostings compares prefix searches in files with and without prefix postings, and checks that these are
// used.
func TestPrefixPostings(t *testing.T) {
	t.Parallel()
	sources := compareSearches(t,
		"a*", "o*", "oa*", "oak*", "e*", "el*", "b*", "i*", "z*", "a*+oak", "b*+e*", "oak+-b*", "oak-b*", "oak-elm-a*", "%22oak+b*%22",
		"b*+-oak",
	)
	if sources["prefixes"] < 4 || sources["terms"] < 4 {
		t.Errorf("postings: %v; want at least 4 of prefixes and of terms", sources)
	}
}

// TestTopByFrequency compares the top records found by frequency with those found by scoring all.
func TestTopByFrequency(t *testing.T) {
	t.Parallel()
	index := openIndex(t, 20_000, build.Options{Indexes: allIndexes()})
	used := 0
	for _, raw := range []string{
		"oak", "elm", "ivy", "elm+-oak", "a", "%22oak+oak%22", "%22oak+elm%22", "o*", "e*", "b*", "a*", "oak+elm", "oak+e*", "elm+%22oak+oak%22",
	} {
		set, clauses := search(t, index, raw)
		for _, n := range []int{1, 2, 13, 26, 100, 700} {
			n = min(n, int(set.GetCardinality()))
			t.Run(fmt.Sprintf("%s/%d", raw, n), func(t *testing.T) {
				want := index.Top(guard.NewSteps(t.Context()), set, clauses, n, false)
				got, ok := index.TopByFrequency(guard.NewSteps(t.Context()), set, clauses, n)
				if !ok {
					return
				}
				used++
				if !slices.Equal(got, want) {
					t.Errorf("%v; want %v", got, want)
				}
			})
		}
	}
	if used < 5 {
		t.Errorf("records were found by frequency only %d times", used)
	}
}

// TestLengthOrder checks the length order of files built in memory and with spill files, and that small files have none.
func TestLengthOrder(t *testing.T) {
	t.Parallel()
	for _, memory := range []int{0, 512, 64 << 10} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			t.Parallel()
			got, lengths := openIndex(t, build.LengthOrderMin, build.Options{Memory: memory}).LengthOrder()
			want := make([]uint32, len(lengths))
			for i := range want {
				want[i] = uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int { return int(lengths[a]) - int(lengths[b]) })
			if !slices.Equal(got, want) {
				t.Error("the records are not in the order of their lengths")
			}
		})
	}
	if got, _ := openIndex(t, build.LengthOrderMin-1, build.Options{}).LengthOrder(); len(got) != 0 {
		t.Error("a small file has a length order")
	}
}

// TestTop_byLength compares pages found in length order with those found by examining all matches.
func TestTop_byLength(t *testing.T) {
	t.Parallel()
	index, used := openIndex(t, 20_000, build.Options{}), 0
	for _, raw := range []string{
		"oak", "elm", "ash", "yew", "fir", "box", "ivy", "oak+elm", "oak+elm+ash", "oak+-elm", "oak+a", "a", "%22oak+elm%22", "oak+%22elm+ash%22", "o*", "oak+e*",
	} {
		set, clauses := search(t, index, raw)
		for _, n := range []int{1, 3, 7, 13, 26, 100, 300, 1300} {
			n = min(n, int(set.GetCardinality()))
			if index.FindsByLength(guard.NewSteps(t.Context()), set, clauses, n) {
				used++
			}
			got := index.Top(guard.NewSteps(t.Context()), set, clauses, n, true)
			want := index.Top(guard.NewSteps(t.Context()), set, clauses, n, false)
			if !slices.Equal(got, want) {
				t.Errorf("%s, the first %d: %v; want %v", raw, n, got, want)
			}
		}
	}
	if used < 10 {
		t.Errorf("records were found in length order only %d times", used)
	}
}

// TestLengthOrder_invalid checks that an invalid length order is ignored.
func TestLengthOrder_invalid(t *testing.T) {
	t.Parallel()
	index := openIndex(t, 20_000, build.Options{})
	order, _ := index.LengthOrder()
	index.ReplaceLengthOrder(bytes.Repeat([]byte{0, 0, 0, 0x80}, len(order)))
	set, clauses := search(t, index, "oak")
	if page := index.Page(guard.NewSteps(t.Context()), set, clauses, 0, 10); len(page) != 10 {
		t.Errorf("%d records; want 10", len(page))
	}
}
