package memory

import (
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// words is the inverted index of a version's searchable fields.
type words struct {
	occurrences map[string][]occurrence // in order
	sorted      []string                // all words, for prefixes
	lengths     []int                   // words of each record
	average     float64
}

// occurrence is a place where a word stands.
type occurrence struct {
	record, field, position int32
}

func (o occurrence) compare(p occurrence) int {
	return cmp.Or(cmp.Compare(o.record, p.record), cmp.Compare(o.field, p.field), cmp.Compare(o.position, p.position))
}

func newWords(fields []herb.Field, records []herb.Record) *words {
	w := &words{occurrences: map[string][]occurrence{}, lengths: make([]int, len(records))}
	var buf []string
	total := 0
	for i, r := range records {
		for j, f := range fields {
			if !f.Searchable {
				continue
			}
			buf = text.AppendWords(buf[:0], r[j])
			for k, word := range buf {
				w.occurrences[word] = append(w.occurrences[word], occurrence{int32(i), int32(j), int32(k)})
			}
			w.lengths[i] += len(buf)
		}
		total += w.lengths[i]
	}
	for word := range w.occurrences {
		w.sorted = append(w.sorted, word)
	}
	slices.Sort(w.sorted)
	w.average = float64(total) / float64(max(len(records), 1))
	return w
}

// all returns every record.
func (w *words) all() []hit {
	hits := make([]hit, len(w.lengths))
	for i := range hits {
		hits[i].record = int32(i)
	}
	return hits
}

// search returns the records that meet every clause, in record order, with their scores.
func (w *words) search(s *query.Search) []hit {
	if len(s.Clauses) == 0 {
		return nil
	}
	hits := w.all()
	for _, clause := range s.Clauses {
		counts := map[int32]int{}
		for _, o := range w.find(clause) {
			counts[o.record]++
		}
		if clause.Exclude {
			hits = slices.DeleteFunc(hits, func(h hit) bool { return counts[h.record] > 0 })
			continue
		}
		hits = slices.DeleteFunc(hits, func(h hit) bool { return counts[h.record] == 0 })
		idf := text.IDF(len(w.lengths), len(counts))
		for i := range hits {
			h := &hits[i]
			h.score += text.Score(idf, counts[h.record], w.lengths[h.record], w.average)
		}
	}
	return hits
}

// find returns the places where a clause begins.
func (w *words) find(c query.Clause) []occurrence {
	last := len(c.Words) - 1
	var found []occurrence
	for i, word := range c.Words {
		places := w.occurrences[word]
		if i == last && c.Prefix {
			places = w.withPrefix(word)
		}
		if i == 0 {
			found = slices.Clone(places)
			continue
		}
		found = slices.DeleteFunc(found, func(o occurrence) bool {
			o.position += int32(i)
			_, ok := slices.BinarySearchFunc(places, o, occurrence.compare)
			return !ok
		})
	}
	return found
}

// withPrefix returns the places of all words that begin with a prefix, in order.
func (w *words) withPrefix(prefix string) []occurrence {
	var places []occurrence
	from, _ := slices.BinarySearch(w.sorted, prefix)
	for _, word := range w.sorted[from:] {
		if !strings.HasPrefix(word, prefix) {
			break
		}
		places = append(places, w.occurrences[word]...)
	}
	slices.SortFunc(places, occurrence.compare)
	return places
}
