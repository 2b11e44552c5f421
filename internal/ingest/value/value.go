// Package value says what values mean: the kind of one value, and the type and the notation of all
// values of a column. There is one recognizer for each type, which knows all notations that are
// inferred. What fits the header of a table, a column without a declared type and the dates of
// which a review asks the publisher how to read them is decided here.
//
// KindOf returns the kind of a value in a wide sense, because names must differ from the values
// below them in whatever notation these are written. A Profiler infers the types of columns and
// describes their values for the import report, in one pass over the cells of a table:
//
//	p := value.NewProfiler()
//	f, err := p.Field(column, schema)  // for each exposed field with a declared type, before the first cell of its column
//	p.Observe(cells, rows.Position)    // for each row; cells that a descriptor declares missing are empty
//	field, report, err := f.Result(name, fileType) // after the last row
//
// A field without a declared type (the zero Schema) may be created after the last row. Result
// returns the type and the notation of the field and its column report. It fails if values do not
// fit the type that the descriptor declares.
//
// The type that a file declares for a column restricts the inference: text excludes numbers and
// booleans, which such a file would have declared. It is not an error if values do not fit it,
// because some formats do not enforce their types.
package value

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Profiler profiles the columns of a table. Its memory does not depend on the number of rows.
type Profiler struct {
	columns []*column
	rows    int
	found   *conventions // nil until the first result
}

// NewProfiler returns a Profiler of an empty table.
func NewProfiler() *Profiler { return &Profiler{} }

// Observe adds a row. position locates the row; it is only called for values that a report
// mentions.
func (p *Profiler) Observe(cells [][]byte, position func() string) {
	p.grow(len(cells))
	for i, cell := range cells {
		if len(cell) > 0 {
			p.columns[i].observe(cell, position)
		}
	}
	p.rows++
}

// Rows returns the number of rows.
func (p *Profiler) Rows() int { return p.rows }

// SetTyped says that the format of the file defines how the numbers of a column are written, with a
// decimal point, as in JSON and workbooks. It must precede the first Result.
func (p *Profiler) SetTyped(column int) {
	p.grow(column + 1)
	p.columns[column].numbers.isTyped = true
}

// SetList says that the arrays of a column, which a file declares as lists, are written as JSON, or
// with commas. It must precede the first Result.
func (p *Profiler) SetList(column int, isJSON bool) {
	p.grow(column + 1)
	l := &p.columns[column].lists
	l.isWritten, l.isJSON = true, isJSON
}

func (p *Profiler) grow(columns int) {
	for len(p.columns) < columns {
		p.columns = append(p.columns, &column{numbers: numbers{styles: allSeparators()}})
	}
}

// Field is a field that exposes a column.
type Field struct {
	profiler *Profiler
	column   *column
	declared herb.Field // type and notation that the descriptor declares; an empty type is inferred
	isAny    bool       // the notation is inferred
	isFixed  bool       // the descriptor declares a notation, so none is inferred
	isWhole  bool       // the descriptor declares integers
	// misfits are the first values that do not fit the declared scalar type, fractions the first
	// values with a fraction if integers are declared.
	misfits, fractions []string
	buf                []byte
}

// Field adds a field that exposes a column. It fails if the schema declares a notation that is not
// supported.
func (p *Profiler) Field(column int, schema Schema) (*Field, error) {
	p.grow(column + 1)
	f := &Field{profiler: p, column: p.columns[column]}
	var err error
	f.declared.Type, f.declared.Notation, f.isAny, err = schema.parse()
	if err != nil {
		return nil, err
	}
	f.isFixed, f.isWhole = schema.declaresNotation() && !f.isAny, schema.isInteger()
	if t := f.declared.Type; t.IsScalar() && t != "" {
		f.column.checks = append(f.column.checks, f)
	}
	return f, nil
}

// MaxMisfits is the number of values that an error about a declared type names.
const MaxMisfits = 20

// Misfits returns the first values that do not fit the declared type, with their positions, after
// Result has failed.
func (f *Field) Misfits() []string {
	if len(f.fractions) > 0 {
		return f.fractions
	}
	return f.misfits
}

// check tests a value against the type that the descriptor declares.
func (f *Field) check(value []byte, where func() string) {
	if len(f.misfits) == MaxMisfits || len(f.fractions) == MaxMisfits {
		return
	}
	var status text.Status
	f.buf, status = text.AppendPublished(f.buf[:0], &f.declared, value)
	if status == text.Invalid && !(f.declared.Type == herb.TypeNumber && isInfinity(text.TrimBlanks(value))) {
		f.misfits = append(f.misfits, quote(value, where()))
	}
	if _, fraction, _ := bytes.Cut(f.buf, []byte(".")); f.isWhole && len(bytes.Trim(fraction, "0")) > 0 {
		f.fractions = append(f.fractions, quote(value, where()))
	}
}

