// Package column reads the indexes of fields: sorted rows, value runs, sets of long runs and of list elements. It evaluates
// filters, locates pages in sorted order and counts facets. Package build writes what it reads.
package column

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Parameters of the format.
const (
	PrefixSets = 32   // number of equal parts into which the prefix sets divide the sorted rows
	LongRun    = 2048 // minimum length of a value run whose records are also stored as a set
)

// Column is the index of one field. Its sorted rows are the record numbers ordered by value; the index of a record in
// them is its rank. Records with equal values form a value run, ordered by record number. Records whose value is
// missing are last and form an additional run, ordered by text.MissingRank, then by record number.
type Column struct {
	Field    herb.Field
	position int
	records  *Records
	pool     *bitmap.Pool

	sorted      file.U32s
	ranks       file.U32s
	runs        file.U32s // first rank of each run, and the rank after the last value
	nonUniform  []byte
	prefix      bitmap.Table
	longRuns    file.U32s
	longRunSets bitmap.Table
	elements    file.Strings
	numbers     file.U32s    // by element
	listed      bitmap.Table // postings of the elements, by number
}

// Open returns the column of field i of a file.
func Open(f *file.File, records *Records, pool *bitmap.Pool, i int) (c Column, err error) {
	field, n := f.Meta.Fields[i], f.Meta.Records
	section := func(t file.Tag) []byte { return f.Section(t, uint32(i)) }
	c = Column{
		Field: field, position: i, records: records, pool: pool,
		sorted: section(file.TagSorted), ranks: section(file.TagRanks), runs: section(file.TagRuns),
		nonUniform: section(file.TagNonUniform), longRuns: section(file.TagLongRuns), numbers: section(file.TagNumbers),
	}
	if c.sorted.Len() != n || c.ranks.Len() != n || c.runs.Len() == 0 || len(c.nonUniform) != (c.runs.Len()+6)/8 {
		return c, fmt.Errorf("%w: field %q", guard.ErrCorrupt, field.Name)
	}
	for tag, table := range map[file.Tag]*bitmap.Table{file.TagPrefix: &c.prefix, file.TagLongRunSets: &c.longRunSets, file.TagListed: &c.listed} {
		if *table, err = bitmap.OpenTable(section(tag), n); err != nil {
			return c, err
		}
	}
	if c.elements, err = file.OpenStrings(section(file.TagElement)); err != nil {
		return c, err
	}
	if c.longRunSets.Len() != c.longRuns.Len() || n > 0 && c.prefix.Len() != PrefixSets-1 {
		return c, fmt.Errorf("%w: sets of field %q", guard.ErrCorrupt, field.Name)
	}
	if c.listed.Len() != c.elements.Len() || c.numbers.Len() != c.elements.Len() {
		return c, fmt.Errorf("%w: elements of field %q", guard.ErrCorrupt, field.Name)
	}
	return c, nil
}

// value returns the value of a record.
func (c *Column) value(record uint32) string { return c.records.Value(record, c.position) }

// markRanks adds the ranks of the records of a set to marks.
func (c *Column) markRanks(st *guard.Steps, set *roaring.Bitmap, marks bitmap.Bits) {
	ranks := c.ranks
	bitmap.Each(st, set, func(records []uint32) {
		for _, rec := range records {
			marks.Add(ranks.At(int(rec)))
		}
	})
}

// Distinct returns the number of value runs.
func (c *Column) Distinct() int { return c.runs.Len() - 1 }

// Values returns the number of records with a value.
func (c *Column) Values() int { return int(c.runs.At(c.Distinct())) }

// run returns the ranks of a run.
func (c *Column) run(i int) (from, to int) {
	if i == c.Distinct() {
		return c.Values(), c.sorted.Len()
	}
	return int(c.runs.At(i)), int(c.runs.At(i + 1))
}

// LongRuns returns the number of runs whose records are stored as a set.
func (c *Column) LongRuns() int { return c.longRuns.Len() }

// Elements returns the number of distinct elements of a list field.
func (c *Column) Elements() int { return c.elements.Len() }

