package profile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of what is not a value of a column's type.
const (
	maxSigns = 8   // kinds of signs for missing values
	maxWords = 2   // other words, such as "no date"
	maxNamed = 3   // values that a reason names
	maxShare = 100 // such words are at most one of so many values
)

// candidate gathers what speaks for and against one scalar type of a column.
type candidate struct {
	closed  bool         // some value rules the type out
	typed   int          // values of the type; once it is closed, in any notation
	other   int          // values that are not
	named   []namedValue // the first of these; until the type is closed, all of them
	another string       // the first value in another notation than those before it
}

// namedValue is a value with its position and the number of times that it occurs.
type namedValue struct {
	value, where string
	count        int
}

// addWord adds a value without digits. It rules the type out if there are too many different ones.
func (c *candidate) addWord(v []byte, where func() string) {
	c.addOther(v, where)
	c.closed = c.closed || len(c.named) > maxWords
}

// addOther adds a value that is not of the type.
func (c *candidate) addOther(v []byte, where func() string) {
	if c.other++; len(c.named) < maxNamed {
		addNamed(&c.named, v, maxNamed, where)
	}
}

// close rules the type out. isTyped reports whether the value that does so is of the type, in
// another notation.
func (c *candidate) close(v []byte, isTyped bool, where func() string) {
	if c.closed = true; isTyped {
		c.typed++
		c.another = quote(v, where())
	} else {
		c.addOther(v, where)
	}
}

// addClosed adds a value after the type was ruled out.
func (c *candidate) addClosed(v []byte, isTyped bool, where func() string) {
	if isTyped {
		c.typed++
	} else {
		c.addOther(v, where)
	}
}

// holds reports whether the column has the type, apart from the notation.
func (c *candidate) holds() bool {
	values := c.typed + c.other
	return !c.closed && c.typed > 0 && maxShare*c.other <= values
}

// isNear reports whether most values, padded of which only have leading zeros, are of the type.
func (c *candidate) isNear(padded int) bool { return 2*(c.typed+padded) >= c.typed+c.other }

// reason names the values that rule the type out. noun is the name of the type.
func (c *candidate) reason(noun string) string {
	var parts []string
	if c.other == 1 {
		parts = append(parts, fmt.Sprintf("%s is not a %s", c.named[0], noun))
	} else if c.other > 1 {
		var names []string
		for _, n := range c.named {
			names = append(names, n.String())
		}
		parts = append(parts, fmt.Sprintf("%s values are not %ss, the first %s", herb.Count(c.other), noun, strings.Join(names, ", ")))
	}
	if c.another != "" {
		parts = append(parts, fmt.Sprintf("%s is not a %s in the notation of the others", c.another, noun))
	}
	return strings.Join(parts, "; ")
}

func (n namedValue) String() string { return quote([]byte(n.value), n.where) }

// addNamed counts a value, and adds it to those that are named unless there are enough. It returns
// whether it is among them.
func addNamed(named *[]namedValue, v []byte, limit int, where func() string) bool {
	for i := range *named {
		if n := &(*named)[i]; n.value == string(v[:min(len(v), maxQuoted)]) {
			n.count++
			return true
		}
	}
	if len(*named) == limit {
		return false
	}
	*named = append(*named, namedValue{string(v[:min(len(v), maxQuoted)]), where(), 1})
	return true
}

// maxQuoted is the number of bytes of a value that are kept to name it.
const maxQuoted = 400

// quote quotes a value with its position for a message.
func quote(value []byte, where string) string {
	return fmt.Sprintf("%q (%s)", clip(string(value[:min(len(value), maxQuoted)])), where)
}

func clip(s string) string { return herb.Clip(s, 60) }

// isInfinity reports whether a value is missing in columns that are declared numbers, because
// floating-point columns have it.
func isInfinity(v []byte) bool {
	if len(v) < len("inf") || len(v) > len("-infinity") {
		return false
	}
	switch strings.ToLower(strings.TrimLeft(string(v), "+-")) {
	case "inf", "infinity":
		return true
	}
	return false
}

// isNumberLike reports whether a value is a number in some notation: digits with separators, an
// exponent, a sign, and a currency or percent sign.
func isNumberLike(v []byte) bool {
	if isPlainNumber(v) {
		return true
	}
	if len(v) > maxNumber || hasOtherLetters(v) {
		return false
	}
	number, ok := new(numbers).cutAffix(v)
	if !ok || len(number) == 0 || !isDigit(number[len(number)-1]) {
		return false
	}
	for _, s := range styles() {
		if isNumber(number, &herb.Notation{Group: s.group, Decimal: s.decimal}) {
			return true
		}
	}
	return false
}

// hasOtherLetters reports whether a value has letters that no number has: none but the E of an
// exponent, without a currency sign.
func hasOtherLetters(v []byte) bool {
	hasLetter := false
	for _, c := range v {
		if c == '$' || c >= utf8.RuneSelf {
			return false
		}
		lower := c | 0x20
		hasLetter = hasLetter || 'a' <= lower && lower <= 'z' && lower != 'e'
	}
	return hasLetter
}

// maxNumber is the length of the longest value that isNumberLike compares with every notation.
const maxNumber = 60

// isTimeLike reports whether a value is a date or a datetime in some notation: one or two digits,
// or the name of a month, a separator, and so on, with a year.
func isTimeLike(v []byte) bool {
	if text.IsDate(v) {
		return true
	}
	if len(v) < len("1/1/24") || len(v) > maxTime {
		return false
	}
	if _, ok := text.ScanDateTime(v); ok || text.MatchesLayout(compactLayout, v) {
		return true
	}
	date, _ := new(times).cutClock(v)
	for _, l := range dateLayouts() {
		isName, separator := l.long[1] == 'b' || l.long[1] == 'a', l.long[2]
		if isName != isDigit(v[0]) && bytes.IndexByte(date, separator) > 0 && (text.MatchesLayout(l.long, date) || isShort(l, date)) {
			return true
		}
	}
	return false
}

// hasDigit reports whether a value has a digit; one without is no number and no date.
func hasDigit(v []byte) bool {
	for _, c := range v {
		if isDigit(c) {
			return true
		}
	}
	return false
}

// isWord reports whether a value may be a word that stands for a missing value, such as "no date".
func isWord(v []byte) bool {
	return len(v) <= maxElement*utf8.UTFMax && !hasDigit(v) && utf8.RuneCount(v) <= maxElement
}
