package column

import (
	"math"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Dictionary numbers the distinct values of a field: the code of a value is its position in
// ascending order. So codes compare like values, and groups of records are computed with arrays
// instead of strings. The code Len stands for all missing values. The values of a list field are
// its elements.
//
// The codes of most fields are the numbers of the value runs:
//
//	sorted rows   fern fern ivy rose rose rose (missing)
//	runs          0         2   3              6
//	code          0    0    1   2    2    2    3
//
// A run of texts that sort alike can have several spellings, so that runs are mapped to codes.
type Dictionary struct {
	*Column
	Field     *herb.Field
	Len       int // number of values
	steps     *guard.Steps
	runAt     *IntervalIndex // by rank; nil if it is not needed yet
	spellings *spelledRuns   // nil if codes are runs or positions of elements
}

// spelledRuns maps the runs of a field to codes and back.
type spelledRuns struct {
	codes   []uint32                     // by run
	codesOf map[uint32]map[string]uint32 // by non-uniform run, the codes of its spellings
	runs    []uint32                     // by code
	texts   map[uint32]string            // by code, the spellings of non-uniform runs
}

// notCode replaces the code of a run with several spellings.
const notCode = math.MaxUint32

// NewDictionary returns the dictionary of a field.
func NewDictionary(st *guard.Steps, c *Column) *Dictionary {
	d := &Dictionary{Column: c, Field: &c.Field, steps: st}
	switch {
	case c.Field.Type == herb.TypeList:
		d.Len = c.Elements()
	case !slices.ContainsFunc(c.nonUniform, func(b byte) bool { return b != 0 }):
		d.Len = c.Distinct()
	default:
		d.addSpellings(st)
	}
	return d
}

// bytesPerCode is the memory for the run of a code, also while the array grows.
const bytesPerCode = 16

// addSpellings assigns codes to all spellings.
func (d *Dictionary) addSpellings(st *guard.Steps) {
	st.Reserve(4 * d.Distinct())
	s := &spelledRuns{
		codes: make([]uint32, d.Distinct()+1), codesOf: map[uint32]map[string]uint32{}, texts: map[uint32]string{},
	}
	all := newSortedResult(st, d.Column, nil, false)
	for run := range uint32(d.Distinct()) {
		st.Add(1)
		if !d.isNonUniform(int(run)) {
			st.Reserve(bytesPerCode)
			s.codes[run] = uint32(len(s.runs))
			s.runs = append(s.runs, run)
			continue
		}
		s.codes[run], s.codesOf[run] = notCode, map[string]uint32{}
		for _, spelling := range all.spellings(int(run)) {
			st.Reserve(bytesPerCode + bytesPerSpelling + len(spelling.text))
			code := uint32(len(s.runs))
			s.codesOf[run][spelling.text], s.texts[code] = code, spelling.text
			s.runs = append(s.runs, run)
		}
	}
	d.Len, d.spellings = len(s.runs), s
	s.codes[d.Distinct()] = uint32(d.Len)
}

// AppendCodes appends the codes of the values of some records.
func (d *Dictionary) AppendCodes(dst []uint32, records []uint32) []uint32 {
	if d.runAt == nil {
		d.runAt = new(NewIntervalIndex(d.steps, d.runs, d.sorted.Len()))
	}
	dst = slices.Grow(dst, len(records))
	start := len(dst)
	for _, rec := range records {
		dst = append(dst, d.runAt.At(d.ranks.At(int(rec))))
	}
	if d.spellings == nil {
		return dst
	}
	for i, run := range dst[start:] {
		code := d.spellings.codes[run]
		if code == notCode {
			code = d.spellings.codesOf[run][d.value(records[i])]
		}
		dst[start+i] = code
	}
	return dst
}

// AppendElements appends the codes of the elements of a record of a list field; none if it is
// missing.
func (d *Dictionary) AppendElements(dst []uint32, record uint32) []uint32 {
	l := &d.lists
	for i, end := l.starts.At(int(record)), l.starts.At(int(record)+1); i < end; i++ {
		dst = append(dst, l.at(i))
	}
	return dst
}

// Value returns a value as the first record of the dataset has it.
func (d *Dictionary) Value(code uint32) string {
	if d.Field.Type == herb.TypeList {
		element := d.elements.At(int(code))
		d.steps.Add(1 + len(element)/bytesPerStep)
		return string(element)
	}
	if d.spellings == nil {
		return d.readRunValue(d.steps, int(code))
	}
	if value, ok := d.spellings.texts[code]; ok {
		d.steps.Add(1 + len(value)/bytesPerStep)
		return value
	}
	return d.readRunValue(d.steps, int(d.spellings.runs[code]))
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
	if d.spellings != nil {
		return func(code uint32) []byte { return []byte(d.Value(code)) }
	}
	values := d.newRunValues(d.steps, n)
	return func(code uint32) []byte {
		d.steps.Add(1)
		return values.at(int(code))
	}
}

// HasRuns reports whether the codes are the runs.
func (d *Dictionary) HasRuns() bool {
	return d.spellings == nil && d.Field.Type != herb.TypeList
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
	from, to := d.run(int(code))
	d.steps.Blocks(from, to, func(from, to int) { f(d.sorted.Slice(from, to)) })
}
