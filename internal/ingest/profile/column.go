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

// column gathers what the type of a column depends on. Numbers, times and booleans exclude one another; each is tested
// until a value rules it out.
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

func newColumn() *column {
	return &column{numbers: numbers{styles: styles()}, list: elements{distinct: map[string]struct{}{}}}
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
	return ok && len(rest) > 0 && !hasSpace(rest)
}

// hasSpace reports whether a value contains white space. Examining bytes takes a sixth of the time of examining characters.
func hasSpace(value []byte) bool {
	for i, c := range value {
		if c >= utf8.RuneSelf {
			return bytes.ContainsFunc(value[i:], unicode.IsSpace)
		}
		if c <= ' ' && unicode.IsSpace(rune(c)) {
			return true
		}
	}
	return false
}

// observe adds a non-empty value.
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

// clip truncates a value for use in a message.
func clip(s string) string { return herb.Clip(s, 60) }

// isMarker reports whether a value means a missing one in columns of scalar types.
func isMarker(v []byte) bool { return text.IsMissing(v) || isInfinity(string(v)) }

// isInfinity reports whether a marker is one in declared number columns only, because floating-point columns have it.
func isInfinity(marker string) bool {
	switch strings.TrimLeft(marker, "+-") {
	case "Inf", "INF", "inf", "Infinity":
		return true
	}
	return false
}

// hasBlankEnd reports whether a value begins or ends with white space.
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
