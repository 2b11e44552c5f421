package segment

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// prefixSets is into how many parts of equal size the prefix sets cut an order.
const prefixSets = 32

// column is a field's part of a segment. Records are sorted by value; those with the same value form a run, in the order
// of their numbers. Records without a value come last and count as one more run.
type column struct {
	r        *Reader
	field    herb.Field
	position int
	labels   []int // lengths of the names of the fields up to this one, as they stand in a record

	order    u32s
	places   u32s
	runs     u32s // where each run begins, and where the values end
	mixed    []byte
	prefix   sets
	long     u32s
	often    sets
	elements stringTable
	numbers  u32s // of the elements
	listed   sets // the records of each element, by its number
}

func (c *column) open(r *Reader, f herb.Field, i uint32) (err error) {
	c.r, c.field, c.position = r, f, int(i)
	c.labels = r.labels[:i+1]
	c.order, c.places = r.section(tagOrder, i), r.section(tagPlaces, i)
	c.runs, c.mixed, c.long = r.section(tagRuns, i), r.section(tagMixed, i), r.section(tagLong, i)
	n := r.meta.Records
	if c.order.len() != n || c.places.len() != n || c.runs.len() == 0 || len(c.mixed) != (c.runs.len()+6)/8 {
		return fmt.Errorf("%w: field %q", ErrCorrupt, f.Name)
	}
	if c.prefix, err = openSets(r.section(tagPrefix, i), n); err != nil {
		return err
	}
	if c.often, err = openSets(r.section(tagOften, i), n); err != nil {
		return err
	}
	if c.often.len() != c.long.len() || n > 0 && c.prefix.len() != prefixSets-1 {
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

// distinct is the number of runs with a value.
func (c *column) distinct() int { return c.runs.len() - 1 }

// values is the number of records with a value.
func (c *column) values() int { return int(c.runs.at(c.distinct())) }

// run returns the places of a run in the order.
func (c *column) run(i int) (from, to int) {
	if i == c.distinct() {
		return c.values(), c.order.len()
	}
	return int(c.runs.at(i)), int(c.runs.at(i + 1))
}

// runAt returns the run that a place belongs to.
func (c *column) runAt(place int) int {
	return sort.Search(c.distinct()+1, func(i int) bool { return int(c.runs.at(i)) > place }) - 1
}

// runValue returns the value that a run stands for: that of its first record.
func (c *column) runValue(i int) string { return c.value(c.order.at(int(c.runs.at(i)))) }

// firstRun returns the first run whose key is not less than key.
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
	k, _ := text.Key(c.field.Type, c.runValue(i))
	return k
}

// isMixed reports whether the values of a run are written differently.
func (c *column) isMixed(i int) bool { return c.mixed[i/8]>>(i%8)&1 == 1 }

// runSet returns the records of a run.
func (c *column) runSet(st *steps, i int) (*roaring.Bitmap, error) {
	if k, ok := c.storedSet(i); ok {
		return c.often.get(k)
	}
	records := c.order.slice(c.run(i))
	st.add(records.len())
	b := roaring.New()
	b.AddMany(records.appendTo(make([]uint32, 0, records.len())))
	return b, nil
}

// storedSet returns the index of a run's set in often; false if the run is too short to have one.
func (c *column) storedSet(run int) (k int, ok bool) {
	k = sort.Search(c.long.len(), func(k int) bool { return int(c.long.at(k)) >= run })
	return k, k < c.long.len() && int(c.long.at(k)) == run
}

// bound is the place at which part j of the order ends.
func (c *column) bound(j int) int { return j * c.order.len() / prefixSets }

// first returns the records among the first bound(j) of the order.
func (c *column) first(j int) (*roaring.Bitmap, error) {
	switch j {
	case 0:
		return roaring.New(), nil
	case prefixSets:
		all := roaring.New()
		all.AddRange(0, uint64(c.order.len()))
		return all, nil
	default:
		return c.prefix.get(j - 1)
	}
}

// between returns the records at the places from up to to.
func (c *column) between(st *steps, from, to int) (*roaring.Bitmap, error) {
	const few = 2048
	if to-from <= few {
		b := roaring.New()
		if from < to {
			b.AddMany(c.order.slice(from, to).appendTo(make([]uint32, 0, to-from)))
		}
		return b, nil
	}
	n := c.order.len()
	low := sort.Search(prefixSets, func(j int) bool { return c.bound(j) >= from })
	high := sort.Search(prefixSets, func(j int) bool { return c.bound(j+1) > to })
	dense := newBitset(n)
	add := func(from, to int) {
		st.blocks(from, to, func(from, to int) {
			for p := from; p < to; p++ {
				dense.add(c.order.at(p))
			}
		})
	}
	if low >= high {
		add(from, to)
		return dense.set(), nil
	}
	st.check()
	upper, err := c.first(high)
	if err != nil {
		return nil, err
	}
	lower, err := c.first(low)
	if err != nil {
		return nil, err
	}
	roaring.AndNot(upper, lower).WriteDenseTo(dense)
	add(from, c.bound(low))
	add(c.bound(high), to)
	return dense.set(), nil
}
