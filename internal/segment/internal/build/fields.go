package build

import (
	"bytes"

	"herbarium/internal/segment/internal/file"
)

// FieldRules determines which terms and prefixes get field postings.
type FieldRules struct {
	Share int // minimum cost: that of scanning 1/Share of all records
	Max   int // maximum number of sets; the most expensive terms and prefixes are selected
}

// choose returns the terms and prefixes that get postings in each of the searchable fields.
// prefixes are those with postings; docFreqs is the document frequency by sorted term.
func (r FieldRules) choose(prefixes []termPrefix, docFreqs []uint32, records, fields int) (all []termPrefix) {
	least := uint64(records / r.Share)
	for i, n := range docFreqs {
		if uint64(n) >= least {
			all = append(all, termPrefix{from: i, to: i + 1, work: uint64(n)})
		}
	}
	for _, p := range prefixes {
		if p.work >= least {
			all = append(all, p)
		}
	}
	if most := r.Max / fields; len(all) > most {
		sortByWork(all)
		all = all[:most]
	}
	sortRanges(all)
	return all
}

// newFieldPostings returns an index of frequent terms and prefixes in each searchable field. order
// contains the terms in sorted order.
func (b *wordsBuilder) newFieldPostings(order []uint32, all []termPrefix) *frequentIndex {
	if len(all) == 0 {
		return emptyIndex(file.TagFieldRanges, file.TagFieldDocs)
	}
	fields := b.searchable
	nested, sets := newNestedRanges(&b.tmp.tables, order, all), newDenseSets(b.tmp, int(b.records), len(all)*fields)
	return &frequentIndex{
		add: func(record uint32, words []uint32) {
			part := 0
			for _, word := range words {
				if word == 0 {
					part++
					continue
				}
				for i := nested.inner[word-1]; i > 0; i = nested.outer[i-1] {
					sets.add((int(i)-1)*fields+b.parts[part], record)
				}
			}
			sets.endRecord(record)
		},
		encode: func() ([]section, error) {
			docs, err := sets.encode()
			return []section{{file.TagFieldRanges, bytes.NewReader(nested.head)}, {file.TagFieldDocs, docs}}, err
		},
	}
}
