package segment

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// wordy returns records of few distinct words, common and rare ones.
func wordy(r *rand.Rand, n int) []herb.Record {
	vocabulary := []string{"oak", "elm", "ash", "yew", "fir", "box", "bay", "rue", "may", "ivy"}
	records := make([]herb.Record, n)
	for i := range records {
		words := make([]string, 1+r.IntN(12))
		for k := range words {
			words[k] = vocabulary[min(r.IntN(len(vocabulary)), r.IntN(len(vocabulary)), r.IntN(len(vocabulary)))]
		}
		records[i] = herb.Record{strings.Join(words, " "), []string{"a", "b", "c"}[r.IntN(3)]}
	}
	return records
}

func openWordy(t *testing.T, n int, opts Options) *Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	fields := []herb.Field{
		{Name: "words", Type: herb.TypeText, Searchable: true},
		{Name: "kind", Type: herb.TypeText, Searchable: true, Filterable: true},
	}
	records := wordy(rand.New(rand.NewPCG(7, uint64(n))), n)
	seq := func(yield func(herb.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
	if _, err := Create(t.Context(), path, fields, seq, opts); err != nil {
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

// TestLengthOrder checks the order of the section, built in one pass and in many, and that small files have none.
func TestLengthOrder(t *testing.T) {
	t.Parallel()
	for _, memory := range []int{0, 512, 64 << 10} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			t.Parallel()
			r := openWordy(t, lengthOrderMin, Options{Memory: memory})
			got := r.words.lengthOrder.appendTo(nil)
			want := make([]uint32, r.Len())
			for i := range want {
				want[i] = uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int {
				return int(r.words.lengths.at(int(a))) - int(r.words.lengths.at(int(b)))
			})
			if !slices.Equal(got, want) {
				t.Error("the records are not in the order of their lengths")
			}
		})
	}
	if r := openWordy(t, lengthOrderMin-1, Options{}); r.words.lengthOrder.len() != 0 {
		t.Error("a small file has the section")
	}
}

// withoutLengthOrder returns a reader without a length order, which examines all matches.
func withoutLengthOrder(r *Reader) *Reader {
	plain := &Reader{columns: r.columns, meta: r.meta, starts: r.starts, records: r.records}
	plain.words.terms, plain.words.ids, plain.words.postingsTable = r.words.terms, r.words.ids, r.words.postingsTable
	plain.words.forward, plain.words.starts, plain.words.lengths = r.words.forward, r.words.starts, r.words.lengths
	plain.words.average = r.words.average
	return plain
}

// TestTopByLength compares pages found in length order with those found by examining all matches.
func TestTopByLength(t *testing.T) {
	t.Parallel()
	r := openWordy(t, 20_000, Options{})
	used := 0
	for _, raw := range []string{
		"search=oak", "search=elm", "search=ivy", "search=oak+elm", "search=oak+elm+ash", "search=oak&kind=b", "search=oak+-elm",
		"search=oak+a", "search=a", "search=%22oak+elm%22", "search=oak+%22elm+ash%22", "search=o*", "search=oak+e*",
	} {
		for _, page := range []int{1, 2, 3, 7, 20, 100} {
			q, err := query.Parse(fmt.Sprintf("%s&page=%d&per_page=13", raw, page), r.Fields())
			if err != nil {
				t.Fatal(err)
			}
			got, total, err := r.findPage(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			set, clauses, err := r.evaluate(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			if v := newRelevance(newSteps(t.Context()), r, clauses); set != nil {
				more, err := v.frequencies(set)
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := v.topByLength(set, more, min(13*page, total)); ok {
					used++
				}
			}
			want, wantTotal, err := withoutLengthOrder(r).findPage(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			if total != wantTotal || !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %d records, %v; want %d, %v", raw, page, total, got, wantTotal, want)
			}
		}
	}
	if used < 10 {
		t.Errorf("only %d pages were found in length order", used)
	}
}

// TestLengthOrder_invalid checks that an invalid length order is ignored.
func TestLengthOrder_invalid(t *testing.T) {
	t.Parallel()
	r := openWordy(t, 20_000, Options{})
	bad := slices.Clone([]byte(r.words.lengthOrder))
	for i := 0; i < len(bad); i += 4 {
		binary.LittleEndian.PutUint32(bad[i:], 1<<31)
	}
	r.words.lengthOrder = bad
	q, err := query.Parse("search=oak", r.Fields())
	if err != nil {
		t.Fatal(err)
	}
	if page, err := r.List(t.Context(), q); err != nil || page.Total == 0 {
		t.Errorf("%d records, %v", page.Total, err)
	}
}
