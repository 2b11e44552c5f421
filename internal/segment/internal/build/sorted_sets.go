package build

import (
	"bytes"
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
)

// sortedSets builds the sets of a field, of its long runs and of the prefixes of its sorted rows, in one pass over the
// sorted rows.
type sortedSets struct {
	longRuns    []byte // u32
	longRunSets *setTable
	prefix      *setTable
}

// makeSets reads the sorted rows and the first ranks of the runs, which end with the end of the values.
func makeSets(tmp *tempDir, order, runs *spillFile, records, runCount int) (*sortedSets, error) {
	s := &sortedSets{longRunSets: newSetTable(tmp), prefix: newSetTable(tmp)}
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
	dense := bitmap.NewBits(records)
	part, members := 1, make([]uint32, 0, column.LongRun)
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
		if end-at >= column.LongRun {
			set = roaring.New()
			s.longRuns = binary.LittleEndian.AppendUint32(s.longRuns, uint32(run))
		}
		for ; at < end; at++ {
			for part < column.PrefixSets && at == part*records/column.PrefixSets {
				if err := s.addPrefix(dense); err != nil {
					return nil, err
				}
				part++
			}
			record, err := ranks.u32()
			if err != nil {
				return nil, err
			}
			dense.Add(record)
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
			if err := s.longRunSets.Add(set, nil); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// addPrefix adds the set of the records so far. Intersections with run containers are many times slower than with
// bitmap containers, so these must save considerable space.
func (s *sortedSets) addPrefix(dense bitmap.Bits) error {
	set := roaring.FromDense(dense, true)
	runs := set.Clone()
	if runs.RunOptimize(); runs.GetSerializedSizeInBytes() < set.GetSerializedSizeInBytes()/2 {
		set = runs
	}
	return s.prefix.AddEncoded(set, nil)
}

// setTable is a table of sets in a spill file.
type setTable struct {
	bitmap.Encoder
	sets *spillFile
}

func newSetTable(tmp *tempDir) *setTable {
	s := tmp.newSpillFile()
	return &setTable{bitmap.Encoder{W: s}, s}
}

// writeTo writes the table as a section.
func (t *setTable) writeTo(w *file.Writer, tag file.Tag, field uint32) error {
	return w.Section(tag, field, bytes.NewReader(t.Head()), t.sets)
}
