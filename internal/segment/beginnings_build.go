package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// beginningRules say which beginnings of words are kept.
type beginningRules struct {
	from  int // records that a file must have to get any: in fewer, putting words together takes no time
	share int // putting its words together takes as long as going through at least one in so many of all records
	most  int // there are at most so many
	room  int // and their sets are expected to take at most one in so many bytes of what those of the words do
}

func defaultBeginningRules() beginningRules {
	return beginningRules{from: 1 << 12, share: 1 << 5, most: 1 << 10, room: 2}
}

// beginning is what some words begin with, and no others.
type beginning struct {
	from, to int    // their places among the sorted words
	work     uint64 // to put them together
}

// choose returns the beginnings to keep, by where they begin, of two the longer range first: those that take longest to put
// together, as far as there is room. Found is in how many records each of the sorted words stands.
func (r beginningRules) choose(words []string, found []uint32, records int) []beginning {
	if records < r.from {
		return nil
	}
	size := func(n uint64) uint64 { return min(2*n, uint64(records)/8) } // of a set with so many members, about
	room, work := uint64(0), make([]uint32, len(found))
	for i, n := range found {
		room += size(uint64(n))
		if work[i] = n; int(n) > records/(containerMembers/mostInArray) {
			work[i] = uint32(records / 128) // it is kept as bits, which takes no longer than an eighth of the longest array
		}
	}
	room /= uint64(r.room)
	all := beginningsOf(words, work)
	slices.SortFunc(all, func(a, b beginning) int {
		return cmp.Or(cmp.Compare(b.work, a.work), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	n := 0
	for n < min(len(all), r.most) && all[n].work*uint64(r.share) >= uint64(records) && size(all[n].work) <= room {
		room -= size(all[n].work)
		n++
	}
	all = all[:n]
	slices.SortFunc(all, func(a, b beginning) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	return all
}

// beginningsOf returns what two sorted words or more begin with, given the work for each word. Of several beginnings of the same
// words it is one.
func beginningsOf(words []string, work []uint32) (all []beginning) {
	type open struct {
		length int // of what the words have in common
		from   int
		before uint64 // work for the words before
	}
	var stack []open
	sum := uint64(0)
	for i := range len(words) + 1 {
		common, at := 0, open{from: i - 1}
		if i > 0 {
			at.before = sum
			sum += uint64(work[i-1])
			if i < len(words) {
				common = commonLength(words[i-1], words[i])
			}
		}
		for len(stack) > 0 && stack[len(stack)-1].length > common {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			all = append(all, beginning{top.from, i, sum - top.before})
			at.from, at.before = top.from, top.before
		}
		if common > 0 && (len(stack) == 0 || stack[len(stack)-1].length < common) {
			at.length = common
			stack = append(stack, at)
		}
	}
	return all
}

// commonLength returns how many bytes two words have in common, up to a boundary of characters.
func commonLength(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// beginningsBuilder gathers the records of beginnings of words. It is nil where there are none to keep.
type beginningsBuilder struct {
	ranges []byte
	inner  []uint32 // the innermost of each word, from 1; 0: none
	outer  []uint32 // what is around each
	begun  *bitTable
}

// newBeginnings returns a builder for the words in their order, names and ids. Found is in how many records each stands, by its
// number.
func (b *wordsBuilder) newBeginnings(names []string, ids u32s, found []uint32) *beginningsBuilder {
	sorted := make([]uint32, len(names))
	for i := range sorted {
		sorted[i] = found[ids.at(i)]
	}
	all := b.extras.beginnings.choose(names, sorted, int(b.records))
	if len(all) == 0 {
		return nil
	}
	bb := &beginningsBuilder{
		inner: make([]uint32, len(names)),
		outer: make([]uint32, len(all)),
		// Fields are sorted at the same time, and what stands more than once takes room beside the bits.
		begun: newBitTable(b.shop, len(all), int(b.records), b.memory/16),
	}
	for i, a := range all {
		bb.outer[i] = bb.inner[ids.at(a.from)]
		for place := a.from; place < a.to; place++ {
			bb.inner[ids.at(place)] = uint32(i + 1)
		}
		bb.ranges = binary.LittleEndian.AppendUint32(bb.ranges, uint32(a.from))
		bb.ranges = binary.LittleEndian.AppendUint32(bb.ranges, uint32(a.to))
	}
	return bb
}

// add takes a word as it stands in the forward index.
func (b *beginningsBuilder) add(record, word uint32) {
	if b == nil || word == 0 {
		return
	}
	for i := b.inner[word-1]; i > 0; i = b.outer[i-1] {
		b.begun.add(i-1, record)
	}
}

// next comes behind each record.
func (b *beginningsBuilder) next() error {
	if b == nil {
		return nil
	}
	return b.begun.next()
}

// writeTo writes the sections.
func (b *beginningsBuilder) writeTo(ctx context.Context, w *fileWriter) error {
	if b == nil {
		return nil
	}
	sets, twice, err := b.begun.sets(ctx)
	if err != nil {
		return err
	}
	if err := w.section(tagBegin, noField, b.ranges); err != nil {
		return err
	}
	if err := sets.writeTo(w, tagBegun, noField); err != nil {
		return err
	}
	return twice.writeTo(w, tagBegunTwice, noField)
}
