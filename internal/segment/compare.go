package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// CompareOptions configures Compare.
type CompareOptions struct {
	SortOptions
	Key []string // fields of the primary key; none: records have no identity
	// Progress is called from time to time with the share of the work that is done; nil disables
	// it.
	Progress func(share float64)
}

// Comparison is how the records of a version, to, differ from those of an earlier one, from.
// Close must be called after use.
type Comparison struct {
	Key                                []string // identifies records; none: their values do
	Added, Removed, Changed, Unchanged int
	FieldsAdded, FieldsRemoved         []string
	FieldsRetyped                      []string
	// of the changed records, in field order; fields without changes are left out
	ChangedFields []herb.FieldChange
	// in key order; without a key, removed and then added records, each in dataset order
	Differences *Differences
}

// Close removes the differences.
func (c *Comparison) Close() error { return c.Differences.close() }

// Compare compares two versions of a dataset. The order of records makes no difference, and values
// are compared as written. Keys are compared by value, as primary keys are everywhere
// (text.AppendKey), unless the type of one of their fields changed: those are compared as written.
// A field that only one version has is empty in the other one: a record is not changed by a new
// field in which it has no value, nor by a field that is gone. A key applies if its values differ
// in all records of both versions; otherwise records have no identity and are added or removed,
// each as often as it occurs.
//
// It reads both versions once and sorts a hash of 128 bits of each record; then it reads the
// records that remain, and sorts their keys. So its memory does not depend on the versions, but for
// a bit per record.
func Compare(ctx context.Context, from, to *Reader, opts CompareOptions) (c *Comparison, err error) {
	compare := func() error {
		steps := guard.NewSteps(ctx)
		defer steps.Release()
		steps.Announce(from.Len() + to.Len())
		steps.Reserve((from.Len()+to.Len())/8 + differencesInRAM) // a bit per record
		p := newComparer(ctx, steps, from, to, opts)
		defer func() {
			if c == nil { // also after a panic
				_ = p.result.Close() // the first error is returned
			}
		}()
		if err := p.checkKey(ctx); err != nil {
			return err
		}
		if err := p.run(); err != nil {
			return err
		}
		c = p.result
		return nil
	}
	err = from.file.Guard(func() error { return to.file.Guard(compare) })
	return c, err
}

// comparer compares two versions.
type comparer struct {
	ctx    context.Context
	steps  *guard.Steps
	opts   CompareOptions
	sides  [2]comparedSide // from and to
	same   bool            // both have the same fields in the same order
	hashes [2]maphash.Seed
	result *Comparison
	read   int // records
	buf    []byte
	raw    [2][][]byte
}

// comparedSide is a version that is compared.
type comparedSide struct {
	*Reader
	columns []int        // positions of the compared fields, in the order of to; negative: it has no such field
	key     []int        // positions of the fields of the key
	fields  []herb.Field // as keys are compared
	differ  bitmap.Bits  // records without an equal one on the other side
	left    int          // number of these
}

// sides of a comparison.
const (
	sideFrom = 0
	sideTo   = 1
)

func newComparer(ctx context.Context, steps *guard.Steps, from, to *Reader, opts CompareOptions) *comparer {
	p := &comparer{ctx: ctx, steps: steps, opts: opts, result: &Comparison{Differences: &Differences{dir: opts.Dir}}}
	p.hashes = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	before, after := from.Fields(), to.Fields()
	for i, r := range []*Reader{from, to} {
		p.sides[i] = comparedSide{Reader: r, fields: slices.Clone(r.Fields()), differ: bitmap.NewBits(r.Len())}
	}
	p.same = slices.EqualFunc(before, after, func(a, b herb.Field) bool { return a.Name == b.Name })
	positions := make(map[string]int, len(before))
	for i, f := range before {
		positions[f.Name] = i
	}
	kept := make([]bool, len(before))
	for i, f := range after {
		was, known := positions[f.Name]
		switch {
		case !known:
			was = -1
			p.result.FieldsAdded = append(p.result.FieldsAdded, f.Name)
		case before[was].Type != f.Type:
			p.result.FieldsRetyped = append(p.result.FieldsRetyped, f.Name)
			fallthrough
		default:
			kept[was] = true
		}
		p.sides[sideFrom].columns = append(p.sides[sideFrom].columns, was)
		p.sides[sideTo].columns = append(p.sides[sideTo].columns, i)
	}
	for i, f := range before {
		if !kept[i] {
			p.result.FieldsRemoved = append(p.result.FieldsRemoved, f.Name)
		}
	}
	for _, name := range opts.Key {
		was, known := positions[name]
		is := herb.FieldIndex(after, name)
		if !known || is < 0 {
			p.sides[sideFrom].key, p.sides[sideTo].key = nil, nil
			break
		}
		if before[was].Type != after[is].Type { // such values are compared as written
			p.sides[sideFrom].fields[was].Type, p.sides[sideTo].fields[is].Type = herb.TypeText, herb.TypeText
		}
		p.sides[sideFrom].key = append(p.sides[sideFrom].key, was)
		p.sides[sideTo].key = append(p.sides[sideTo].key, is)
	}
	return p
}

