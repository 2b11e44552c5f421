package fulltext

import (
	"fmt"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// postingsTable contains the postings of numbered terms, bigrams or prefixes.
type postingsTable struct {
	docs  bitmap.Table // by number, the records
	freqs bitmap.Table // term-frequency postings: records with a frequency above 1, followed by the frequencies
}

// MaxFrequency is the maximum stored frequency; it also represents all higher ones.
const MaxFrequency = 255

// Index is the full-text index of a segment.
type Index struct {
	postingsTable // of the terms, by number
	bigrams       bigrams
	prefixes      prefixPostings
	terms         file.Strings
	ids           file.U32s // by term, its number
	forward       []byte    // FWRD: forward index
	starts        file.U64s // by record, the start of its words in forward; and the end of the last
	lengths       file.U32s // number of words by record
	lengthOrder   file.U32s // records by ascending number of words
	words         int       // number of words of all records
	fieldPostings fieldPostings
	fields        []searchField
	weights       []int // by searchable field
	searchable    int   // number of searchable fields
	pool          *bitmap.Pool
}

// Open returns the index of a file.
func Open(f *file.File, pool *bitmap.Pool) (w *Index, err error) {
	section := func(t file.Tag) []byte { return f.Section(t, file.NoField) }
	w = &Index{
		pool: pool, words: f.Meta.Words,
		ids: section(file.TagTermNumbers), forward: section(file.TagForwardIndex),
		starts:  section(file.TagForwardOffsets),
		lengths: section(file.TagLengths), lengthOrder: section(file.TagLengthOrder),
	}
	w.fields, w.weights = searchFields(f)
	w.searchable = len(w.weights)
	w.bigrams.common = section(file.TagBigrams)
	w.prefixes.ranges.U32s = section(file.TagPrefixes)
	for tag, table := range map[file.Tag]*file.Table{file.TagTerms: &w.terms.Table,
		file.TagFieldPostings: &w.fieldPostings.Table} {
		*table, err = file.OpenTable(section(tag))
		if err != nil {
			return nil, err
		}
	}
	for tag, table := range map[file.Tag]*bitmap.Table{
		file.TagTermPostings: &w.docs, file.TagBigramPostings: &w.bigrams.docs,
		file.TagPrefixPostings:  &w.prefixes.docs,
		file.TagTermFrequencies: &w.freqs, file.TagBigramFrequencies: &w.bigrams.freqs,
		file.TagPrefixFrequencies: &w.prefixes.freqs,
	} {
		*table, err = bitmap.OpenTable(section(tag))
		if err != nil {
			return nil, err
		}
	}
	for _, t := range []*postingsTable{&w.postingsTable, &w.bigrams.postingsTable, &w.prefixes.postingsTable} {
		if t.docs.Len() != t.freqs.Len() {
			return nil, fmt.Errorf("%w: term frequencies", guard.ErrCorrupt)
		}
	}
	n, t, common := f.Meta.Records, w.terms.Len(), w.bigrams.common.Len()
	if w.starts.Len() != n+1 || w.lengths.Len() != n || w.lengthOrder.Len() != n || w.ids.Len() != t ||
		w.docs.Len() != t ||
		common%2 != 0 || (common == 0) != (w.bigrams.docs.Len() == 0) || w.searchable > 1 &&
		w.fieldPostings.Len() != t+w.prefixes.docs.Len() ||
		w.prefixes.ranges.Len() != 2*w.prefixes.docs.Len() {
		return nil, fmt.Errorf("%w: full-text index", guard.ErrCorrupt)
	}
	return w, nil
}
