package column

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// BlockSize is the number of ranks in a block of the sorted rows.
const BlockSize = 2048

func blockCount(records int) int { return (records + BlockSize - 1) / BlockSize }

// FrequentValue is a value that many records have. For each of them and each sortable field, a file
// stores how many of its records are before the end of each block of the sorted rows. So a page of
// a listing with one such filter is located by a binary search and a scan of one block.
type FrequentValue struct {
	field  int
	number int // index of its run among the long runs, or number of a list element
	set    bitmap.EncodedSet
}

// FrequentValues returns the values of filterable fields that at least one in share records has:
// the most frequent ones if there are more than most. They are ordered by field, then by number.
func FrequentValues(st *guard.Steps, columns []Column, share, most int) (values []FrequentValue) {
	for i := range columns {
		c := &columns[i]
		if !c.Field.Filterable {
			continue
		}
		sets := &c.longRunSets
		if c.Field.Type == herb.TypeList {
			sets = &c.listed
		}
		for number := range sets.Len() {
			st.Add(1)
			if set := sets.Set(number); set.Len() >= max(LongRun, c.sorted.Len()/share) {
				values = append(values, FrequentValue{i, number, set})
			}
		}
	}
	if len(values) > most {
		slices.SortStableFunc(values, func(a, b FrequentValue) int { return cmp.Compare(b.set.Len(), a.set.Len()) })
		values = values[:most]
		slices.SortFunc(values, func(a, b FrequentValue) int {
			return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.number, b.number))
		})
	}
	return values
}

// AppendID appends the field and the number, which identify the value in a file.
func (v FrequentValue) AppendID(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, uint32(v.field)), uint32(v.number))
}

// AppendBlockCounts appends the number of records with a value before the end of each block of the
// sorted rows.
func (c *Column) AppendBlockCounts(st *guard.Steps, v FrequentValue, dst []byte) []byte {
	counts := make([]uint32, blockCount(c.sorted.Len()))
	set := bitmap.StoredSet(c.pool, v.set)
	defer set.Release()
	set.Each(st, func(records []uint32) {
		for _, rec := range records {
			counts[c.ranks.At(int(rec))/BlockSize]++
		}
	})
	before := uint32(0)
	for _, n := range counts {
		before += n
		dst = binary.LittleEndian.AppendUint32(dst, before)
	}
	return dst
}

// blockCountsOf returns the block counts of the records that satisfy a condition, or nil if the
// condition is not that a record has one frequent value.
func (c *Column) blockCountsOf(condition plan.Condition) file.U32s {
	of, ok := condition.(interface {
		frequentValue() (field, number int, ok bool)
	})
	if !ok || len(c.blockCounts) == 0 {
		return nil
	}
	field, number, ok := of.frequentValue()
	if !ok {
		return nil
	}
	id := uint64(field)<<32 | uint64(number)
	idAt := func(i int) uint64 { return uint64(c.frequent.At(2*i))<<32 | uint64(c.frequent.At(2*i+1)) }
	n := c.frequent.Len() / 2
	i := sort.Search(n, func(i int) bool { return idAt(i) >= id })
	if i == n || idAt(i) != id {
		return nil
	}
	blocks := blockCount(c.sorted.Len())
	return c.blockCounts.Slice(i*blocks, (i+1)*blocks)
}

// frequentValue returns the field and the number of the value if the range is one long run, which
// all frequent values have.
func (r RankRange) frequentValue() (field, number int, ok bool) {
	if r.run == anyRun || r.c.Field.Type == herb.TypeList { // of lists, elements are counted
		return 0, 0, false
	}
	number, ok = r.c.longRunIndex(r.run)
	return r.c.fieldIndex, number, ok
}

// element is the condition that a list contains an element.
type element struct {
	plan.StoredCondition
	field, number int
}

func (e element) frequentValue() (field, number int, ok bool) { return e.field, e.number, true }
