package segment

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// longRun is the length from which the records of a run are kept as a set, too.
const longRun = 2048

// orderSets makes the sets of a field: of its long runs, and of the beginnings of its order. It reads the order once.
type orderSets struct {
	long   []byte // u32
	often  setsWriter
	prefix setsWriter
}

// makeSets reads the order and where its runs begin, of which there is at least the last.
func makeSets(shop *workshop, order, runs *spool, records, runCount int) (*orderSets, error) {
	s := &orderSets{often: setsWriter{body: shop.newSpool()}, prefix: setsWriter{body: shop.newSpool()}}
	places, err := order.reader()
	if err != nil {
		return nil, err
	}
	starts, err := runs.reader()
	if err != nil {
		return nil, err
	}
	if _, err := starts.u32(); err != nil { // the first begins at 0
		return nil, err
	}
	dense := newBitset(records)
	part, members := 1, make([]uint32, 0, longRun)
	at := 0
	for run := range runCount {
		end := records
		if run+1 < runCount {
			next, err := starts.u32()
			if err != nil {
				return nil, err
			}
			end = int(next)
		}
		var set *roaring.Bitmap
		if end-at >= longRun {
			set = roaring.New()
			s.long = binary.LittleEndian.AppendUint32(s.long, uint32(run))
		}
		for ; at < end; at++ {
			for part < prefixSets && at == part*records/prefixSets {
				if err := s.addPrefix(dense); err != nil {
					return nil, err
				}
				part++
			}
			record, err := places.u32()
			if err != nil {
				return nil, err
			}
			dense.add(record)
			if set == nil {
				continue
			}
			if members = append(members, record); len(members) == cap(members) {
				set.AddMany(members)
				members = members[:0]
			}
		}
		if set != nil {
			set.AddMany(members)
			members = members[:0]
			if err := s.often.add(set, nil); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// addPrefix adds the set of the records so far. It is there to be intersected, which with containers of runs takes many
// times as long as with bits; they have to save more than a little.
func (s *orderSets) addPrefix(dense bitset) error {
	set := roaring.FromDense(dense, true)
	runs := set.Clone()
	if runs.RunOptimize(); runs.GetSerializedSizeInBytes() < set.GetSerializedSizeInBytes()/2 {
		set = runs
	}
	return s.prefix.write(set, nil)
}
