package fulltext

import (
	"fmt"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// postingsTable contains the postings of numbered terms, bigrams or prefixes.
type postingsTable struct {
	docs  bitmap.Table // records of each
	freqs bitmap.Table // term-frequency postings: records with a frequency above 1, followed by the frequencies
}

func openPostings(f *file.File, docs, freqs file.Tag) (t postingsTable, err error) {
	if t.docs, err = bitmap.OpenTable(f.Section(docs, file.NoField)); err != nil {
		return t, err
	}
	t.freqs, err = bitmap.OpenTable(f.Section(freqs, file.NoField))
	if err == nil && t.docs.Len() != t.freqs.Len() {
		err = fmt.Errorf("%w: section %s", guard.ErrCorrupt, freqs)
	}
	return t, err
}

// MaxFrequency is the maximum stored frequency; it also represents all higher ones.
const MaxFrequency = 255

// Index is the full-text index of a segment.
type Index struct {
	postingsTable // of the terms, by number
	bigrams       bigrams
	prefixes      prefixPostings
	fieldPostings fieldPostings
	terms         file.Strings
	ids           file.U32s // by term, its number
	forward       []byte
	starts        file.U64s
	lengths       file.U32s // number of words by record
	lengthOrder   file.U32s // records by ascending number of words; empty in small files
	words         int       // number of words of all records
	fields        []fieldPart
	searchable    int // number of searchable fields
	pool          *bitmap.Pool
}

// Open returns the index of a file.
func Open(f *file.File, pool *bitmap.Pool) (w *Index, err error) {
	section := func(t file.Tag) []byte { return f.Section(t, file.NoField) }
	w = &Index{
		pool: pool, words: f.Meta.Words,
		ids: section(file.TagIDs), forward: section(file.TagForward), starts: section(file.TagFStarts),
		lengths: section(file.TagLengths), lengthOrder: section(file.TagLengthOrder),
	}
	w.fields, w.searchable = fieldParts(f)
	if w.terms.Table, err = file.OpenTable(section(file.TagTerms)); err != nil {
		return nil, err
	}
	if w.postingsTable, err = openPostings(f, file.TagDocs, file.TagFreqs); err != nil {
		return nil, err
	}
	n, t := f.Meta.Records, w.terms.Len()
	if w.starts.Len() != n+1 || w.lengths.Len() != n || w.ids.Len() != t || w.docs.Len() != t ||
		w.lengthOrder.Len() != 0 && w.lengthOrder.Len() != n {
		return nil, fmt.Errorf("%w: words", guard.ErrCorrupt)
	}
	if w.prefixes, err = openPrefixPostings(f); err != nil {
		return nil, err
	}
	if w.fieldPostings, err = openFieldPostings(f, w.searchable); err != nil {
		return nil, err
	}
	w.bigrams, err = openBigrams(f)
	return w, err
}
