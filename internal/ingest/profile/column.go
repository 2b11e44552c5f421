package profile

import (
	"unicode"
	"unicode/utf8"

	"herbarium/internal/text"
)

// family is a set of types that exclude one another.
type family uint8

const (
	famNumber family = 1 << iota
	famTime
	famBoolean
)

// column gathers what the type of a column depends on. A family is tested until a value rules it out.
type column struct {
	filled            int // values that are not empty
	shortest, longest int // characters of a non-empty value
	kinds             [kinds]int
	open              family
	ruledOut          map[family]*place // the first value that does not fit
	numbers           numbers
	times             times
	booleans          booleans
	missing           int             // values that are blank or markers, while a family is open
	markers           map[string]bool // that occur; the value is true for infinities
	marker            string          // the last of them
	infinite          bool            // some are infinities
	urls              bool            // all values are URLs
	json              bool            // some value is JSON text
	list              elements
	blanks            int // values with white space at the beginning or end
	blank             *place
	padded            *place
	checks            []*Field
}

func newColumn() *column {
	return &column{open: famNumber | famTime | famBoolean, ruledOut: map[family]*place{}, markers: map[string]bool{},
		numbers: numbers{styles: 1<<styles - 1}, times: times{layouts: 1<<len(layouts) - 1}, urls: true}
}

// observe adds a non-empty value.
func (c *column) observe(value []byte, budget *int, where func() string) {
	c.filled++
	k, v := kindOf(value), value
	c.measure(value, k == kindText)
	if k == kindText && hasBlankEnd(value) {
		if c.blanks++; c.blank == nil {
			c.blank = newPlace(value, where)
		}
		if v = trimSpace(value); len(v) > 0 {
			k = kindOf(v)
		}
	}
	for _, f := range c.checks {
		f.check(value, where)
	}
	if c.urls {
		c.urls = isURL(value)
	}
	if len(v) == 0 {
		c.missing++
		return
	}
	c.kinds[k]++
	isOpen := c.open != 0 || len(c.checks) > 0
	if isOpen && k == kindText && c.isMissing(v) {
		c.missing++
		return
	}
	if isOpen {
		c.classify(k, v, where)
	}
	if !c.list.ruledOut {
		c.json = c.json || v[0] == '[' || v[0] == '{'
		c.list.observe(v, budget)
	}
}

// classify tests a value against the open families.
func (c *column) classify(k kind, v []byte, where func() string) {
	if k == kindPadded && c.padded == nil {
		c.padded = newPlace(v, where)
	}
	if c.open&famNumber != 0 && !c.numbers.observe(k, v) {
		c.ruleOut(famNumber, v, where)
	}
	if c.open&famTime != 0 && !c.times.observe(k, v) {
		c.ruleOut(famTime, v, where)
	}
	if c.open&famBoolean != 0 && !c.booleans.observe(v) {
		c.ruleOut(famBoolean, v, where)
	}
}

// isMissing reports whether a value is a marker, and records it.
func (c *column) isMissing(v []byte) bool {
	if string(v) == c.marker {
		return true
	}
	marker, infinity := isMarker(v)
	if marker {
		c.marker = string(v)
		c.markers[c.marker] = infinity
		c.infinite = c.infinite || infinity
	}
	return marker
}

func (c *column) ruleOut(f family, v []byte, where func() string) {
	c.open &^= f
	c.ruledOut[f] = newPlace(v, where)
}

// booleans recognizes columns of one pair of words.
type booleans struct {
	pair     int
	has, not bool // true occurs, false occurs
}

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

// check tests a value against the type that the descriptor declares.
func (f *Field) check(value []byte, where func() string) {
	if f.misfit != nil {
		return
	}
	var status text.Status
	f.buf, status = text.AppendCanonical(f.buf[:0], &f.field, value)
	if marker, _ := isMarker(trimSpace(value)); status == text.Invalid && !marker {
		f.misfit = newPlace(value, where)
	}
}

// measure updates the lengths of the shortest and the longest value. It counts the characters of text only if the number of
// bytes does not rule out a change.
func (c *column) measure(value []byte, isText bool) {
	n := len(value)
	if isText {
		if c.filled > 1 && n <= c.longest && n >= utf8.UTFMax*c.shortest {
			return
		}
		n = utf8.RuneCount(value)
	}
	c.longest = max(c.longest, n)
	if c.filled == 1 || n < c.shortest {
		c.shortest = n
	}
}

// hasBlankEnd reports whether a non-empty value begins or ends with white space.
func hasBlankEnd(v []byte) bool {
	first, last := v[0], v[len(v)-1]
	if first < utf8.RuneSelf && last < utf8.RuneSelf {
		return isBlank(first) || isBlank(last)
	}
	f, _ := utf8.DecodeRune(v)
	l, _ := utf8.DecodeLastRune(v)
	return unicode.IsSpace(f) || unicode.IsSpace(l)
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
