package build

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
)

// PrefixRules determines which prefixes get postings.
type PrefixRules struct {
	Share int // a prefix is chosen if its union costs at least as much as scanning 1/Share of all records
	Max   int // maximum number of prefixes
	Room  int // the postings of prefixes have at most 1/Room of the expected size of the postings of terms
	// MaxFieldSets is the maximum number of sets of field postings. Only the most expensive
	// prefixes have them.
	MaxFieldSets int
}

// termPrefix is a prefix shared by exactly the terms in a range.
type termPrefix struct {
	from, to int    // range of the sorted terms
	work     uint64 // cost of computing the union
	inFields bool   // it has field postings
}

// choose returns the prefixes that get postings: the most expensive ones within the size limit.
// They are sorted by the start of their range; of two with the same start, the longer range is
// first. common is the length of the common prefix of each sorted term with the one before it,
// docFreqs its document frequency; fields is the number of searchable fields.
func (r PrefixRules) choose(common []uint16, docFreqs []uint32, records, fields int) []termPrefix {
	size := func(n uint64) uint64 { return min(2*n, uint64(records)/8) } // approximate size of a set with n members
	room := uint64(0)
	for _, n := range docFreqs {
		room += size(uint64(n))
	}
	room /= uint64(r.Room)
	work := func(i int) uint64 {
		if n := docFreqs[i]; int(n) <= records/bitmap.MinBitsShare {
			return uint64(n)
		}
		return uint64(records / 128) // merging bits takes an eighth of the time of merging the longest array
	}
	all := prefixesOf(common, len(docFreqs), work, (uint64(records)+uint64(r.Share)-1)/uint64(r.Share))
	slices.SortFunc(all, func(a, b termPrefix) int { return cmp.Or(cmp.Compare(b.work, a.work), compareRanges(a, b)) })
	n := 0
	for n < min(len(all), r.Max) && size(all[n].work) <= room {
		room -= size(all[n].work)
		all[n].inFields = fields > 1 && (n+1)*fields <= r.MaxFieldSets
		n++
	}
	all = all[:n]
	slices.SortFunc(all, compareRanges)
	return all
}

// compareRanges compares ranges by their start; of two with the same start, the longer is first.
func compareRanges(a, b termPrefix) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
}

// prefixesOf returns the prefixes that two or more of n sorted terms share and that cost at least
// minCost, given the cost of each term. Of several prefixes of the same terms it returns one.
func prefixesOf(common []uint16, n int, work func(term int) uint64, minCost uint64) (all []termPrefix) {
	type openPrefix struct {
		length int // of the shared prefix
		from   int
		before uint64 // cost of the preceding terms
	}
	var stack []openPrefix
	sum := uint64(0)
	for i := range n + 1 {
		length, at := 0, openPrefix{from: i - 1}
		if i > 0 {
			at.before = sum
			sum += work(i - 1)
			if i < n {
				length = int(common[i])
			}
		}
		for len(stack) > 0 && stack[len(stack)-1].length > length {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if cost := sum - top.before; cost >= minCost {
				all = append(all, termPrefix{from: top.from, to: i, work: cost})
			}
			at.from, at.before = top.from, top.before
		}
		if length > 0 && (len(stack) == 0 || stack[len(stack)-1].length < length) {
			at.length = length
			stack = append(stack, at)
		}
	}
	return all
}

// commonLengths returns the length of the common prefix of each term with the one before it, in
// sorted order.
func (b *wordsBuilder) commonLengths(order []uint32) []uint16 {
	common := newTable[uint16](&b.tmp.tables, len(order))
	for i := 1; i < len(order); i++ {
		common[i] = uint16(min(commonLength(b.terms.name(order[i-1]), b.terms.name(order[i])), math.MaxUint16))
	}
	return common
}

// commonLength returns the number of bytes in the common prefix of two words, up to a character
// boundary.
func commonLength(a, b []byte) int {
	n := commonPrefix(a, b)
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// newPrefixPostings returns an index of term prefixes. order contains the terms in sorted order.
func (b *wordsBuilder) newPrefixPostings(order []uint32, all []termPrefix) *frequentIndex {
	if len(all) == 0 {
		return emptyIndex(file.TagPrefixes, file.TagPrefixPostings, file.TagPrefixFrequencies)
	}
	nested := newNestedRanges(&b.tmp.tables, order, all)
	docs, freqs := newDenseSets(b.tmp, int(b.records), len(all)), newDenseSets(b.tmp, int(b.records), len(all))
	inFields, fieldSets := b.newPrefixFields(all)
	records := make([]uint32, len(all)) // that contain each prefix
	counts := make([]uint32, len(all))  // term frequencies in the record
	var found []uint32                  // prefixes in the record
	return &frequentIndex{
		add: func(record uint32, words []uint32) {
			found = found[:0]
			copied := 0
			for _, word := range words {
				if word == 0 {
					copied++
					continue
				}
				for i := nested.inner[word-1]; i > 0; i = nested.outer[i-1] {
					counts[i-1]++
					if counts[i-1] == 1 {
						found = append(found, i-1)
					}
					if set := fieldSets[i-1]; set >= 0 {
						inFields.add(set+b.copies[copied], record)
					}
				}
			}
			for _, i := range found {
				records[i]++
				docs.add(int(i), record)
				if counts[i] > 1 {
					freqs.add(int(i), record)
					freqs.addTrailer(int(i), byte(min(counts[i], fulltext.MaxFrequency)))
				}
				counts[i] = 0
			}
			docs.endRecord(record)
			freqs.endRecord(record)
			inFields.endRecord(record)
		},
		encode: func() ([]section, error) {
			docTable, err := docs.encode()
			if err != nil {
				return nil, err
			}
			freqTable, err := freqs.encode()
			if err != nil {
				return nil, err
			}
			if b.terms.fields != nil {
				err = b.terms.fields.addPrefixes(all, records, inFields)
			}
			return []section{
				{file.TagPrefixes, bytes.NewReader(nested.head)}, {file.TagPrefixPostings, docTable},
				{file.TagPrefixFrequencies, freqTable},
			}, err
		},
	}
}

// newPrefixFields returns the sets of prefixes in each searchable field, and by prefix, the number
// of its first set, or -1 if it has no field postings.
func (b *wordsBuilder) newPrefixFields(all []termPrefix) (inFields *denseSets, first []int) {
	sets := 0
	for _, p := range all {
		if !p.inFields {
			first = append(first, -1)
			continue
		}
		first = append(first, sets)
		sets += b.searchable
	}
	return newDenseSets(b.tmp, int(b.records), sets), first
}

// nestedRanges finds the ranges of sorted terms that contain a term.
type nestedRanges struct {
	inner []uint32 // by term number, the innermost range from 1, or 0
	outer []uint32 // by range, the enclosing one from 1, or 0
	head  []byte   // u32: start and end of each range
}

// newNestedRanges returns the ranges in all, which are nested or disjoint; of nested ones, the
// longer is first.
func newNestedRanges(t *tables, order []uint32, all []termPrefix) *nestedRanges {
	n := &nestedRanges{inner: newTable[uint32](t, len(order)), outer: make([]uint32, len(all))}
	for i, a := range all {
		n.outer[i] = n.inner[order[a.from]]
		for _, id := range order[a.from:a.to] {
			n.inner[id] = uint32(i + 1)
		}
		n.head = binary.LittleEndian.AppendUint32(n.head, uint32(a.from))
		n.head = binary.LittleEndian.AppendUint32(n.head, uint32(a.to))
	}
	return n
}
