package build

import "herbarium/internal/segment/internal/file"

// FieldRules determines which terms and prefixes get field postings.
type FieldRules struct {
	MinRecords int // minimum number of records of a file: with fewer, examining all candidates is fast
	Share      int // a term, or a prefix with postings, qualifies if it costs at least as much as one in so many of all records
}

// choose returns the terms and prefixes that get field postings. prefixes are those with postings; docFreqs is the
// document frequency by sorted term.
func (r FieldRules) choose(prefixes []termPrefix, docFreqs []uint32, records int) (all []termPrefix) {
	if records < r.MinRecords {
		return nil
	}
	for i, n := range docFreqs {
		if int(n) >= records/r.Share {
			all = append(all, termPrefix{from: i, to: i + 1})
		}
	}
	for _, p := range prefixes {
		if p.work >= uint64(records/r.Share) {
			all = append(all, p)
		}
	}
	sortRanges(all)
	return all
}

// newFieldPostings returns an index of frequent terms and prefixes in each searchable field, or nil if there are none.
func (b *wordsBuilder) newFieldPostings(order []uint32, prefixes []termPrefix, docFreqs []uint32) *optionalIndex {
	all := b.optional.Fields.choose(prefixes, docFreqs, int(b.records))
	fields := len(b.weights)
	if len(all) == 0 || fields < 2 {
		return nil
	}
	x := &optionalIndex{
		table: newInverted(b.tmp, b.memory/4), // fields are sorted concurrently
		tags:  []file.Tag{file.TagFieldRanges, file.TagFieldDocs},
	}
	x.table.numbers = len(all) * fields
	nested := newNestedRanges(order, all)
	x.head = nested.head
	var fieldOf []int // by part of a record
	for field, weight := range b.weights {
		for range weight {
			fieldOf = append(fieldOf, field)
		}
	}
	added := make([]uint32, x.table.numbers) // by set, the last record in it + 1
	x.add = func(record uint32, words []uint32) {
		part := 0
		for _, word := range words {
			if word == 0 {
				part++
				continue
			}
			for i := nested.inner[word-1]; i > 0; i = nested.outer[i-1] {
				if set := (int(i)-1)*fields + fieldOf[part]; added[set] != record+1 {
					added[set] = record + 1
					x.table.addPair(uint32(set), record)
				}
			}
		}
	}
	return x
}
