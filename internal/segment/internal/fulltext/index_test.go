package fulltext_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// Rules with which a file has as many optional indexes as possible, and none.
func allIndexes() build.OptionalIndexes {
	return build.OptionalIndexes{
		MinRecords: 1,
		Bigrams:    build.BigramRules{Share: 1 << 62, MaxPerEight: 64},
		Prefixes:   build.PrefixRules{Share: 1 << 30, Max: 1 << 20, Room: 1},
		Fields:     build.FieldRules{Share: 1 << 30, Max: 1 << 20},
	}
}

func noIndexes() build.OptionalIndexes {
	return build.OptionalIndexes{MinRecords: math.MaxInt}
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

// search returns the matches of a search, its clauses and their scorer.
func search(t *testing.T, index *fulltext.Index, n int, raw string) (*bitmap.Set, []*fulltext.Clause, *fulltext.Scorer) {
	t.Helper()
	q, err := query.Parse("search="+raw, fields())
	if err != nil {
		t.Fatal(err)
	}
	st := guard.NewSteps(t.Context())
	var terms []plan.Term
	var clauses []*fulltext.Clause
	for _, c := range q.Search.Clauses {
		clause := index.Clause(st, c)
		terms = append(terms, plan.Term{Condition: clause, Exclude: c.Exclude})
		if !c.Exclude {
			clauses = append(clauses, clause)
		}
	}
	set := plan.Evaluate(st, &bitmap.Pool{Records: n}, terms, nil)
	return set, clauses, index.NewScorer(st, clauses, index.Statistics(st, clauses))
}

// compareSearches compares pages of searches in files with and without optional indexes. It returns how often the first
// clauses had each kind of postings.
func compareSearches(t *testing.T, searches ...string) map[string]int {
	t.Helper()
	const n, perPage = 5000, 13
	with, without := openIndex(t, n, build.Options{Indexes: allIndexes()}), openIndex(t, n, build.Options{Indexes: noIndexes()})
	sources := map[string]int{}
	for _, raw := range searches {
		gotSet, gotClauses, gotScorer := search(t, with, n, raw)
		wantSet, wantClauses, wantScorer := search(t, without, n, raw)
		sources[gotClauses[0].Source()]++
		if source := wantClauses[0].Source(); source != "terms" && source != "none" {
			t.Errorf("%s: a file without optional indexes has %s", raw, source)
		}
		total, st := wantSet.Len(), guard.NewSteps(t.Context())
		if gotSet.Len() != total || !slices.Equal(gotSet.Slice(st, 0, total), wantSet.Slice(st, 0, total)) {
			t.Errorf("%s: %d records; want %d", raw, gotSet.Len(), total)
			continue
		}
		for _, page := range []int{0, 1, 4} {
			from, to := min(page*perPage, total), min((page+1)*perPage, total)
			if from == to {
				continue
			}
			if got, want := gotScorer.Page(gotSet, from, to), wantScorer.Page(wantSet, from, to); !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %v; want %v", raw, page, got, want)
			}
		}
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

// TestFieldPostings compares searches within a field in files with and without field postings, and checks that these are
// used.
func TestFieldPostings(t *testing.T) {
	t.Parallel()
	const n = 5000
	with, without := openIndex(t, n, build.Options{Indexes: allIndexes()}), openIndex(t, n, build.Options{Indexes: noIndexes()})
	some := allIndexes()
	some.Prefixes.Max, some.Fields.Share = 0, 4
	partial := openIndex(t, n, build.Options{Indexes: some})
	stored := 0
	for _, raw := range []string{
		"words[match]=oak", "words[match]=a", "kind[match]=a", "kind[match]=a*", "words[match]=a*", "words[match]=o*+-b*", "kind[match]=oak",
		"words[match]=z*", "words[match]=absent", "words[match]=oak&words[match]=e*", "words[match]=i*", "words[match]=%22oak+elm%22",
		"words[match]=oak-e*", "kind[match]=b*+a*", "words[match]=b*",
		"kind[match]=%22oak+elm%22", "kind[match]=oak-e*",
	} {
		q, err := query.Parse(raw, fields())
		if err != nil {
			t.Fatal(err)
		}
		st := guard.NewSteps(t.Context())
		evaluate := func(index *fulltext.Index) []uint32 {
			terms := index.Match(st, q.Conditions[0])
			if _, ok := terms[0].Condition.(plan.Stored); ok && index == with {
				stored++
			}
			set := plan.Evaluate(st, &bitmap.Pool{Records: n}, terms, nil)
			return set.Slice(st, 0, set.Len())
		}
		want := evaluate(without)
		for name, index := range map[string]*fulltext.Index{"all": with, "some": partial} {
			if got := evaluate(index); !slices.Equal(got, want) {
				t.Errorf("%s, %s field postings: %d records; want %d", raw, name, len(got), len(want))
			}
		}
	}
	if stored < 8 {
		t.Errorf("%d searches use field postings; want at least 8", stored)
	}
}

// TestTop compares the top records found by frequency and length with those found by scoring all.
func TestTop(t *testing.T) {
	t.Parallel()
	const n = 20_000
	index := openIndex(t, n, build.Options{Indexes: allIndexes()})
	all := openIndex(t, n, build.Options{Indexes: allIndexes()})
	all.DropLengthOrder()
	used := 0
	for _, raw := range []string{
		"oak", "elm", "ivy", "elm+-oak", "a", "%22oak+oak%22", "%22oak+elm%22", "o*", "e*", "b*", "a*", "oak+elm", "oak+e*", "elm+%22oak+oak%22",
	} {
		set, _, scorer := search(t, index, n, raw)
		allSet, _, allScorer := search(t, all, n, raw)
		for _, n := range []int{1, 2, 13, 26, 100, 300, 700} {
			n = min(n, set.Len())
			want := allScorer.Page(allSet, 0, n)
			if got := scorer.Page(set, 0, n); !slices.Equal(got, want) {
				t.Errorf("%s, the first %d: %v; want %v", raw, n, got, want)
			}
			if _, ok := scorer.Top(set, n); ok {
				used++
			}
		}
	}
	if used < 20 {
		t.Errorf("only %d pages were found without scoring all records", used)
	}
}

// TestRanking compares a ranking with the pages of a scorer.
func TestRanking(t *testing.T) {
	t.Parallel()
	const n = 20_000
	index := openIndex(t, n, build.Options{})
	for _, raw := range []string{"oak", "oak+elm", "o*+e*"} {
		set, _, scorer := search(t, index, n, raw)
		ranking, all := scorer.Rank(set), scorer.Page(set, 0, set.Len())
		for _, from := range []int{0, 1, 500, set.Len() - 30} {
			to := min(from+700, set.Len())
			if got := ranking.Page(from, to); !slices.Equal(got, all[from:to]) {
				t.Errorf("%s: records %d to %d differ", raw, from, to)
			}
			score := scorer.Score(all[from])
			if got := ranking.Score(from); got != score {
				t.Errorf("%s: record %d has the score %v, want %v", raw, from, got, score)
			}
			through := ranking.CountThrough(score)
			if through <= from || ranking.Score(through-1) != score || through < set.Len() && ranking.Score(through) >= score {
				t.Errorf("%s: %d records have at least the score of record %d", raw, through, from)
			}
		}
		if got := ranking.CountThrough(math.Inf(1)); got != 0 {
			t.Errorf("%s: %d records have the best possible score", raw, got)
		}
	}
}

// TestLengthOrder checks the length order of files built in memory and with spill files, and that small files have none.
func TestLengthOrder(t *testing.T) {
	t.Parallel()
	for _, memory := range []int{0, 512, 64 << 10} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			t.Parallel()
			got, lengths := openIndex(t, build.DefaultIndexes().MinRecords, build.Options{Memory: memory}).LengthOrder()
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
	if got, _ := openIndex(t, build.DefaultIndexes().MinRecords-1, build.Options{}).LengthOrder(); len(got) != 0 {
		t.Error("a small file has a length order")
	}
}
