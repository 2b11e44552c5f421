// Package profile infers the types of columns and describes their values for the import report, in one pass over the
// cells of a table.
//
//	p := profile.New()
//	f, err := p.Field(column, schema)  // for each exposed field with a declared type, before the first cell of its column
//	p.Observe(cells, rows.Position)    // for each row; cells that a descriptor declares missing are empty
//	field, report, err := f.Result(name, fileType) // after the last row
//
// A field without a declared type (the zero Schema) may be created after the last row. Result returns the type and the
// notation of the field and its column report. It fails if values do not fit the type that the descriptor declares.
//
// The type that a file declares for a column restricts the inference: text excludes numbers and booleans, which such a
// file would have declared. It is not an error if values do not fit it, because some formats do not enforce their types.
package profile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// maxElements is the number of list elements that are kept for all columns together.
const maxElements = 1_000_000

// Profiler profiles the columns of a table. Its memory does not depend on the number of rows.
type Profiler struct {
	columns []*column
	rows    int
	budget  int // list elements that may still be kept
}

// New returns a Profiler of an empty table.
func New() *Profiler { return &Profiler{budget: maxElements} }

// Observe adds a row. position locates the row; it is only called for values that a report mentions.
func (p *Profiler) Observe(cells [][]byte, position func() string) {
	p.grow(len(cells))
	for i, cell := range cells {
		if len(cell) > 0 {
			p.columns[i].observe(cell, &p.budget, position)
		}
	}
	p.rows++
}

// Rows returns the number of rows.
func (p *Profiler) Rows() int { return p.rows }

func (p *Profiler) grow(columns int) {
	for len(p.columns) < columns {
		p.columns = append(p.columns, &column{
			numbers: numbers{styles: styles()}, times: times{layouts: layouts()}, list: elements{distinct: map[string]struct{}{}},
		})
	}
}

// Field is a field that exposes a column.
type Field struct {
	profiler *Profiler
	column   *column
	declared herb.Field // type and notation that the descriptor declares; without a type: inferred
	isAny    bool       // the notation is inferred
	isFixed  bool       // the descriptor declares a notation, so none is inferred
	isWhole  bool       // the descriptor declares integers
	// The first values that do not fit the declared type, if that is scalar, and those with a fraction, if integers are declared.
	misfits, fractions []string
	buf                []byte
}

// Field adds a field that exposes a column. It fails if the schema declares a notation that is not supported.
func (p *Profiler) Field(column int, schema Schema) (*Field, error) {
	p.grow(column + 1)
	f := &Field{profiler: p, column: p.columns[column]}
	var err error
	if f.declared.Type, f.declared.Notation, f.isAny, err = schema.parse(); err != nil {
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

// Misfits returns the first values that do not fit the declared type, with their positions, after Result has failed.
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
	f.buf, status = text.AppendCanonical(f.buf[:0], &f.declared, value)
	if status == text.Invalid && !isMarker(text.TrimBlanks(value)) {
		f.misfits = append(f.misfits, quote(value, where))
	}
	if _, fraction, _ := bytes.Cut(f.buf, []byte(".")); f.isWhole && len(bytes.Trim(fraction, "0")) > 0 {
		f.fractions = append(f.fractions, quote(value, where))
	}
}

// column gathers what the type of a column depends on. Each type is tested until a value rules it out.
type column struct {
	filled, missing    int // values that are not empty; those of them that are blank or markers
	shortest, longest  int // characters of a non-empty value
	numbers            numbers
	times              times
	booleans           booleans
	list               elements
	notNumber, notTime string // the first value that does not fit; empty: all fit
	notBoolean         string
	numeric, dated     int      // values that are numbers, which may have leading zeros, or dates by themselves
	markers            []string // of missing values that occur
	notURL             bool     // some value is not a URL
	json               bool     // some value is JSON text
	blanks             int      // values with white space at the beginning or end
	blank, padded      string   // the first value with white space and the first with leading zeros
	checks             []*Field
}

// isURL reports whether a value is a URL with a scheme or without one, or an absolute path. A regular expression for it would
// take longer than the rest of observe.
func isURL(value []byte) bool {
	rest, ok := bytes.CutPrefix(value, []byte("/"))
	if ok {
		rest = bytes.TrimPrefix(rest, []byte("/"))
	} else {
		var scheme []byte
		scheme, rest, ok = bytes.Cut(value, []byte("://"))
		ok = ok && len(scheme) > 0 && unicode.IsLetter(rune(scheme[0])) && !bytes.ContainsFunc(scheme, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '+' || r == '-' || r == '.')
		})
	}
	return ok && len(rest) > 0 && !bytes.ContainsFunc(rest, unicode.IsSpace)
}

