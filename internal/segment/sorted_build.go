package segment

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// longRun is the minimum length of a value run whose records are also stored as a set.
const longRun = 2048

// sortedSets builds the sets of a field, of its long runs and of the prefixes of its sorted rows, in one pass over the
// sorted rows.
type sortedSets struct {
	longRuns    []byte // u32
	longRunSets setsWriter
	prefix      setsWriter
}

// makeSets reads the sorted rows and the first ranks of the runs, which end with the end of the values.
func makeSets(tmp *tempDir, order, runs *spillFile, records, runCount int) (*sortedSets, error) {
	s := &sortedSets{longRunSets: setsWriter{body: tmp.newSpillFile()}, prefix: setsWriter{body: tmp.newSpillFile()}}
	ranks, err := order.reader()
	if err != nil {
		return nil, err
	}
	starts, err := runs.reader()
	if err != nil {
		return nil, err
	}
	if _, err := starts.u32(); err != nil { // the first run starts at 0
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
			s.longRuns = binary.LittleEndian.AppendUint32(s.longRuns, uint32(run))
		}
		for ; at < end; at++ {
			for part < prefixSets && at == part*records/prefixSets {
				if err := s.addPrefix(dense); err != nil {
					return nil, err
				}
				part++
			}
			record, err := ranks.u32()
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
			if err := s.longRunSets.add(set, nil); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// addPrefix adds the set of the records so far. Intersections with run containers are many times slower than with
// bitmap containers, so these must save considerable space.
func (s *sortedSets) addPrefix(dense bitset) error {
	set := roaring.FromDense(dense, true)
	runs := set.Clone()
	if runs.RunOptimize(); runs.GetSerializedSizeInBytes() < set.GetSerializedSizeInBytes()/2 {
		set = runs
	}
	return s.prefix.write(set, nil)
}
