package build

import (
	"encoding/binary"
	"io"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
)

// sortedSets builds the sets of a field from its sorted rows: one set for each long run, and the
// leading sets.
type sortedSets struct {
	records     int    // number of records of the segment
	longRuns    []byte // u32
	longRunSets *setTable
	leading     *setTable

	added       int         // number of records so far
	dense       bitmap.Bits // these records
	leadingSets int         // number of leading sets so far, including the empty one
	run         int         // number of the current run
	members     []uint32    // records of the current run that are not in its set
	long        bool        // the current run is long; its set is being encoded
}

func newSortedSets(tmp *tempDir, records int) *sortedSets {
	return &sortedSets{
		records: records, longRunSets: newSetTable(tmp), leading: newSetTable(tmp),
		dense: bitmap.NewBits(records), leadingSets: 1, members: make([]uint32, 0, column.LongRun),
	}
}

// add adds the next of the sorted rows.
func (s *sortedSets) add(record uint32) {
	for s.leadingSets < column.LeadingSets && s.added == s.leadingSets*s.records/column.LeadingSets {
		// The spill file keeps the errors.
		if s.added == 0 { // the first leading sets of a small file
			_ = s.leading.End(nil)
		} else {
			_ = s.leading.AddBits(s.dense)
		}
		s.leadingSets++
	}
	s.added++
	s.dense.Add(record)
	s.members = append(s.members, record)
	if len(s.members) == cap(s.members) {
		s.long = true
		s.addMembers()
	}
}

func (s *sortedSets) addMembers() {
	s.longRunSets.Append(s.members)
	s.members = s.members[:0]
}

// endRun ends the current run.
func (s *sortedSets) endRun() {
	if s.long {
		s.addMembers()
		s.longRuns = binary.LittleEndian.AppendUint32(s.longRuns, uint32(s.run))
		_ = s.longRunSets.End(nil) // the spill file keeps the error
	}
	s.run, s.long, s.members = s.run+1, false, s.members[:0]
}

// finish ends the last run and frees the memory that only add needs, because the sets of all fields
// are kept until they are written.
func (s *sortedSets) finish() {
	s.endRun()
	s.dense, s.members = nil, nil
	s.longRunSets.Release()
	s.leading.Release()
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

// WriteTo writes the table.
func (t *setTable) WriteTo(w io.Writer) (int64, error) { return itemTable{t.Head(), t.sets}.WriteTo(w) }

func (t *setTable) remove() error { return t.sets.remove() }
