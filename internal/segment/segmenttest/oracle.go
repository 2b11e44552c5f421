package segmenttest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Oracle answers requests by a full scan of a slice of records. It implements the rules of
// docs/api.md literally, for clarity only; the comment of each function names the section. If an
// engine disagrees with it, either the engine is wrong or the documentation is incomplete.
//
// It shares the parsing of requests, lists, words and collation keys with the engines, but no
// decisions. Four results are shared all the same, and checked elsewhere: the boundaries of
// histograms (package query has a reference implementation), the notation of numbers in labels
// (package text), the recognition of coordinates with the middle of geometries (package geo), and
// the types for other programs (package typed).
type Oracle struct {
	fields  []herb.Field
	records []herb.Record
	words   [][][]string // by record, by searchable field
	weights []int        // by searchable field
	average float64      // mean number of words in the searchable fields of a record, weighted

	parsed  []func() []parsedValue     // by field, by record; computed on first use
	written []func() map[string]string // by scalar field: its values as first written

	coordinates func() []herb.Coordinates
}

// NewOracle returns the oracle of a dataset. It caches only the words of the records and their
// parsed values.
func NewOracle(fields []herb.Field, records []herb.Record) *Oracle {
	o := &Oracle{fields: fields, records: records}
	o.coordinates = sync.OnceValue(func() []herb.Coordinates {
		return geo.Recognize(fields, records, geo.Declaration{})
	})
	total := 0
	for _, f := range fields {
		if f.Searchable {
			o.weights = append(o.weights, max(f.Weight, 1))
		}
	}
	for _, rec := range records {
		var words [][]string
		for i, f := range fields {
			if f.Searchable {
				words = append(words, searchWords(&f, rec[i]))
			}
		}
		o.words = append(o.words, words)
		total += o.count(words)
	}
	if len(records) > 0 {
		o.average = float64(total) / float64(len(records))
	}
	for i, f := range fields {
		o.parsed = append(o.parsed, sync.OnceValue(func() []parsedValue {
			places := make([]parsedValue, len(records))
			for n, rec := range records {
				places[n] = parseValue(f, rec[i])
			}
			return places
		}))
		o.written = append(o.written, sync.OnceValue(func() map[string]string { return firstWritings(f, i, records) }))
	}
	return o
}

// Find returns the records of the requested page and the total on all pages.
func (o *Oracle) Find(r *query.Request) (page []herb.Record, total int) {
	all := o.findAll(r)
	for i, n := range all {
		if i/r.PerPage == r.Page-1 {
			page = append(page, o.records[n])
		}
	}
	return page, len(all)
}

// List implements query.Engine.
func (o *Oracle) List(_ context.Context, r *query.Request) (query.Page, error) {
	if err := o.check(r); err != nil {
		return query.Page{}, err
	}
	records, total := o.Find(r)
	page := query.Page{Total: total}
	for _, rec := range records {
		page.Records = append(page.Records, rec.AppendJSON(nil, o.fields))
	}
	return page, nil
}

// check returns an error if the request cannot be answered.
//
// Rule: docs/api.md, "Limits".
func (o *Oracle) check(r *query.Request) error {
	if _, err := r.Words(o.occurs); err != nil {
		return err
	}
	_, err := o.placesOf(&r.Area)
	return err
}

// Stream implements query.Engine.
func (o *Oracle) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	if err := o.check(r); err != nil {
		return query.Stream{}, err
	}
	all := o.findAll(r)
	return query.Stream{Total: len(all), Records: func(yield func([]byte, error) bool) {
		for _, n := range all {
			if err := ctx.Err(); !yield(o.records[n].AppendJSON(nil, o.fields), err) || err != nil {
				return
			}
		}
	}}, nil
}

