package build

import "herbarium/internal/segment/internal/bitmap"

// denseSets collects sets that contain many records. The members in the current block of records
// are bits in memory, and the members in preceding blocks are in spill files. Setting a bit takes a
// fraction of the time of adding a pair to an invertedIndex.
type denseSets struct {
	records int // number of records of the segment
	// of the current block: for each 64 records a word of every set, so that adding a record
	// touches few pages
	bits     []uint64
	trailers [][]byte // by set, what follows it in its table; of the current block
	runs     postingsRuns
}

// denseBlock is the number of records in a block.
const denseBlock = bitmap.ContainerMembers

func newDenseSets(tmp *tempDir, records, sets int) *denseSets {
	words := len(bitmap.NewBits(min(records, denseBlock)))
	return &denseSets{records: records, bits: make([]uint64, words*sets), trailers: make([][]byte, sets),
		runs: postingsRuns{tmp: tmp}}
}

// add adds a record to a set. Records must be added in order.
func (s *denseSets) add(set int, record uint32) {
	s.bits[int(record%denseBlock/64)*len(s.trailers)+set] |= 1 << (record % 64)
}

// addTrailer appends a byte to the trailer of a set.
func (s *denseSets) addTrailer(set int, b byte) { s.trailers[set] = append(s.trailers[set], b) }

// endRecord must be called after a record was added to its sets.
func (s *denseSets) endRecord(record uint32) {
	if next := record + 1; int(next) == s.records || next%denseBlock == 0 {
		s.spill(record / denseBlock * denseBlock)
	}
}

// spill writes the sets of the block that starts with a record.
func (s *denseSets) spill(first uint32) {
	s.runs.begin()
	members := bitmap.NewBits(min(s.records, denseBlock))
	for set, trailer := range s.trailers {
		for i := range members {
			members[i] = s.bits[i*len(s.trailers)+set]
		}
		if container := bitmap.EncodeContainer(first, members); container != nil {
			s.runs.add(set, append(container, trailer...))
			s.trailers[set] = trailer[:0]
		}
	}
	clear(s.bits)
}

// merge calls add for the encoded blocks of each set in order, after the last record, and end
// after the last block of a set.
func (s *denseSets) merge(add func(set int, encoded []byte) error, end func(set int) error) error {
	sets := len(s.trailers)
	s.bits, s.trailers = nil, nil
	return s.runs.merge(sets, add, end)
}

// encode encodes all sets after the last record.
func (s *denseSets) encode() (*setTable, error) {
	table := newSetTable(s.runs.tmp)
	var trailer []byte
	err := s.merge(func(_ int, encoded []byte) error {
		size, err := table.AppendContainer(encoded)
		trailer = append(trailer, encoded[size:]...)
		return err
	}, func(int) error {
		err := table.End(trailer)
		trailer = trailer[:0]
		return err
	})
	return table, err
}
