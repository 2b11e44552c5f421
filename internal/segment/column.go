package segment

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// prefixSets is the number of equal parts into which the prefix sets divide the sorted rows.
const prefixSets = 32

// column is the part of a segment for one field. Its sorted rows are the record numbers ordered by value; the index of
// a record in them is its rank. Records with equal values form a value run, ordered by record number. Records whose value
// is missing are last and form an additional run, ordered by text.MissingRank and record number.
type column struct {
	r        *Reader
	field    herb.Field
	position int
	labels   []int // lengths of the field names up to this one, as encoded in a record

	sorted      u32s
	ranks       u32s
	runs        u32s // first rank of each run, and the rank after the last value
	nonUniform  []byte
	prefix      sets
	longRuns    u32s
	longRunSets sets
	elements    stringTable
	numbers     u32s // by element
	listed      sets // postings of the elements, by number
}

func (c *column) open(r *Reader, f herb.Field, i uint32) (err error) {
	c.r, c.field, c.position = r, f, int(i)
	c.labels = r.labels[:i+1]
	c.sorted, c.ranks = r.section(tagSorted, i), r.section(tagRanks, i)
	c.runs, c.nonUniform, c.longRuns = r.section(tagRuns, i), r.section(tagNonUniform, i), r.section(tagLongRuns, i)
	n := r.meta.Records
	if c.sorted.len() != n || c.ranks.len() != n || c.runs.len() == 0 || len(c.nonUniform) != (c.runs.len()+6)/8 {
		return fmt.Errorf("%w: field %q", ErrCorrupt, f.Name)
	}
	if c.prefix, err = openSets(r.section(tagPrefix, i), n); err != nil {
		return err
	}
	if c.longRunSets, err = openSets(r.section(tagLongRunSets, i), n); err != nil {
		return err
	}
	if c.longRunSets.len() != c.longRuns.len() || n > 0 && c.prefix.len() != prefixSets-1 {
		return fmt.Errorf("%w: sets of field %q", ErrCorrupt, f.Name)
	}
	if f.Type != herb.TypeList {
		return nil
	}
	if c.elements, err = openStrings(r.section(tagElement, i)); err != nil {
		return err
	}
	c.numbers = r.section(tagNumbers, i)
	c.listed, err = openSets(r.section(tagListed, i), n)
	if err == nil && (c.listed.len() != c.elements.len() || c.numbers.len() != c.elements.len()) {
		err = fmt.Errorf("%w: elements of field %q", ErrCorrupt, f.Name)
	}
	return err
}

// value returns the value of a record.
func (c *column) value(record uint32) string {
	return unescape(rawValue(c.r.record(record), c.labels, c.position))
}

// distinct returns the number of value runs.
func (c *column) distinct() int { return c.runs.len() - 1 }

// values returns the number of records with a value.
func (c *column) values() int { return int(c.runs.at(c.distinct())) }

// run returns the ranks of a run.
func (c *column) run(i int) (from, to int) {
	if i == c.distinct() {
		return c.values(), c.sorted.len()
	}
	return int(c.runs.at(i)), int(c.runs.at(i + 1))
}

// runAt returns the run of a rank.
func (c *column) runAt(rank int) int {
	return sort.Search(c.distinct()+1, func(i int) bool { return int(c.runs.at(i)) > rank }) - 1
}

// runValue returns the value of the first record of a run.
func (c *column) runValue(i int) string { return c.value(c.sorted.at(int(c.runs.at(i)))) }

// firstRun returns the first run whose key is greater than or equal to key.
func (c *column) firstRun(key string) (i int, equal bool) {
	var at string
	i = sort.Search(c.distinct(), func(i int) bool {
		k := c.runKey(i)
		if k >= key {
			at = k
			return true
		}
		return false
	})
	return i, i < c.distinct() && at == key
}

func (c *column) runKey(i int) string {
	k, _ := text.FieldKey(&c.field, c.runValue(i))
	return k
}

// missingRanks returns the ranks of the records whose value is missing in the same way.
func (c *column) missingRanks(missing int) (from, to int) {
	first := func(missing int) int {
		return c.values() + sort.Search(c.sorted.len()-c.values(), func(i int) bool {
			return text.MissingRank(&c.field, c.value(c.sorted.at(c.values()+i))) >= missing
		})
	}
	return first(missing), first(missing + 1)
}

// isNonUniform reports whether a run contains values that compare equal but are written differently.
func (c *column) isNonUniform(i int) bool { return c.nonUniform[i/8]>>(i%8)&1 == 1 }

// runSet returns the records of a run.
func (c *column) runSet(st *steps, i int) (*roaring.Bitmap, error) {
	if k, ok := c.storedSet(i); ok {
		return c.longRunSets.get(k)
	}
	records := c.sorted.slice(c.run(i))
	st.add(records.len())
	b := roaring.New()
	b.AddMany(records.appendTo(make([]uint32, 0, records.len())))
	return b, nil
}

// storedSet returns the index of a run in longRunSets; ok is false if the run is too short.
func (c *column) storedSet(run int) (k int, ok bool) {
	k = sort.Search(c.longRuns.len(), func(k int) bool { return int(c.longRuns.at(k)) >= run })
	return k, k < c.longRuns.len() && int(c.longRuns.at(k)) == run
}

// bound returns the rank after part j of the sorted rows.
func (c *column) bound(j int) int { return j * c.sorted.len() / prefixSets }

// prefixSet returns the records with a rank less than bound(j).
func (c *column) prefixSet(j int) (*roaring.Bitmap, error) {
	switch j {
	case 0:
		return roaring.New(), nil
	case prefixSets:
		all := roaring.New()
		all.AddRange(0, uint64(c.sorted.len()))
		return all, nil
	default:
		return c.prefix.get(j - 1)
	}
}

// rankRangeSet returns the records with ranks in [from, to).
func (c *column) rankRangeSet(st *steps, from, to int) (*roaring.Bitmap, error) {
	const few = 2048
	if to-from <= few {
		b := roaring.New()
		if from < to {
			b.AddMany(c.sorted.slice(from, to).appendTo(make([]uint32, 0, to-from)))
		}
		return b, nil
	}
	n := c.sorted.len()
	low := sort.Search(prefixSets, func(j int) bool { return c.bound(j) >= from })
	high := sort.Search(prefixSets, func(j int) bool { return c.bound(j+1) > to })
	dense := newBitset(n)
	add := func(from, to int) {
		st.blocks(from, to, func(from, to int) {
			for p := from; p < to; p++ {
				dense.add(c.sorted.at(p))
			}
		})
	}
	if low >= high {
		add(from, to)
		return dense.set(), nil
	}
	st.check()
	upper, err := c.prefixSet(high)
	if err != nil {
		return nil, err
	}
	lower, err := c.prefixSet(low)
	if err != nil {
		return nil, err
	}
	roaring.AndNot(upper, lower).WriteDenseTo(dense)
	add(from, c.bound(low))
	add(c.bound(high), to)
	return dense.set(), nil
}