func (c *column) observe(value []byte, budget *int, where func() string) {
	length := utf8.RuneCount(value)
	if c.filled++; c.filled == 1 {
		c.shortest = length
	}
	c.shortest, c.longest = min(c.shortest, length), max(c.longest, length)
	if hasBlankEnd(value) {
		if c.blanks++; c.blank == "" {
			c.blank = quote(value, where)
		}
	}
	for _, f := range c.checks {
		f.check(value, where)
	}
	c.notURL = c.notURL || !isURL(value)
	v := text.TrimBlanks(value)
	isOpen := c.notNumber == "" || c.notTime == "" || c.notBoolean == "" || len(c.checks) > 0
	if len(v) == 0 || isOpen && c.isMissing(v) {
		c.missing++
		return
	}
	isNumber, isDate := text.IsNumber(v), text.IsDate(v)
	if isDate {
		c.dated++
	} else if isNumber {
		c.numeric++
	} else if padded, ok := isNumeric(v); ok {
		c.numeric++
		if padded && isOpen && c.padded == "" {
			c.padded = quote(v, where)
		}
	}
	if c.notNumber == "" && !c.numbers.observe(v, isNumber) {
		c.notNumber = quote(v, where)
	}
	if c.notTime == "" && !c.times.observe(v, isDate) {
		c.notTime = quote(v, where)
	}
	if c.notBoolean == "" && !c.booleans.observe(v) {
		c.notBoolean = quote(v, where)
	}
	if !c.list.ruledOut {
		c.json = c.json || v[0] == '[' || v[0] == '{'
		c.list.observe(v, budget)
	}
}

// isMissing reports whether a value is a marker, and records it.
func (c *column) isMissing(v []byte) bool {
	if !isMarker(v) {
		return false
	}
	if !slices.Contains(c.markers, string(v)) {
		c.markers = append(c.markers, string(v))
	}
	return true
}

// quote quotes a value with its position for a message.
func quote(value []byte, where func() string) string {
	return fmt.Sprintf("%q (%s)", clip(string(value[:min(len(value), 400)])), where())
}

func clip(s string) string { return herb.Clip(s, 60) }

// isMarker reports whether a value means a missing one in columns of scalar types.
func isMarker(v []byte) bool {
	switch string(v) {
	case "#N/A", "--", "..", "?", "N/A", "NA", "NULL", "NaN", "None", `\N`, "null",
		"+Inf", "-INF", "-Inf", "-Infinity", "-inf", "INF", "Inf", "Infinity", "inf":
		return true
	}
	return false
}

// isInfinity reports whether a marker is one in declared number columns only, because floating-point columns have it.
func isInfinity(marker string) bool { return strings.Contains(strings.ToLower(marker), "inf") }

func hasBlankEnd(v []byte) bool { return len(bytes.TrimSpace(v)) < len(v) }

// booleans recognizes columns of one pair of words.
type booleans struct {
	pair     int
	has, not bool // true occurs, false occurs
}

// observe reports whether the column may still be one of booleans.
func (b *booleans) observe(v []byte) bool {
	is, pair := text.BooleanWord(v)
	if pair == 0 || b.pair != 0 && b.pair != pair {
		return false
	}
	b.pair = pair
	b.has, b.not = b.has || is, b.not || !is
	return true
}

// hold reports whether the words are booleans: both words of the pair occur, or the words are true or false.
func (b *booleans) hold() bool { return b.pair == 1 || b.has && b.not }
