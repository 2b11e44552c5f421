package build

import "herbarium/internal/segment/internal/file"

// chooseFieldRanges returns the terms and prefixes that get field postings: those that cost at least as much as scanning
// the least number of records. prefixes are those with postings; docFreqs is the document frequency by sorted term.
func chooseFieldRanges(prefixes []termPrefix, docFreqs []uint32, least int) (all []termPrefix) {
	for i, n := range docFreqs {
		if int(n) >= least {
			all = append(all, termPrefix{from: i, to: i + 1})
		}
	}
	for _, p := range prefixes {
		if p.work >= uint64(least) {
			all = append(all, p)
		}
	}
	sortRanges(all)
	return all
}

// newFieldPostings returns an index of frequent terms and prefixes in each searchable field, or nil if there are none.
func (b *wordsBuilder) newFieldPostings(order []uint32, prefixes []termPrefix, docFreqs []uint32) *optionalIndex {
	all := chooseFieldRanges(prefixes, docFreqs, int(b.records)/b.optional.FieldShare)
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