// runAt returns the run of a rank, which is not in a run before the given one. It is fast if the run is near.
func (c *Column) runAt(run, rank int) int {
	const near = 8
	for range near {
		if run == c.Distinct() || int(c.runs.At(run+1)) > rank {
			return run
		}
		run++
	}
	step := near
	for run+step <= c.Distinct() && int(c.runs.At(run+step)) <= rank {
		run += step
		step *= 2
	}
	n := min(step, c.Distinct()+1-run)
	return run + sort.Search(n, func(i int) bool { return int(c.runs.At(run+i)) > rank }) - 1
}

// RunValue returns the value of the first record of a run.
func (c *Column) RunValue(i int) string { return c.value(c.sorted.At(int(c.runs.At(i)))) }

// firstRun returns the first run whose key is greater than or equal to key.
func (c *Column) firstRun(key string) (i int, equal bool) {
	var at string
	i = sort.Search(c.Distinct(), func(i int) bool {
		k := c.runKey(i)
		if k >= key {
			at = k
			return true
		}
		return false
	})
	return i, i < c.Distinct() && at == key
}

func (c *Column) runKey(i int) string {
	return sortKey(&c.Field, c.RunValue(i))
}

// missingRanks returns the ranks of the records whose value has a rank among the missing values.
func (c *Column) missingRanks(missing int) (from, to int) {
	first := func(missing int) int {
		return c.Values() + sort.Search(c.sorted.Len()-c.Values(), func(i int) bool {
			return text.MissingRank(&c.Field, c.value(c.sorted.At(c.Values()+i))) >= missing
		})
	}
	return first(missing), first(missing + 1)
}

// isNonUniform reports whether a run contains values that compare equal but are written differently.
func (c *Column) isNonUniform(i int) bool { return c.nonUniform[i/8]>>(i%8)&1 == 1 }

// runSet returns the records of a run.
func (c *Column) runSet(st *guard.Steps, i int) *roaring.Bitmap {
	if k, ok := c.storedSet(i); ok {
		return c.longRunSets.Get(k)
	}
	records := c.sorted.Slice(c.run(i))
	st.Add(records.Len())
	return roaring.BitmapOf(records.AppendTo(nil)...)
}

// storedSet returns the index of a run in longRunSets; ok is false if the run is too short.
func (c *Column) storedSet(run int) (k int, ok bool) {
	k = sort.Search(c.longRuns.Len(), func(k int) bool { return int(c.longRuns.At(k)) >= run })
	return k, k < c.longRuns.Len() && int(c.longRuns.At(k)) == run
}

// bound returns the rank after part j of the sorted rows.
func (c *Column) bound(j int) int { return j * c.sorted.Len() / PrefixSets }

// prefixSet returns the records with a rank less than bound(j).
func (c *Column) prefixSet(j int) *roaring.Bitmap {
	switch j {
	case 0:
		return roaring.New()
	case PrefixSets:
		all := roaring.New()
		all.AddRange(0, uint64(c.sorted.Len()))
		return all
	default:
		return c.prefix.Get(j - 1)
	}
}

// RankSet returns the records with ranks in [from, to).
func (c *Column) RankSet(st *guard.Steps, from, to int) *roaring.Bitmap {
	const few = 2048
	if to-from <= few {
		return roaring.BitmapOf(c.sorted.Slice(from, max(from, to)).AppendTo(nil)...)
	}
	low := sort.Search(PrefixSets, func(j int) bool { return c.bound(j) >= from })
	high := sort.Search(PrefixSets, func(j int) bool { return c.bound(j+1) > to })
	dense := bitmap.NewBits(c.sorted.Len())
	add := func(from, to int) {
		st.Blocks(from, to, func(from, to int) {
			for p := from; p < to; p++ {
				dense.Add(c.sorted.At(p))
			}
		})
	}
	if low >= high {
		add(from, to)
		return dense.Set()
	}
	st.Check()
	roaring.AndNot(c.prefixSet(high), c.prefixSet(low)).WriteDenseTo(dense)
	add(from, c.bound(low))
	add(c.bound(high), to)
	return dense.Set()
}
