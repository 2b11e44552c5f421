package fulltext_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/text"
)

// noIndexes returns rules with which a file has no optional indexes.
func noIndexes() build.IndexRules {
	return build.IndexRules{MinRecords: math.MaxInt}
}

// randomRecords returns n records of few distinct words, common and rare ones. A few records are
// long.
func randomRecords(n int) []herb.Record {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	vocabulary := []string{"oak", "elm", "ash", "yew", "fir", "box", "bay", "rue", "may", "ivy"}
	records := make([]herb.Record, n)
	for i := range records {
		words := make([]string, 1+r.IntN(12))
		if r.IntN(400) == 0 {
			words = make([]string, r.IntN(1500))
		}
		for k := range words {
			words[k] = vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))]
		}
		records[i] = herb.Record{strings.Join(words, " "), []string{"a", "b", "c"}[r.IntN(3)]}
	}
	return records
}

// openIndex builds a file with n random records, and opens its full-text index.
func openIndex(t *testing.T, n int, opts build.Options) *fulltext.Index {
	t.Helper()
	return openRecords(t, randomRecords(n), opts)
}

// openRecords builds a file, and opens its full-text index.
func openRecords(t *testing.T, records []herb.Record, opts build.Options) *fulltext.Index {
	t.Helper()
	f := buildtest.Open(t, fields(), len(records), func(i int) herb.Record { return records[i] }, opts)
	index, err := fulltext.Open(f, &bitmap.Pool{Records: len(records)})
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
func search(t *testing.T, index *fulltext.Index, n int, raw string) (*bitmap.Set, []*fulltext.Clause,
	*fulltext.Scorer) {
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

// compareSearches compares pages of searches in files with and without optional indexes. It returns
// how often the first clauses had each kind of postings.
func compareSearches(t *testing.T, searches ...string) map[string]int {
	t.Helper()
	const n, perPage = 5000, 13
	with, without := openIndex(t, n, build.Options{Indexes: buildtest.AllIndexes()}),
		openIndex(t, n, build.Options{Indexes: noIndexes()})
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
			if got, want := gotScorer.Page(gotSet, from, to),
				wantScorer.Page(wantSet, from, to); !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %v; want %v", raw, page, got, want)
			}
		}
	}
	return sources
}

// TestBigrams compares phrase searches in files with and without bigrams, and checks that these are
// used.
func TestBigrams(t *testing.T) {
	t.Parallel()
	sources := compareSearches(t,
		"%22oak+elm%22", "%22elm+oak%22", "%22oak+ivy%22", "%22oak+oak%22", "%22oak+elm+ash%22",
		"%22oak+oak+oak+oak%22", "%22ivy+ivy%22",
		"%22oak+elm%22+ash", "%22oak+e*%22", "%22oak+elm+a*%22", "oak+-%22oak+elm%22", "%22oak+absent%22",
		"%22a+oak%22",
	)
	if sources["bigrams"] < 5 {
		t.Errorf("postings: %v; want at least 5 bigrams", sources)
	}
}

// TestBigrams_fields compares searches for phrases within fields in files with and without bigrams.
func TestBigrams_fields(t *testing.T) {
	t.Parallel()
	const n = 1500
	for _, searchable := range []int{2, 8, 10} {
		var fields []herb.Field
		for i := range searchable {
			fields = append(fields, herb.Field{Name: fmt.Sprint("f", i), Type: herb.TypeText, Searchable: true,
				Weight: 1 + i%3})
		}
		open := func(memory int, indexes build.IndexRules) *fulltext.Index {
			g := rand.New(rand.NewPCG(9, 9))
			f := buildtest.Open(t, fields, n, func(int) herb.Record {
				record := make(herb.Record, searchable)
				for i := range record {
					for range g.IntN(5) {
						record[i] += []string{"oak ", "elm ", "ash "}[g.IntN(3)]
					}
				}
				return record
			}, build.Options{Indexes: indexes, Memory: memory})
			index, err := fulltext.Open(f, &bitmap.Pool{Records: n})
			if err != nil {
				t.Fatal(err)
			}
			return index
		}
		without, with := open(0, noIndexes()), map[string]*fulltext.Index{"": open(0, buildtest.AllIndexes()),
			", spilled": open(1, buildtest.AllIndexes())}
		for _, field := range []string{"f0", "f1", fields[searchable-1].Name} {
			for _, search := range []string{"%22oak+elm%22", "%22oak+oak%22", "%22oak+elm+oak%22", "-%22ash+elm%22",
				"%22oak+elm%22+%22elm+oak%22", "oak-e*"} {
				raw := field + "[match]=" + search
				q, err := query.Parse(raw, fields)
				if err != nil {
					t.Fatal(err)
				}
				st := guard.NewSteps(t.Context())
				evaluate := func(index *fulltext.Index) []uint32 {
					set := plan.Evaluate(st, &bitmap.Pool{Records: n}, index.Match(st, q.Conditions[0]), nil)
					return set.Slice(st, 0, set.Len())
				}
				want := evaluate(without)
				for name, index := range with {
					if got := evaluate(index); !slices.Equal(got, want) || len(want) == 0 {
						t.Errorf("%d fields%s: %s: %d records; want %d", searchable, name, raw, len(got), len(want))
					}
				}
			}
		}
		for name, index := range with {
			wantSet, _, wantScorer := search(t, without, n, "%22oak+elm+oak%22")
			set, _, scorer := search(t, index, n, "%22oak+elm+oak%22")
			if got, want := scorer.Page(set, 0, set.Len()),
				wantScorer.Page(wantSet, 0, wantSet.Len()); !slices.Equal(got, want) {
				t.Errorf("%d fields%s: found %d records; want %d, in another order", searchable, name,
					len(got), len(want))
			}
		}
	}
}

