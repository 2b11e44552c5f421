// Package column reads the indexes of fields: sorted rows, value runs, sets of long runs and of
// list elements. It evaluates filters, locates pages in sorted order and counts facets. Package
// build writes what it reads.
//
// # The data
//
// A field price with the values 7, 3, none, 3, 9 in the records 0 to 4:
//
//	rank           0   1   2   3   4
//	SORT           1   3   0   4   2      sorted rows: the record at each rank
//	              └─run 0─┘└1┘ └2┘ └3┘    value runs: 3, 7, 9, and the run without a value
//	RUNS           0       2   3   4      first rank of each run with a value, and the end of the values
//	RANK  record   0   1   2   3   4
//	      rank     2   0   4   1   3      the inverse of SORT
//
// A value is not stored again: that of a run is read from its first record, or in sequence from
// VALS and VKEY.
//
// # An example
//
// price[lt]=8 is the range of ranks [0, 3): a binary search over the runs finds the first with a
// value of 8 or more, run 2, which starts at rank 3. A record matches if its rank is below 3, and
// all matches are SORT[0:3], the records 1, 3 and 0.
//
// Among them, the second page of sort=-price with one record per page is position 1. In ascending
// order, that is position 3 - 1 - 1 = 1: the missing values come last in both directions
// (direction.go). Position 1 is at rank 1, in run 0. Records of a run keep their order, and run 0
// has the positions 1 and 2 of the descending order. So the page is record 1.
//
// With a million records, the matches below a rank are not counted one by one: see sortedResult.
package column

