package fulltext

import (
	"cmp"
	"slices"

	"herbarium/internal/segment/internal/guard"
)

// maxTopWords is the number of words that are counted by field.
const maxTopWords = 1000

// WordCount is a word and the number of records that contain it.
type WordCount struct {
	Word    string
	Records int
}

// TopWords finds the words that most records contain in one field.
type TopWords struct {
	index *Index
	words []WordCount // in any field; the most frequent first
}

// NewTopWords returns a search for frequent words among those that skip does not reject.
func (w *Index) NewTopWords(st *guard.Steps, skip func(word string) bool) *TopWords {
	f := &TopWords{index: w}
	least := 1
	for i := range w.terms.Len() {
		st.Add(1)
		n := w.docs.Set(int(w.ids.At(i))).Len()
		if n < least {
			continue
		}
		if word := string(w.terms.At(i)); !skip(word) {
			f.words = append(f.words, WordCount{word, n})
		}
		if len(f.words) == 2*maxTopWords {
			f.cut()
			least = f.words[maxTopWords-1].Records
		}
	}
	f.cut()
	return f
}

// cut keeps the most frequent words.
func (f *TopWords) cut() {
	slices.SortStableFunc(f.words, func(a, b WordCount) int { return cmp.Compare(b.Records, a.Records) })
	f.words = f.words[:min(len(f.words), maxTopWords)]
}

// In returns the words that most records contain in a searchable field, at most top of them, the
// most frequent first, ties in the order of the words. No other word is in more records of the
// field: words that cannot be compared with all others, because there are too many, are left out.
func (f *TopWords) In(st *guard.Steps, field, top int) (words []WordCount) {
	unknown := 0 // records of the first word that is not counted
	for _, w := range f.words {
		st.Check()
		unknown = w.Records
		if len(words) == top && unknown <= words[top-1].Records {
			break
		}
		unknown = 0
		if f.index.searchable > 1 {
			w.Records = f.count(field, w.Word)
		}
		at, _ := slices.BinarySearchFunc(words, w, func(a, b WordCount) int {
			return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Word, b.Word))
		})
		if w.Records > 0 && at < top {
			words = slices.Insert(words, at, w)
			words = words[:min(len(words), top)]
		}
	}
	if len(f.words) == maxTopWords && unknown == 0 {
		unknown = f.words[maxTopWords-1].Records
	}
	return slices.DeleteFunc(words, func(w WordCount) bool { return w.Records < unknown })
}

// count returns the number of records that contain a word in a field.
func (f *TopWords) count(field int, word string) int {
	t, _ := f.index.terms.Find(word)
	return f.index.inField(f.index.ids.At(t), &f.index.fields[field]).Len()
}