// TestMatch_manyRecords searches within a field of more records than a container of a set has.
func TestMatch_manyRecords(t *testing.T) {
	t.Parallel()
	const n = bitmap.ContainerMembers + 4000
	texts := []string{"oak elm ash", "elm ash oak", "oak elm oak elm", "ash"}
	indexes := build.DefaultIndexes()
	indexes.Prefixes.MaxFieldSets = 0
	f := buildtest.Open(t, fields(), n, func(i int) herb.Record {
		return herb.Record{texts[i*i%7%len(texts)], texts[i%5%len(texts)]}
	}, build.Options{Indexes: indexes})
	index, err := fulltext.Open(f, &bitmap.Pool{Records: n})
	if err != nil {
		t.Fatal(err)
	}
	for search, matching := range map[string][]bool{"oak": {true, true, true, false},
		"%22oak+elm+ash%22": {true, false, false, false}, "a*": {true, true, false, true}} {
		q, err := query.Parse("kind[match]="+search, fields())
		if err != nil {
			t.Fatal(err)
		}
		st := guard.NewSteps(t.Context())
		set := plan.Evaluate(st, &bitmap.Pool{Records: n}, index.Match(st, q.Conditions[0]), nil)
		for i := range n {
			if got, want := set.Has(uint32(i)), matching[i%5%len(texts)]; got != want {
				t.Fatalf("%s: record %d: %t, want %t", search, i, got, want)
			}
		}
	}
}

// TestBigrams_rareWord searches for phrases of a rare word and a bigram: as many parts as bigrams
// would be.
func TestBigrams_rareWord(t *testing.T) {
	t.Parallel()
	const n, rare = 1500, 700
	fields := []herb.Field{{Name: "text", Type: herb.TypeText, Searchable: true}}
	indexes := buildtest.AllIndexes()
	indexes.Bigrams = build.BigramRules{Share: 1 << 10, MaxPerEight: 8} // none of the rare word
	f := buildtest.Open(t, fields, n, func(i int) herb.Record {
		if i == rare {
			return herb.Record{"yew ash oak elm"}
		}
		return herb.Record{"ash oak elm"}
	}, build.Options{Indexes: indexes})
	index, err := fulltext.Open(f, &bitmap.Pool{Records: n})
	if err != nil {
		t.Fatal(err)
	}
	for phrase, want := range map[string]int{"yew ash oak": 1, "yew oak elm": 0, "oak elm yew": 0, "yew ash oak elm": 1,
		"ash oak elm": n, "yew oak": 0} {
		st := guard.NewSteps(t.Context())
		clause := index.Clause(st, query.Clause{Words: strings.Fields(phrase)})
		if got := plan.Evaluate(st, &bitmap.Pool{Records: n}, []plan.Term{{Condition: clause}},
			nil).Len(); got != want {
			t.Errorf("%q: %d records; want %d", phrase, got, want)
		}
	}
}

