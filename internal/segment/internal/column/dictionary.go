package column

import (
	"math"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Dictionary numbers the distinct values of a field in one or more segments: the code of a value is
// its position in ascending order. So codes compare like values, and groups of records
// are computed with arrays instead of strings. The code Len stands for all missing values. The
// values of a list field are its elements.
//
// In a single segment, the codes of most fields are the numbers of the value runs:
//
//	sorted rows   fern fern ivy rose rose rose (missing)
//	runs          0         2   3              6
//	code          0    0    1   2    2    2    3
//
// Several segments have runs of the same value, and a run of texts that sort alike can have several
// spellings, so that runs are mapped to codes.
type Dictionary struct {
	Field   *herb.Field
	Len     int // number of values
	steps   *guard.Steps
	parts   []partCodes
	origins []origin          // by code; nil if codes are runs or positions of elements
	texts   map[uint32]string // by code, the values that are not those of a run
}

// origin is the first run with a value.
type origin struct{ part, run uint32 }

// partCodes maps the records of one segment to codes.
type partCodes struct {
	*Column
	runAt         *IntervalIndex               // by rank; nil if it is not needed yet
	codes         []uint32                     // by run; nil if the code of a run is its number
	spellingCodes map[uint32]map[string]uint32 // by non-uniform run, the codes of its spellings
}

// notCode replaces the code of a run with several spellings.
const notCode = math.MaxUint32

// NewDictionary returns the dictionary of a field. columns are its indexes in the segments; a list
// field has one.
func NewDictionary(st *guard.Steps, f *herb.Field, columns []*Column) *Dictionary {
	d := &Dictionary{Field: f, steps: st}
	for _, c := range columns {
		d.parts = append(d.parts, partCodes{Column: c})
	}
	switch {
	case f.Type == herb.TypeList:
		d.Len = columns[0].Elements()
	case len(columns) == 1 && !slices.ContainsFunc(columns[0].nonUniform, func(b byte) bool { return b != 0 }):
		d.Len = columns[0].Distinct()
	default:
		d.merge(st)
	}
	return d
}

// merge assigns codes to the values of all segments.
func (d *Dictionary) merge(st *guard.Steps) {
	d.texts, d.origins = map[uint32]string{}, []origin{}
	cursors := make([]*valueCursor, len(d.parts))
	for i := range d.parts {
		p := &d.parts[i]
		st.Reserve(4 * p.Distinct())
		p.codes = make([]uint32, p.Distinct()+1)
		all := newSortedResult(st, p.Column, nil, false)
		cursors[i] = newValueCursor(i, &all)
	}
	mergeValues(st, cursors, func(same []*valueCursor) {
		code := uint32(d.Len)
		d.Len++
		d.addOrigin(code, same[0])
		for _, c := range same {
			if c.text != "" {
				d.parts[c.part].setSpelling(uint32(c.run), c.text, code)
			} else {
				d.parts[c.part].codes[c.run] = code
			}
		}
	})
	for i := range d.parts {
		p := &d.parts[i]
		p.codes[p.Distinct()] = uint32(d.Len)
	}
}

// bytesPerOrigin is the memory for the origin of a value, also while the array grows.
const bytesPerOrigin = 16

// addOrigin stores the first run with the next value, and the text of a value that is not that of
// the run.
func (d *Dictionary) addOrigin(code uint32, c *valueCursor) {
	d.steps.Reserve(bytesPerOrigin)
	if c.text != "" {
		d.steps.Reserve(bytesPerSpelling + len(c.text))
		d.texts[code] = c.text
	}
	d.origins = append(d.origins, origin{uint32(c.part), uint32(c.run)})
}

// setSpelling sets the code of one spelling of a non-uniform run.
func (p *partCodes) setSpelling(run uint32, spelling string, code uint32) {
	if p.spellingCodes == nil {
		p.spellingCodes = map[uint32]map[string]uint32{}
	}
	if p.spellingCodes[run] == nil {
		p.spellingCodes[run] = map[string]uint32{}
	}
	p.spellingCodes[run][spelling], p.codes[run] = code, notCode
}

// AppendCodes appends the codes of the values of some records of a part.
func (d *Dictionary) AppendCodes(dst []uint32, part int, records []uint32) []uint32 {
	p := &d.parts[part]
	if p.runAt == nil {
		p.runAt = new(NewIntervalIndex(d.steps, p.runs, p.sorted.Len()))
	}
	dst = slices.Grow(dst, len(records))
	start := len(dst)
	for _, rec := range records {
		dst = append(dst, p.runAt.At(p.ranks.At(int(rec))))
	}
	if p.codes == nil {
		return dst
	}
	for i, run := range dst[start:] {
		code := p.codes[run]
		if code == notCode {
			code = p.spellingCodes[run][p.value(records[i])]
		}
		dst[start+i] = code
	}
	return dst
}

// AppendElements appends the codes of the elements of a record of a list field; none if it is
// missing.
func (d *Dictionary) AppendElements(dst []uint32, part int, record uint32) []uint32 {
	l := &d.parts[part].lists
	for i, end := l.starts.At(int(record)), l.starts.At(int(record)+1); i < end; i++ {
		dst = append(dst, l.at(i))
	}
	return dst
}

// Value returns a value as the first record of the dataset has it.
func (d *Dictionary) Value(code uint32) string {
	if d.origins == nil {
		c := d.parts[0].Column
		if d.Field.Type != herb.TypeList {
			return c.readRunValue(d.steps, int(code))
		}
		element := c.elements.At(int(code))
		d.steps.Add(1 + len(element)/bytesPerStep)
		return string(element)
	}
	if value, ok := d.texts[code]; ok {
		d.steps.Add(1 + len(value)/bytesPerStep)
		return value
	}
	o := d.origins[code]
	return d.parts[o.part].readRunValue(d.steps, int(o.run))
}

// Key returns the sort key of a value.
func (d *Dictionary) Key(code uint32) string {
	if d.Field.Type == herb.TypeList {
		key, _ := text.Key(herb.TypeText, d.Value(code))
		return key
	}
	return sortKey(d.Field, d.Value(code))
}

// Find returns the least code, not less than from, whose key is greater than or equal to key. It is
// fast if the code is near from.
func (d *Dictionary) Find(from uint32, key string) uint32 {
	if int(from) >= d.Len || d.Key(from) >= key {
		return from
	}
	return uint32(lastIndex(int(from), d.Len-1, func(i int) bool { return d.Key(uint32(i)) < key })) + 1
}

// Values returns a function that returns the value of a code, as Value does, for about n codes,
// none less than the one before. The bytes are valid until the next call.
func (d *Dictionary) Values(n int) func(code uint32) []byte {
	if d.origins != nil {
		return func(code uint32) []byte { return []byte(d.Value(code)) }
	}
	values := d.parts[0].newRunValues(d.steps, n)
	return func(code uint32) []byte {
		d.steps.Add(1)
		return values.at(int(code))
	}
}

// HasRuns reports whether there is one segment, and the codes are its runs.
func (d *Dictionary) HasRuns() bool {
	return d.origins == nil && len(d.parts) == 1 && d.Field.Type != herb.TypeList
}

// EachRun calls f for all codes in ascending order, with the records that have them, some records
// at a time; missing values are last. It needs HasRuns.
func (d *Dictionary) EachRun(f func(code uint32, records file.U32s)) {
	for code := range d.Len + 1 {
		d.steps.Add(1)
		d.InRun(uint32(code), func(records file.U32s) { f(uint32(code), records) })
	}
}

// InRun calls f with the records that have a code in ascending order, some records at a time. It
// needs HasRuns.
func (d *Dictionary) InRun(code uint32, f func(records file.U32s)) {
	c := d.parts[0].Column
	from, to := c.run(int(code))
	d.steps.Blocks(from, to, func(from, to int) { f(c.sorted.Slice(from, to)) })
}