// checkKey drops the key if it does not identify the records of both versions.
func (p *comparer) checkKey(ctx context.Context) error {
	if p.sides[sideTo].key == nil {
		return nil
	}
	for _, s := range p.sides {
		d, err := s.duplicates(ctx, p.steps, s.key, p.opts.SortOptions)
		if err != nil {
			return err
		}
		if d.Records > 0 || s.hasEmptyKeys(p.steps) {
			p.sides[sideFrom].key, p.sides[sideTo].key = nil, nil
			return nil
		}
	}
	p.result.Key = p.opts.Key
	return nil
}

// hasEmptyKeys reports whether a record has no value in any field of the key.
func (s *comparedSide) hasEmptyKeys(st *guard.Steps) bool {
	for _, i := range s.key {
		if s.Reader.columns[i].Values() == s.Len() {
			return false
		}
	}
	var raw [][]byte
	for n := range s.Len() {
		record := s.records.JSON(uint32(n))
		st.Add(1 + len(record)/64)
		raw = s.records.AppendRaw(raw[:0], record)
		if !slices.ContainsFunc(s.key, func(i int) bool { return len(raw[i]) > 0 }) {
			return true
		}
	}
	return false
}

func (p *comparer) run() error {
	if err := p.findEqual(); err != nil {
		return err
	}
	p.result.Unchanged = p.sides[sideTo].Len() - p.sides[sideTo].left
	if p.result.Key == nil {
		for side, s := range p.sides {
			if err := p.eachDiffering(s, func(n uint32, _ []byte) error { return p.add(side, n) }); err != nil {
				return err
			}
		}
	} else if err := p.matchKeys(); err != nil {
		return err
	}
	return p.result.Differences.finish()
}

// findEqual marks the records of both sides that have no equal record on the other one.
func (p *comparer) findEqual() error {
	const hashSize = 16
	from, to := &p.sides[sideFrom], &p.sides[sideTo]
	sorter, err := p.opts.newSorter(p.ctx, p.steps, from.Len()+to.Len(), hashSize)
	if err != nil {
		return err
	}
	defer sorter.Close()
	var hash [hashSize]byte
	for side, s := range p.sides {
		base := uint32(0)
		if side == sideTo {
			base = uint32(from.Len())
		}
		if err := p.each(s, func(n uint32, record []byte) error {
			content := p.content(side, record)
			binary.BigEndian.PutUint64(hash[:], maphash.Bytes(p.hashes[0], content))
			binary.BigEndian.PutUint64(hash[8:], maphash.Bytes(p.hashes[1], content))
			return sorter.Add(hash[:], base+n)
		}); err != nil {
			return err
		}
	}
	var (
		last  [hashSize]byte
		equal = equalRecords{records: from.Len()} // records of from with the last hash
		met   int                                 // records of to with the last hash
	)
	// The first of equal records stay, so that of three that become two, the last is removed.
	flush := func() {
		equal.eachAfter(p.steps, met, from.mark)
		equal.reset()
		met = 0
	}
	err = sorter.Each(func(key []byte, n uint32) {
		p.steps.Add(1)
		if !bytes.Equal(key, last[:]) {
			flush()
			copy(last[:], key)
		}
		if n < uint32(from.Len()) {
			equal.add(p.steps, n)
			return
		}
		met++
		if met > equal.n {
			to.mark(n - uint32(from.Len()))
		}
	})
	flush()
	return err
}

// mark marks a record without an equal one on the other side.
func (s *comparedSide) mark(n uint32) {
	s.differ.Add(n)
	s.left++
}