import (
	"fmt"
	"sort"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// Parameters of the format.
const (
	// LeadingSets is the number of equal divisions of the sorted rows. Each boundary between two
	// has a leading set: the records of all divisions before it.
	LeadingSets = 32
	LongRun     = 2048 // minimum length of a value run whose records are also stored as a set
)

// Column is the index of one field. Its sorted rows are the record numbers ordered by value; the
// index of a record in them is its rank. Records with equal values form a value run, ordered by
// record number. Records whose value is missing are last and form an additional run, ordered by
// text.MissingPosition, then by record number.
//
// A list field also has its elements. An element is given by its position among them, which are in
// sort order, or by its number, the index of its postings.
type Column struct {
	Field      herb.Field
	fieldIndex int // of the field among those of the file
	records    *Records
	pool       *bitmap.Pool

	sorted      file.U32s    // SORT: by rank, the record
	ranks       file.U32s    // RANK: by record, the rank
	runs        file.U32s    // first rank of each run, and the rank after the last value
	nonUniform  []byte       // one bit for each run; see isNonUniform
	values      []byte       // of the runs, or their keys; see runValues
	leading     bitmap.Table // leading sets; see LeadingSets
	longRuns    file.U32s    // runs of at least LongRun records, ascending
	longRunSets bitmap.Table // by index in longRuns, the records of the run
	elements    file.Table   // by position, the element
	numbers     file.U32s    // by position of an element, its number
	listed      bitmap.Table // by number, the postings of the element
	lists       forwardIndex
	zone        *atomic.Pointer[bool] // of a datetime field; see HasZone
}

// Open returns the column of field i of a file.
func Open(f *file.File, records *Records, pool *bitmap.Pool, i int) (c Column, err error) {
	field, n := f.Meta.Fields[i], f.Meta.Records
	section := func(t file.Tag) []byte { return f.Section(t, uint32(i)) }
	c = Column{
		Field: field, fieldIndex: i, records: records, pool: pool,
		sorted: section(file.TagSortedRows), ranks: section(file.TagRanks), runs: section(file.TagRuns),
		nonUniform: section(file.TagNonUniformRuns), values: section(file.ValuesTag(field.Type)),
		longRuns: section(file.TagLongRuns), numbers: section(file.TagElementNumbers),
		zone: new(atomic.Pointer[bool]),
	}
	for tag, table := range map[file.Tag]*bitmap.Table{file.TagLeadingSets: &c.leading,
		file.TagLongRunSets: &c.longRunSets, file.TagElementPostings: &c.listed} {
		*table, err = bitmap.OpenTable(section(tag))
		if err != nil {
			return c, err
		}
	}
	c.elements, err = file.OpenTable(section(file.TagElements))
	if err != nil {
		return c, err
	}
	c.lists = forwardIndex{section(file.TagElementOffsets), section(file.TagElementPositions),
		PositionSize(c.elements.Len())}
	if c.sorted.Len() != n || c.ranks.Len() != n || c.runs.Len() == 0 || len(c.nonUniform) != (c.runs.Len()+6)/8 ||
		c.longRunSets.Len() != c.longRuns.Len() || n > 0 && c.leading.Len() != LeadingSets-1 ||
		c.listed.Len() != c.elements.Len() || c.numbers.Len() != c.elements.Len() ||
		field.Type == herb.TypeList && !c.lists.isValid(n) {
		return c, fmt.Errorf("%w: index of field %q", guard.ErrCorrupt, field.Name)
	}
	return c, nil
}

func (c *Column) value(record uint32) string { return c.records.Value(record, c.fieldIndex) }

// readValue returns the value of a record.
func (c *Column) readValue(st *guard.Steps, record uint32) string {
	c.addReadSteps(st, record)
	return c.value(record)
}

// addReadSteps adds the steps to read a value of a record, by the size of the record, because all
// fields before the value are read to find it.
func (c *Column) addReadSteps(st *guard.Steps, record uint32) {
	const recordBytesPerStep = 64
	st.Add(1 + len(c.records.JSON(record))/recordBytesPerStep)
}

// markRanks adds the ranks of the records of a set to marks, which must be empty. If the set has
// more than half of all records, it marks the other records and inverts the marks.
func (c *Column) markRanks(st *guard.Steps, set *bitmap.Set, marks bitmap.Bits) {
	n, ranks := c.sorted.Len(), c.ranks
	invert := set.Len() > n/2
	if invert {
		set = set.Complement(st)
		defer set.Release()
	}
	set.Each(st, func(records []uint32) {
		for _, rec := range records {
			marks.Add(ranks.At(int(rec)))
		}
	})
	if invert {
		others := c.pool.Get(st)
		defer c.pool.Put(st, others)
		others.Or(marks)
		marks.AddRange(0, n)
		marks.AndNot(others)
	}
}

// Distinct returns the number of value runs.
func (c *Column) Distinct() int { return c.runs.Len() - 1 }

// Values returns the number of records with a value.
func (c *Column) Values() int { return int(c.runs.At(c.Distinct())) }

func (c *Column) run(i int) (from, to int) {
	if i == c.Distinct() {
		return c.Values(), c.sorted.Len()
	}
	return int(c.runs.At(i)), int(c.runs.At(i + 1))
}

// StoresValues reports whether the values of all runs can be searched without reading records.
func (c *Column) StoresValues() bool { return len(c.values) > 0 }

// LongRuns returns the number of runs whose records are stored as a set.
func (c *Column) LongRuns() int { return c.longRuns.Len() }

// Elements returns the number of distinct elements of a list field.
func (c *Column) Elements() int { return c.elements.Len() }

// runAt returns the run that contains a rank. It searches from the given run, which must not be
// after the result, and is fast if the result is near.
func (c *Column) runAt(run, rank int) int {
	const near = 8
	for range near {
		if run == c.Distinct() || int(c.runs.At(run+1)) > rank {
			return run
		}
		run++
	}
	return lastIndex(run, c.Distinct(), func(i int) bool { return int(c.runs.At(i)) <= rank })
}

// lastIndex returns the last index in [from, to] that satisfies a condition. The condition holds
// for from and all indexes up to the result. It is fast if the result is near from.
func lastIndex(from, to int, holds func(i int) bool) int {
	step := 1
	for from+step <= to && holds(from+step) {
		from += step
		step *= 2
	}
	n := min(step-1, to-from) // indexes after from that may satisfy the condition
	return from + sort.Search(n, func(i int) bool { return !holds(from + 1 + i) })
}

// readRunValue is RunValue with the steps to read the record.
func (c *Column) readRunValue(st *guard.Steps, i int) string {
	return c.readValue(st, c.sorted.At(int(c.runs.At(i))))
}

// RunValue returns the value of the first record of a run.
func (c *Column) RunValue(i int) string { return c.value(c.sorted.At(int(c.runs.At(i)))) }

// runValuePrefix returns the value of a run, or at least size bytes of a longer one.
func (c *Column) runValuePrefix(i, size int) string {
	return c.records.ValuePrefix(c.sorted.At(int(c.runs.At(i))), c.fieldIndex, size)
}

// LookupSteps is the number of steps to look up a value, which reads some records.
const LookupSteps = 64

func (c *Column) firstRun(key string) int {
	return sort.Search(c.Distinct(), func(i int) bool { return c.runKey(i) >= key })
}

// firstElement returns the first position of an element whose key is greater than or equal to key.
func (c *Column) firstElement(key string) int {
	return sort.Search(c.elements.Len(), func(i int) bool {
		return sortKey(&c.Field, string(c.elements.At(i))) >= key
	})
}

// findElement returns the position of an element. Different elements can have the same key.
func (c *Column) findElement(element string) (position int, ok bool) {
	key := sortKey(&c.Field, element)
	for i := c.firstElement(key); i < c.elements.Len(); i++ {
		other := string(c.elements.At(i))
		if other == element {
			return i, true
		}
		if sortKey(&c.Field, other) != key {
			break
		}
	}
	return 0, false
}

func (c *Column) runKey(i int) string {
	return sortKey(&c.Field, c.RunValue(i))
}

// isNonUniform reports whether a run contains values that compare equal but are written
// differently.
func (c *Column) isNonUniform(i int) bool { return c.nonUniform[i/8]>>(i%8)&1 == 1 }

// longRunIndex returns the index of a run in longRuns; ok is false if the run is too short.
func (c *Column) longRunIndex(run int) (k int, ok bool) {
	k = sort.Search(c.longRuns.Len(), func(k int) bool { return int(c.longRuns.At(k)) >= run })
	return k, k < c.longRuns.Len() && int(c.longRuns.At(k)) == run
}

// bound returns the first rank of division j of the sorted rows, or their end for LeadingSets.
func (c *Column) bound(j int) int { return j * c.sorted.Len() / LeadingSets }

// addLeadingSet adds the records with a rank less than bound(j) to a bitset.
func (c *Column) addLeadingSet(st *guard.Steps, j int, b bitmap.Bits) {
	switch j {
	case 0:
	case LeadingSets:
		b.AddRange(0, c.sorted.Len())
	default:
		c.leading.Set(j-1).AddTo(st, b)
	}
}
