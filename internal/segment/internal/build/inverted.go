package build

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
)

// invertedIndex collects the postings of terms or elements. Data that exceeds the memory is written
// to spill files.
type invertedIndex struct {
	dictionary
	numbers int        // number of sets, if they have no names in the dictionary
	limit   int        // maximum number of pairs in memory
	used    int        // number of pairs in memory
	pairs   [][]uint64 // id and record, in the order of the records, once per occurrence
	records []uint32   // records of the sorted pairs
	runs    postingsRuns
	fields  *fieldPostings // of each id, after encode; nil if the pairs have no fields
	first   uint32         // first record of the pairs in memory, if they have fields
}

func newInvertedIndex(tmp *tempDir, memory int) *invertedIndex {
	const pairSize = 8 + 4 // before and after sorting
	return &invertedIndex{dictionary: newDictionary(&tmp.tables), limit: max(memory/pairSize, 64),
		runs: postingsRuns{tmp: tmp}}
}

// size returns the number of sets.
func (v *invertedIndex) size() int { return max(v.numbers, v.count) }

// pairsBlock is the number of pairs per allocation: a growing slice would be in memory twice.
const pairsBlock = 1 << 15

// addPair records an occurrence of a name in a field of a record. Records must be added in order.
func (v *invertedIndex) addPair(id, record uint32, field int) {
	if v.fields != nil {
		record = (record-v.first)*uint32(len(v.fields.sets)) + uint32(field)
	}
	block := v.used / pairsBlock
	if block == len(v.pairs) {
		v.pairs = append(v.pairs, make([]uint64, 0, min(pairsBlock, v.limit)))
	}
	v.pairs[block] = append(v.pairs[block][:v.used%pairsBlock], uint64(id)<<32|uint64(record))
	v.used++
}

// eachPair calls f for every pair, in the order of addition.
func (v *invertedIndex) eachPair(f func(id, record uint32)) {
	for i, block := range v.pairs {
		for _, p := range block[:min(max(v.used-i*pairsBlock, 0), pairsBlock)] {
			f(uint32(p>>32), uint32(p))
		}
	}
}

// spillIfFull writes everything to a spill file if it exceeds the memory, or if a pair could not
// hold the next record and a field. It is called between records, so that a record is never split.
func (v *invertedIndex) spillIfFull(next uint32) {
	if v.used >= v.limit || v.fields != nil && int(next-v.first) == 1<<32/len(v.fields.sets) {
		v.spill()
		v.first = next
	}
}

// spill writes the collected postings to a spill file, which keeps an error until encode reads it.
func (v *invertedIndex) spill() {
	v.runs.begin()
	starts := v.sortPairs()
	var data []byte
	for id := range v.size() {
		if from, to := starts[id], starts[id+1]; from < to {
			data = v.appendPostings(data[:0], int(from), int(to))
			v.runs.add(id, data)
		}
	}
	freeTable(&v.runs.tmp.tables, starts)
	v.used = 0
}

// sortPairs sorts the records of the pairs by id and returns the start of each id. This counting
// sort takes a quarter of the time of appending to one list per name.
func (v *invertedIndex) sortPairs() []uint32 {
	starts := newTable[uint32](&v.runs.tmp.tables, v.size()+1)
	v.eachPair(func(id, _ uint32) { starts[id]++ })
	at := uint32(0)
	for id, n := range starts {
		starts[id] = at
		at += n
	}
	v.records = slices.Grow(v.records[:0], v.used)[:v.used]
	v.eachPair(func(id, record uint32) {
		v.records[starts[id]] = record
		starts[id]++
	})
	// Each start is now the start of the next id.
	copy(starts[1:], starts)
	starts[0] = 0
	return starts
}

// appendPostings appends the records in a range, each as the difference from the preceding one, the
// field if there is one, and a bit that says whether a count follows.
func (v *invertedIndex) appendPostings(b []byte, from, to int) []byte {
	before := uint32(0)
	for i := from; i < to; {
		added, j := v.records[i], i+1
		for j < to && v.records[j] == added {
			j++
		}
		record, distance := added, uint64(added-before)
		if v.fields != nil {
			fields := uint32(len(v.fields.sets))
			record = v.first + added/fields
			distance = uint64(record-before)*uint64(fields) + uint64(added%fields)
		}
		if count := j - i; count == 1 {
			b = binary.AppendUvarint(b, distance<<1)
		} else {
			b = binary.AppendUvarint(b, distance<<1|1)
			b = binary.AppendUvarint(b, uint64(count))
		}
		before, i = record, j
	}
	return b
}