// TestPrefixPostings compares prefix searches in files with and without prefix postings, and checks
// that these are used.
func TestPrefixPostings(t *testing.T) {
	t.Parallel()
	sources := compareSearches(t,
		"a*", "o*", "oa*", "oak*", "e*", "el*", "b*", "i*", "z*", "a*+oak", "b*+e*", "oak+-b*", "oak-b*", "oak-elm-a*",
		"%22oak+b*%22",
		"b*+-oak",
	)
	if sources["prefixes"] < 4 || sources["terms"] < 4 {
		t.Errorf("postings: %v; want at least 4 of prefixes and of terms", sources)
	}
}

// TestFieldPostings compares searches within a field in files with and without field postings of
// prefixes, and checks that field postings are used.
func TestFieldPostings(t *testing.T) {
	t.Parallel()
	const n = 5000
	with, without := openIndex(t, n, build.Options{Indexes: buildtest.AllIndexes()}),
		openIndex(t, n, build.Options{Indexes: noIndexes()})
	some := buildtest.AllIndexes()
	some.Prefixes.MaxFieldSets = 8
	partial := openIndex(t, n, build.Options{Indexes: some})
	stored := 0
	for _, raw := range []string{
		"words[match]=oak", "words[match]=a", "kind[match]=a", "kind[match]=a*", "words[match]=a*",
		"words[match]=o*+-b*", "kind[match]=oak",
		"words[match]=z*", "words[match]=absent", "words[match]=oak&words[match]=e*", "words[match]=i*",
		"words[match]=%22oak+elm%22",
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
			if _, ok := terms[0].Condition.(plan.StoredCondition); ok && index == with {
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

// TestScorer_candidates compares pages of the best records with those found by scoring all, and
// checks that for some of them, few records were scored.
func TestScorer_candidates(t *testing.T) {
	t.Parallel()
	const n = 20_000
	index := openIndex(t, n, build.Options{Indexes: buildtest.AllIndexes()})
	selected := 0
	for _, raw := range []string{
		"oak", "elm", "ivy", "elm+-oak", "a", "%22oak+oak%22", "%22oak+elm%22", "o*", "e*", "b*", "a*", "oak+elm",
		"oak+e*", "elm+%22oak+oak%22",
	} {
		set, _, scorer := search(t, index, n, raw)
		for _, n := range []int{1, 2, 13, 26, 100, 300, 700} {
			n = min(n, set.Len())
			want := scorer.Order(set).Page(0, n)
			if got := scorer.Page(set, 0, n); !slices.Equal(got, want) {
				t.Errorf("%s, the first %d: %v; want %v", raw, n, got, want)
			}
			best := scorer.Candidates(set, n)
			if best == 0 {
				continue
			}
			selected++
			if best < n || best > set.Len()/2+n {
				t.Errorf("%s, the first %d: %d candidates of %d records", raw, n, best, set.Len())
			}
		}
	}
	if selected < 8 {
		t.Errorf("only %d pages were found without scoring all records", selected)
	}
}

// TestScorer_candidates_once searches for a word that short records contain once and some long ones
// twice. The short ones are better.
func TestScorer_candidates_once(t *testing.T) {
	t.Parallel()
	const n, first = 20_000, 13
	records := make([]herb.Record, n)
	for i := range records {
		records[i] = herb.Record{"oak" + strings.Repeat(" elm", i*7%50), "a"}
		if i%10 == 0 {
			records[i] = herb.Record{"oak oak" + strings.Repeat(" elm", 40), "a"}
		}
	}
	set, _, scorer := search(t, openRecords(t, records, build.Options{}), n, "oak")
	if got := scorer.Candidates(set, first); got == 0 || got > n/10+first {
		t.Errorf("%d candidates", got)
	}
	want := orderAll(records, "oak")
	for i, rec := range scorer.Page(set, 0, first) {
		if rec != want[i].record {
			t.Errorf("record %d is %d; want %d", i, rec, want[i].record)
		}
	}
}

// foundRecord is a record with its score.
type foundRecord struct {
	record uint32
	score  float64
}

// orderAll returns the records of a search for words and prefixes, in alphabetical order, by score.
// It reads the records themselves.
func orderAll(records []herb.Record, search string) (all []foundRecord) {
	words, total := make([][]string, len(records)), 0
	for i, rec := range records {
		words[i] = append(strings.Fields(rec[0]), rec[1])
		total += len(words[i])
	}
	scores, matched := make([]float64, len(records)), make([]int, len(records))
	clauses := strings.Split(search, "+")
	for _, clause := range clauses {
		counts, matching := make([]int, len(records)), 0
		for i := range records {
			for _, word := range words[i] {
				if prefix, ok := strings.CutSuffix(clause, "*"); word == clause || ok &&
					strings.HasPrefix(word, prefix) {
					counts[i]++
				}
			}
			if counts[i] > 0 {
				matching++
				matched[i]++
			}
		}
		for i, n := range counts {
			average := float64(total) / float64(len(records))
			scores[i] += text.Score(text.IDF(len(records), matching), n, len(words[i]), average)
		}
	}
	for i, score := range scores {
		if matched[i] == len(clauses) {
			all = append(all, foundRecord{uint32(i), score})
		}
	}
	slices.SortStableFunc(all, func(a, b foundRecord) int { return cmp.Compare(b.score, a.score) })
	return all
}

// TestScoreOrder compares orders by score with the order computed from the records.
func TestScoreOrder(t *testing.T) {
	t.Parallel()
	const n = bitmap.ContainerMembers + 3000
	records, index := randomRecords(n), openIndex(t, n, build.Options{Indexes: buildtest.AllIndexes()})
	for _, raw := range []string{"oak", "ivy", "oak+elm", "o*+e*", "ash+b*+elm+oak", "bay+box+ivy+may+rue"} {
		set, _, scorer := search(t, index, n, raw)
		want := orderAll(records, raw)
		if set.Len() != len(want) {
			t.Fatalf("%s: %d records; want %d", raw, set.Len(), len(want))
		}
		checkScoreOrder(t, raw, scorer.Order(set), want)
	}
}

func checkScoreOrder(t *testing.T, name string, r *fulltext.ScoreOrder, want []foundRecord) {
	t.Helper()
	for _, from := range []int{0, 1, 500, len(want) / 2, len(want) - 30} {
		from = max(min(from, len(want)-1), 0)
		to := min(from+700, len(want))
		for i, rec := range r.Page(from, to) {
			if rec != want[from+i].record {
				t.Errorf("%s: record %d is %d; want %d", name, from+i, rec, want[from+i].record)
				break
			}
		}
		score := want[from].score
		if got := r.Score(from); got != score {
			t.Errorf("%s: record %d has the score %v; want %v", name, from, got, score)
		}
	}
}

// TestScorer_pages reads pages of searches in which many records have the same score. The records
// of a score are in the order of their numbers, and a page can begin or end between two of them.
func TestScorer_pages(t *testing.T) {
	t.Parallel()
	const n, perPage = 5000, 25
	for _, tt := range []struct {
		name  string
		words func(record int) string
	}{
		{"one score", func(int) string { return "oak" }},
		{"one score, half of the records", func(i int) string { return []string{"elm", "oak"}[i%2] }},
		{"two scores", func(i int) string { return []string{"oak elm", "oak"}[i%2] }},
		{"scores with fewer records than a page", func(i int) string { return "oak" + strings.Repeat(" elm", i%400) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			records := make([]herb.Record, n)
			for i := range records {
				records[i] = herb.Record{tt.words(i), "a"}
			}
			set, _, scorer := search(t, openRecords(t, records, build.Options{}), n, "oak")
			want := orderAll(records, "oak")
			for _, page := range []int{0, 1, 2, 50, len(want)/perPage - 1} {
				from := page * perPage
				for i, rec := range scorer.Page(set, from, from+perPage) {
					if rec != want[from+i].record {
						t.Errorf("page %d: record %d is %d; want %d", page+1, i, rec, want[from+i].record)
						break
					}
				}
			}
		})
	}
}

// TestScoreOrder_distinct orders records of which no two have the same length and frequencies.
func TestScoreOrder_distinct(t *testing.T) {
	t.Parallel()
	const most, raw = 70, "oak+elm"
	var records []herb.Record
	for i := range most * most {
		records = append(records, herb.Record{strings.Repeat("oak ", 1+i%most) + strings.Repeat("elm ", 1+i/most), "a"})
	}
	set, _, scorer := search(t, openRecords(t, records, build.Options{}), len(records), raw)
	checkScoreOrder(t, raw, scorer.Order(set), orderAll(records, raw))
}

// TestScoreOrder_none orders the records of a search for an unknown word.
func TestScoreOrder_none(t *testing.T) {
	t.Parallel()
	set, _, scorer := search(t, openIndex(t, 100, build.Options{}), 100, "oak+absent")
	scorer.Order(set)
	if set.Len() > 0 {
		t.Errorf("%d records; want 0", set.Len())
	}
}

// TestLengthOrder checks the length order of files built in memory and with spill files.
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
}