// column gathers what the type of a column depends on. Each type is tested until a value rules it
// out.
type column struct {
	filled                int // values that are not empty
	blank                 int // filled values of white space only
	missing               int // filled values that are signs for missing values
	shortest, longest     int // characters of a non-empty value
	lengths               lengths
	number, date, boolean candidate
	clock                 candidate // of times of day and durations
	numbers               numbers
	dates                 dates
	digitDates            digitDates
	clocks                clocks
	booleans              booleans
	lists                 lists
	words                 words
	signs                 []namedValue // different signs for missing values
	infinities            []namedValue
	notURL                bool // some value is not a URL
	padded                int  // numbers with leading zeros
	firstPadded           string
	long                  int // numbers with too many digits
	firstLong             string
	flagged               int // numbers with flags, such as "12.3 p"
	firstFlagged          string
	spaced                int // values with white space at the beginning or end
	firstSpaced           string
	checks                []*Field
}

// isURL reports whether a value is a URL with a scheme or without one, or an absolute path. A
// regular expression for it would take longer than the rest of observe.
func isURL(value []byte) bool {
	rest, ok := bytes.CutPrefix(value, []byte("/"))
	if ok {
		rest = bytes.TrimPrefix(rest, []byte("/"))
	} else {
		var scheme []byte
		scheme, rest, ok = bytes.Cut(value, []byte("://"))
		ok = ok && len(scheme) > 0 && unicode.IsLetter(rune(scheme[0])) &&
			!bytes.ContainsFunc(scheme, func(r rune) bool {
				return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '+' ||
					r == '-' || r == '.')
			})
	}
	return ok && len(rest) > 0 && !bytes.ContainsFunc(rest, unicode.IsSpace)
}

func (c *column) observe(value []byte, where func() string) {
	length := utf8.RuneCount(value)
	c.filled++
	if c.filled == 1 {
		c.shortest = length
	}
	c.shortest, c.longest = min(c.shortest, length), max(c.longest, length)
	c.lengths.add(length)
	if hasBlankEnd(value) {
		c.spaced++
		if c.firstSpaced == "" {
			c.firstSpaced = quote(value, where())
		}
	}
	c.notURL = c.notURL || !isURL(value)
	v := text.TrimBlanks(value)
	if len(v) == 0 {
		c.blank++
		return
	}
	if IsMissing(v) && addNamed(&c.signs, v, maxSigns, where) {
		c.missing++
		return
	}
	for _, f := range c.checks {
		f.check(value, where)
	}
	c.observeScalar(v, where)
	c.lists.observe(v)
}

// observeScalar adds a value to the candidates for the type of the column.
func (c *column) observeScalar(v []byte, where func() string) {
	isNumber, isDate := isPlainNumber(v), text.IsDate(v)
	isNew, isWord := c.words.observe(v, where)
	isPadded := !isNumber && !isDate && isPaddedNumber(v)
	if isPadded {
		c.padded++
		if c.padded == 1 {
			c.firstPadded = quote(v, where())
		}
	}
	if isLongNumber(v) {
		c.long++
		if c.long == 1 {
			c.firstLong = quote(v, where())
		}
	}
	if !isNumber && isFlagged(v) {
		c.flagged++
		if c.flagged == 1 {
			c.firstFlagged = quote(v, where())
		}
	}
	c.digitDates.observe(v)
	isTime, fits := false, false
	t := &c.date
	if !isWord && !(isNumber && t.closed) {
		isTime, fits = c.dates.observe(v, isDate)
	}
	switch {
	case isWord:
		t.addWord(v, isNew, where)
	case t.closed:
		t.addClosed(v, isTime, where)
	case fits:
		t.typed++
	default:
		t.close(v, isTime, where)
	}
	isPhone := isPhoneNumber(v)
	switch n := &c.number; {
	case isInfinity(v):
		addNamed(&c.infinities, v, maxSigns, where)
	case isWord:
		n.addWord(v, isNew, where)
	case n.closed:
		n.addClosed(v, isNumber || !isTime && !isPadded && !isPhone && IsNumber(v), where)
	case isPhone:
		n.close(v, false, where)
	case c.numbers.observe(v, isNumber):
		n.typed++
	default:
		n.close(v, !isTime && !isPadded && IsNumber(v), where)
	}
	switch k := &c.clock; {
	case isWord:
		k.addWord(v, isNew, where)
	case k.closed:
		k.addClosed(v, c.clocks.observe(v), where)
	case c.clocks.observe(v):
		k.typed++
	default:
		k.close(v, false, where)
	}
	pair := 0
	if len(v) <= len("false") {
		_, pair = text.BooleanWord(v)
	}
	switch b := &c.boolean; {
	case isWord && pair == 0:
		b.addWord(v, isNew, where)
	case b.closed && pair == 0:
		b.addOther(v, where)
	case b.closed:
		c.booleans.observe(v) // hold needs to know whether both words occur
		b.typed++
	case pair != 0 && c.booleans.observe(v):
		b.typed++
	default:
		b.close(v, pair != 0, where)
	}
}

// isArrays reports whether all values are JSON arrays of plain values.
func (c *column) isArrays() bool {
	return c.lists.arrays > 0 && c.lists.arrays == c.filled-c.blank-c.missing
}

func hasBlankEnd(v []byte) bool { return len(bytes.TrimSpace(v)) < len(v) }