// findAll returns the indexes of all matching records in the order of the request.
//
// Rule: docs/api.md, "List records".
func (o *Oracle) findAll(r *query.Request) []int {
	var found []int
	places, _ := o.placesOf(&r.Area)
	meets := memoizedConditions(o.fields, r)
	for n, rec := range o.records {
		if (places == nil || places[n].isInArea(&r.Area)) && meets(rec) &&
			(r.Search == nil || contains(o.words[n], r.Search)) {
			found = append(found, n)
		}
	}
	switch {
	case r.Distance != query.AnyDistance:
		o.byDistance(found, r, places)
	case len(r.Sort) > 0:
		slices.SortStableFunc(found, func(a, b int) int { return o.compare(a, b, r.Sort) })
	case r.Search != nil:
		scores := o.scores(r.Search)
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	return found
}

// compare compares two records by several fields. The first field whose values differ decides.
//
// Rule: docs/api.md, "Sorting".
func (o *Oracle) compare(a, b int, sort []query.SortField) int {
	for _, f := range sort {
		values := o.parsed[f.Field]()
		if c := compareForSort(values[a], values[b], f.Desc); c != 0 {
			return c
		}
	}
	return 0
}

// scores returns the BM25 score of every record. IDF is computed over the whole dataset, regardless
// of filters.
//
// Rule: docs/api.md, "Relevance".
func (o *Oracle) scores(s *query.Search) []float64 {
	scores := make([]float64, len(o.records))
	for _, c := range s.Clauses {
		if c.Exclude {
			continue
		}
		matching := 0
		for n := range o.records {
			if o.times(n, c) > 0 {
				matching++
			}
		}
		bonus := 0. // for the word as written
		if slices.ContainsFunc(c.Forms, o.occurs) {
			bonus = idf(len(o.records), matching) * (k1 + 1)
		}
		asWritten := c
		asWritten.Forms = nil
		for n := range o.records {
			length := o.count(o.words[n])
			if times := o.times(n, asWritten); times > 0 {
				scores[n] += bm25(len(o.records), matching, times, length, o.average) + bonus
			} else if times := o.times(n, c); times > 0 {
				scores[n] += bm25(len(o.records), matching, times, length, o.average)
			}
		}
	}
	return scores
}

// occurs reports whether a word occurs in any searchable field of any record.
//
// Rule: docs/api.md, "Other forms of words".
func (o *Oracle) occurs(word string) bool {
	return slices.ContainsFunc(o.words, func(fields [][]string) bool {
		return slices.ContainsFunc(fields, func(words []string) bool { return slices.Contains(words, word) })
	})
}

// Words implements query.Engine.
//
// Rule: docs/api.md, "Other forms of words".
func (o *Oracle) Words(r *query.Request) (query.Words, error) {
	return r.Words(o.occurs)
}

// k1 and b are the parameters of BM25.
const k1, b = 1.2, 0.75

// Rule: docs/api.md, "Relevance".
func idf(records, matching int) float64 {
	return math.Log(1 + (float64(records-matching)+0.5)/(float64(matching)+0.5))
}

// bm25 returns the score of a clause in a record. Products are rounded before they are added or
// divided: equal scores are ties, so the last bit decides.
//
// Rule: docs/api.md, "Relevance".
func bm25(records, matching, times, length int, average float64) float64 {
	f := float64(times)
	weighted := float64(b * float64(length))
	norm := float64(k1 * (1 - b + weighted/average))
	occurring := float64(f * (k1 + 1))
	return float64(idf(records, matching) * (occurring / (f + norm)))
}

// times returns the weighted number of occurrences of a clause in a record.
//
// Rule: docs/api.md, "Relevance".
func (o *Oracle) times(record int, c query.Clause) int {
	n := 0
	for i, words := range o.words[record] {
		n += o.weights[i] * occurrences([][]string{words}, c)
	}
	return n
}

// count returns the weighted number of words in all fields.
//
// Rule: docs/api.md, "Relevance".
func (o *Oracle) count(fields [][]string) int {
	n := 0
	for i, words := range fields {
		n += o.weights[i] * len(words)
	}
	return n
}