// order returns the numbers of the names in the order of the names. finish must be called before.
func (v *invertedIndex) order() []uint32 { return v.dictionary.order(v.runs.tmp) }

// tables returns the names in a given order, and their numbers. finish must be called before.
func (v *invertedIndex) tables(order []uint32) (names itemTable, ids *spillFile) {
	names = itemTable{file.TableHead{Sizes: newTable[uint32](&v.runs.tmp.tables, len(order)), Unit: 1},
		v.runs.tmp.newSpillFile()}
	ids = v.runs.tmp.newSpillFile()
	for i, id := range order {
		name := v.name(id)
		names.head.Sizes[i] = uint32(len(name))
		names.items.Write(name)
		ids.writeU32(id)
	}
	return names, ids
}

// finish spills the rest and frees the memory. Nothing can be added afterwards.
func (v *invertedIndex) finish() {
	v.spill()
	v.pairs, v.records = nil, nil
	v.dictionary.finish()
}

// encode adds the postings of every name to docs and, unless it is nil, its term-frequency postings
// to freqs, and encodes its field postings. It returns the number of records of each name. finish
// must be called before.
func (v *invertedIndex) encode(docs, freqs *setTable) (sizes []uint32, err error) {
	var p postingsDecoder
	sizes = newTable[uint32](&v.runs.tmp.tables, v.size())
	if v.fields != nil {
		v.fields.reserve(v.size())
	}
	docs.Reserve(newTable[uint32](&v.runs.tmp.tables, v.size()))
	if freqs != nil {
		freqs.Reserve(newTable[uint32](&v.runs.tmp.tables, v.size()))
	}
	err = v.runs.merge(len(sizes), func(id int, postings []byte) error {
		p.decode(postings, v.fields)
		docs.Append(p.records)
		sizes[id] += uint32(len(p.records))
		if freqs != nil {
			freqs.Append(p.repeated)
		}
		return nil
	}, func(id int) error {
		if v.fields != nil {
			v.fields.endItem(int(sizes[id]))
		}
		if err := docs.End(nil); err != nil || freqs == nil {
			return err
		}
		err := freqs.End(p.counts)
		p.counts = p.counts[:0]
		return err
	})
	return sizes, err
}

// postingsDecoder decodes the postings of one name.
type postingsDecoder struct {
	records  []uint32
	repeated []uint32 // records with a frequency above 1
	counts   []byte   // their frequencies
}

// decode decodes the output of appendPostings. It replaces the records and appends to counts,
// because the counts of a name are written after its last run. Unless fields is nil, it adds the
// records to the field postings of the name.
func (p *postingsDecoder) decode(data []byte, fields *fieldPostings) {
	p.records, p.repeated = p.records[:0], p.repeated[:0]
	for record := uint32(0); len(data) > 0; {
		x, n := binary.Uvarint(data)
		data = data[n:]
		distance, count := x>>1, uint64(1)
		if x&1 == 1 {
			count, n = binary.Uvarint(data)
			data = data[n:]
		}
		field := 0
		if fields != nil {
			distance, field = distance/uint64(len(fields.sets)), int(distance%uint64(len(fields.sets)))
		}
		record += uint32(distance)
		p.add(record, count)
		if fields != nil {
			fields.add(field, record)
		}
	}
}

// add adds occurrences in a record, which may be the last one.
func (p *postingsDecoder) add(record uint32, count uint64) {
	if last := len(p.records) - 1; last < 0 || p.records[last] != record {
		p.records = append(p.records, record)
		if count > 1 {
			p.repeated, p.counts = append(p.repeated, record), append(p.counts, byte(min(count, fulltext.MaxFrequency)))
		}
		return
	}
	if n := len(p.repeated); n == 0 || p.repeated[n-1] != record {
		p.repeated, p.counts = append(p.repeated, record), append(p.counts, 1)
	}
	frequency := &p.counts[len(p.counts)-1]
	*frequency = byte(min(uint64(*frequency)+count, fulltext.MaxFrequency))
}
