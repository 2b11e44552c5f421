package listtest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Oracle lists a slice of records by looking at every one of them. It is written straight from the rules, for clarity
// alone, and shares no matching code with any engine: where an engine disagrees with it, the engine is wrong, or the
// rules need another sentence.
type Oracle struct {
	fields  []herb.Field
	records []herb.Record
	words   [][][]string // of each record, of each searchable field
	weights []int        // of each searchable field
	average float64      // words in the searchable fields of a record, each as often as it counts

	places  []func() []placed          // of each field, of each record; worked out when first needed
	written []func() map[string]string // of each number field, its values as they are first written
	decoder decoder                    // of what engines answer
}

// NewOracle returns the oracle of a dataset. Only what is asked for again and again is kept: the words of the records,
// and the places of their values.
func NewOracle(fields []herb.Field, records []herb.Record) *Oracle {
	o := &Oracle{fields: fields, records: records, decoder: decoder{fields: fields}}
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
				words = append(words, text.AppendWords(nil, rec[i]))
			}
		}
		o.words = append(o.words, words)
		total += o.count(words)
	}
	if len(records) > 0 {
		o.average = float64(total) / float64(len(records))
	}
	for i, f := range fields {
		o.places = append(o.places, sync.OnceValue(func() []placed {
			places := make([]placed, len(records))
			for n, rec := range records {
				places[n] = place(f.Type, rec[i])
			}
			return places
		}))
		o.written = append(o.written, sync.OnceValue(func() map[string]string { return firstWritings(f.Type, i, records) }))
	}
	return o
}

// Find returns the records of the requested page, and how many there are on all pages.
func (o *Oracle) Find(r *query.Request) (page []herb.Record, total int) {
	found := o.findAll(r)
	for i, n := range found {
		if i/r.PerPage == r.Page-1 {
			page = append(page, o.records[n])
		}
	}
	return page, len(found)
}

// List answers as an engine does.
func (o *Oracle) List(_ context.Context, r *query.Request) (query.Page, error) {
	records, total := o.Find(r)
	page := query.Page{Total: total}
	for _, rec := range records {
		b, err := render(o.fields, rec)
		if err != nil {
			return query.Page{}, err
		}
		page.Records = append(page.Records, b)
	}
	return page, nil
}

// findAll returns the numbers of all records that meet the request, in its order.
func (o *Oracle) findAll(r *query.Request) []int {
	var found []int
	for n, rec := range o.records {
		if meetsAll(o.fields, rec, r.Conditions) && (r.Search == nil || contains(o.words[n], r.Search)) {
			found = append(found, n)
		}
	}
	switch {
	case r.Sort != query.NoSort:
		places := o.places[r.Sort]()
		slices.SortStableFunc(found, func(a, b int) int { return compareForSort(places[a], places[b], r.Desc) })
	case r.Search != nil:
		scores := o.scores(r.Search)
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	}
	return found
}

// scores returns the BM25 score of every record. How rare a clause is counts over the whole dataset, whatever the
// filters leave of it.
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
		idf := text.IDF(len(o.records), matching)
		for n := range o.records {
			if times := o.times(n, c); times > 0 {
				scores[n] += text.Score(idf, times, o.count(o.words[n]), o.average)
			}
		}
	}
	return scores
}

// times returns how often a clause counts in a record: in each field as often as it occurs, times the weight.
func (o *Oracle) times(record int, c query.Clause) int {
	n := 0
	for i, words := range o.words[record] {
		n += o.weights[i] * occurrences([][]string{words}, c)
	}
	return n
}

// count returns the number of words in all fields, each as often as it counts.
func (o *Oracle) count(fields [][]string) int {
	n := 0
	for i, words := range fields {
		n += o.weights[i] * len(words)
	}
	return n
}

// render writes a record as a JSON object with the fields in their order.
func render(fields []herb.Field, rec herb.Record) ([]byte, error) {
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(rec[i])
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// metaOf returns the metadata of an answer, counting pages as a person would.
func metaOf(r *query.Request, total int) query.Meta {
	pages := 0
	for n := 0; n < total; n += r.PerPage {
		pages++
	}
	return query.Meta{
		Total:      total,
		Page:       r.Page,
		PerPage:    r.PerPage,
		TotalPages: pages,
		HasNext:    r.Page < pages,
		HasPrev:    r.Page > 1 && total > 0,
	}
}
