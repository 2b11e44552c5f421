package build

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
)

// fieldPostings encodes the field postings of terms and prefixes, one item for each. It is nil if a
// file has one searchable field: then all postings are in this field.
type fieldPostings struct {
	items *spillFile
	sizes []uint32   // of the items, in units of the alignment
	sets  []fieldSet // of the current item, by searchable field
	found []int      // fields with members in the current item
	buf   bytes.Buffer
}

// fieldSet is the records that contain a term or a prefix in a field.
type fieldSet struct {
	bitmap.SetEncoder
	last []uint32 // last members, which are not encoded yet
}

// maxLastMembers is the number of members that are encoded at a time.
const maxLastMembers = 1 << 14

func (s *fieldSet) len() int { return s.Len() + len(s.last) }

func (s *fieldSet) add(record uint32) {
	s.last = append(s.last, record)
	if len(s.last) == maxLastMembers {
		s.encodeLast()
	}
}

func (s *fieldSet) encodeLast() {
	s.Append(s.last)
	s.last = s.last[:0]
}

// newFieldPostings returns the field postings of a file with a number of searchable fields.
func newFieldPostings(tmp *tempDir, fields int) *fieldPostings {
	if fields < 2 {
		return nil
	}
	return &fieldPostings{items: tmp.newSpillFile(), sets: make([]fieldSet, fields)}
}

// reserve allocates memory for the sizes of more items.
func (p *fieldPostings) reserve(items int) {
	t := &p.items.tmp.tables
	sizes := newTable[uint32](t, len(p.sizes)+items)
	n := copy(sizes, p.sizes)
	freeTable(t, p.sizes)
	p.sizes = sizes[:n]
}

// add adds a record that contains the current term or prefix in a field. Records of a field must be
// added in order.
func (p *fieldPostings) add(field int, record uint32) {
	if p.sets[field].len() == 0 {
		p.found = append(p.found, field)
	}
	p.sets[field].add(record)
}

// endItem writes the current item, given the number of records that contain the term or prefix. A
// field that contains it in all of them has no set of its own.
func (p *fieldPostings) endItem(records int) {
	p.buf.Reset()
	slices.Sort(p.found)
	for _, field := range slices.Compact(p.found) {
		start, set := p.buf.Len(), &p.sets[field]
		p.buf.Write(binary.LittleEndian.AppendUint64(nil, uint64(field)))
		if set.len() < records {
			set.encodeLast()
			set.WriteTo(&p.buf)
		}
		binary.LittleEndian.PutUint32(p.buf.Bytes()[start+4:], uint32(p.buf.Len()-start-fulltext.FieldHeadSize))
		set.Clear()
		set.last = set.last[:0]
	}
	p.found = p.found[:0]
	p.sizes = append(p.sizes, uint32(p.buf.Len()/file.Alignment))
	_, _ = p.items.Write(p.buf.Bytes()) // the spill file keeps the error
}

// addPrefixes adds the items of prefixes. records is the number of records that contain each of
// them, inFields the records by field. Prefixes without field postings have empty items.
func (p *fieldPostings) addPrefixes(all []termPrefix, records []uint32, inFields *denseSets) error {
	p.reserve(len(all))
	next := 0 // prefix
	skip := func() {
		for ; next < len(all) && !all[next].inFields; next++ {
			p.endItem(0)
		}
	}
	skip()
	err := inFields.merge(func(set int, encoded []byte) error {
		field := set % len(p.sets)
		p.found = append(p.found, field)
		_, err := p.sets[field].AppendContainer(encoded)
		return err
	}, func(set int) error {
		if (set+1)%len(p.sets) == 0 {
			p.endItem(int(records[next]))
			next++
			skip()
		}
		return nil
	})
	return err
}

// WriteTo writes the table.
func (p *fieldPostings) WriteTo(w io.Writer) (int64, error) {
	if p == nil {
		return 0, nil
	}
	return itemTable{file.TableHead{Sizes: p.sizes, Unit: file.Alignment}, p.items}.WriteTo(w)
}

func (p *fieldPostings) remove() error {
	if p == nil {
		return nil
	}
	return p.items.remove()
}