// content returns the compared values of a record, in a form in which equal values are equal bytes.
func (p *comparer) content(side int, record []byte) []byte {
	if p.same {
		return record
	}
	s := &p.sides[side]
	p.raw[side] = s.records.AppendRaw(p.raw[side][:0], record)
	p.buf = p.buf[:0]
	for _, i := range s.columns {
		var value []byte
		if i >= 0 {
			value = p.raw[side][i]
		}
		p.buf = append(binary.AppendUvarint(p.buf, uint64(len(value))), value...)
	}
	return p.buf
}

// each calls f for every record of a side.
func (p *comparer) each(s comparedSide, f func(n uint32, record []byte) error) error {
	n := uint32(0)
	return s.Each(p.ctx, func(record []byte) error {
		p.steps.Add(1 + len(record)/64)
		n++
		p.countRead()
		return f(n-1, record)
	})
}

// countRead counts a record that was read, and reports the progress.
func (p *comparer) countRead() {
	const reportEvery = 4096
	p.read++
	if p.opts.Progress != nil && p.read%reportEvery == 0 {
		p.opts.Progress(float64(p.read) / float64(p.sides[sideFrom].Len()+p.sides[sideTo].Len()))
	}
}

// eachDiffering calls f for the records of a side that have no equal record on the other one.
func (p *comparer) eachDiffering(s comparedSide, f func(n uint32, record []byte) error) error {
	for n := s.differ.Next(p.steps, 0, s.Len()); n < s.Len(); n = s.differ.Next(p.steps, n+1, s.Len()) {
		record := s.records.JSON(uint32(n))
		p.steps.Add(1 + len(record)/64)
		if err := f(uint32(n), record); err != nil {
			return err
		}
	}
	return nil
}

// matchKeys adds the differences of records with a key, in key order.
func (p *comparer) matchKeys() error {
	const keySize = 128 // of most keys
	from, to := p.sides[sideFrom], p.sides[sideTo]
	sorter, err := p.opts.newSorter(p.ctx, p.steps, from.left+to.left, keySize)
	if err != nil {
		return err
	}
	defer sorter.Close()
	for side, s := range p.sides {
		base := uint32(0)
		if side == sideTo {
			base = uint32(from.Len())
		}
		if err := p.eachDiffering(s, func(n uint32, record []byte) error {
			p.raw[side] = s.records.AppendRaw(p.raw[side][:0], record)
			p.buf = s.appendOrderKey(p.buf[:0], p.raw[side])
			return sorter.Add(p.buf, base+n)
		}); err != nil {
			return err
		}
	}
	var (
		last    []byte
		pending uint32 = NoRecord // a record of from whose key may be that of the next record
		failed  error
		counts  = make([]int, len(to.columns))
	)
	flush := func() {
		if pending != NoRecord && failed == nil {
			failed = p.add(sideFrom, pending)
		}
		pending = NoRecord
	}
	err = sorter.Each(func(key []byte, n uint32) {
		p.steps.Add(1)
		switch isFrom := n < uint32(from.Len()); {
		case isFrom:
			flush()
			last, pending = append(last[:0], key...), n
		case pending != NoRecord && bytes.Equal(key, last):
			p.countFields(counts, pending, n-uint32(from.Len()))
			if failed == nil {
				failed = p.result.Differences.add(Difference{From: pending, To: n - uint32(from.Len())})
			}
			p.result.Changed++
			pending = NoRecord
		default:
			flush()
			if failed == nil {
				failed = p.add(sideTo, n-uint32(from.Len()))
			}
		}
	})
	flush()
	for i, f := range to.Fields() {
		if counts[i] > 0 {
			p.result.ChangedFields = append(p.result.ChangedFields, herb.FieldChange{Field: f.Name, Records: counts[i]})
		}
	}
	return cmp.Or(err, failed)
}

// countFields counts the fields in which a record changed.
func (p *comparer) countFields(counts []int, from, to uint32) {
	for side, n := range []uint32{from, to} {
		s := p.sides[side]
		record := s.records.JSON(n)
		p.steps.Add(1 + len(record)/64)
		p.raw[side] = s.records.AppendRaw(p.raw[side][:0], record)
	}
	for i, was := range p.sides[sideFrom].columns {
		var before []byte
		if was >= 0 {
			before = p.raw[sideFrom][was]
		}
		if !bytes.Equal(before, p.raw[sideTo][i]) {
			counts[i]++
		}
	}
}

// add adds a record that only one side has.
func (p *comparer) add(side int, n uint32) error {
	if side == sideFrom {
		p.result.Removed++
		return p.result.Differences.add(Difference{From: n, To: NoRecord})
	}
	p.result.Added++
	return p.result.Differences.add(Difference{From: NoRecord, To: n})
}
