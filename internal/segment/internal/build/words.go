package build

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
)

// wordsBuilder builds the full-text index of a segment.
type wordsBuilder struct {
	tmp        *tempDir
	memory     int               // bytes for sorting
	searchable int               // number of searchable fields
	copies     []int             // by copy of a field in a record, the searchable field; a field has as many copies as its weight
	categories []text.Categories // by field
	terms      *invertedIndex
	forward    *spillFile
	starts     *spillFile       // u64: by record, its start in forward
	lengths    *spillFile       // u32: by record, its number of words
	at         uint64           // bytes of forward so far
	batches    []wordsBatchSize // in the forward index
	total      int              // number of words of all records
	records    uint32
	rules      IndexRules
	words      []byte // buffer
}

func newWordsBuilder(tmp *tempDir, fields []herb.Field, memory int, rules IndexRules) *wordsBuilder {
	b := &wordsBuilder{
		tmp: tmp, memory: memory, rules: rules, terms: newInvertedIndex(tmp, memory),
		forward: tmp.newSpillFile(), starts: tmp.newSpillFile(), lengths: tmp.newSpillFile(),
	}
	for i, f := range fields {
		b.categories = append(b.categories, text.NewCategories(&fields[i]))
		if f.Searchable {
			b.copies = append(b.copies, slices.Repeat([]int{b.searchable}, max(f.Weight, 1))...)
			b.searchable++
		}
	}
	b.terms.fields = newFieldPostings(tmp, b.searchable)
	return b
}

// add adds the words of the next records: the copies of the fields of each record.
func (b *wordsBuilder) add(words *tokens, records int) {
	words.assignIDs(&b.terms.dictionary)
	b.words = b.words[:0]
	for range records {
		b.starts.writeU64(b.at + uint64(len(b.words)))
		count := 0
		for _, field := range b.copies {
			ids := words.next()
			for _, id := range ids {
				b.words = binary.AppendUvarint(b.words, uint64(id)+1)
				b.terms.addPair(id, b.records, field)
			}
			b.words = append(b.words, 0)
			count += len(ids)
		}
		b.lengths.writeU32(uint32(count))
		b.total += count
		b.records++
		b.terms.spillIfFull(b.records)
	}
	b.at += uint64(len(b.words))
	b.batches = append(b.batches, wordsBatchSize{records, len(b.words)})
	b.forward.Write(b.words)
}

// writeTo writes the sections.
func (b *wordsBuilder) writeTo(w *file.Writer) error {
	b.terms.finish()
	order := b.terms.order()
	names, ids := b.terms.tables(order)
	if err := writeSections(w, file.NoField, section{file.TagTerms, names},
		section{file.TagTermNumbers, ids}); err != nil {
		return err
	}
	common := b.commonLengths(order)
	b.terms.release()
	docs, freqs := newSetTable(b.tmp), newSetTable(b.tmp)
	docFreqs, err := b.terms.encode(docs, freqs)
	if err != nil {
		return err
	}
	if err := writeSections(w, file.NoField, section{file.TagTermPostings, docs},
		section{file.TagTermFrequencies, freqs}); err != nil {
		return err
	}
	if err := b.writeForward(w); err != nil {
		return err
	}
	if err := b.writeLengthOrder(w); err != nil {
		return err
	}
	if err := b.writeFrequentIndexes(w, order, common, docFreqs); err != nil {
		return err
	}
	return writeSections(w, file.NoField, section{file.TagFieldPostings, b.terms.fields})
}

// writeForward writes the forward index and the lengths of the records. Both are read again later.
func (b *wordsBuilder) writeForward(w *file.Writer) error {
	if err := w.Section(file.TagForwardIndex, file.NoField, b.forward); err != nil {
		return err
	}
	b.starts.writeU64(b.at)
	if err := writeSections(w, file.NoField, section{file.TagForwardOffsets, b.starts}); err != nil {
		return err
	}
	return w.Section(file.TagLengths, file.NoField, b.lengths)
}

// writeLengthOrder writes the records in the order of their lengths.
func (b *wordsBuilder) writeLengthOrder(w *file.Writer) error {
	var next []uint32 // by length, the position of the next record
	err := b.lengths.eachU32(func(length uint32) {
		next = append(next, make([]uint32, max(int(length)+2-len(next), 0))...)
		next[length+1]++
	})
	if err != nil {
		return err
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	positions := b.tmp.newSpillFile()
	err = b.lengths.eachU32(func(length uint32) {
		positions.writeU32(next[length])
		next[length]++
	})
	if err != nil {
		return err
	}
	sorted, err := b.tmp.invert(positions, int(b.records), b.memory/8)
	if err != nil {
		return err
	}
	if err := positions.remove(); err != nil {
		return err
	}
	return writeSections(w, file.NoField, section{file.TagLengthOrder, sorted})
}
