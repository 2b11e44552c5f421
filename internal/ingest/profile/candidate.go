package profile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// Limits of the values that a column may have beside those of its type.
const (
	maxSigns = 8   // different signs for missing values
	maxWords = 2   // different words, such as "no date"
	maxNamed = 3   // values that a reason names
	maxShare = 100 // at most one value in maxShare is such a word
)

// candidate collects the evidence for and against one scalar type of a column.
type candidate struct {
	closed  bool         // some value rules the type out
	typed   int          // number of values of the type; after close, in any notation
	other   int          // number of values that are not of the type
	named   []namedValue // different values that are not of the type: all until close, then the first maxNamed
	another string       // first value of the type whose notation differs from the values before
}

// namedValue is a value with its position and the number of times that it occurs.
type namedValue struct {
	value, where string
	count        int
}

// addWord adds a value without digits. More than maxWords different words rule the type out.
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

// close rules the type out because of a value. isTyped reports whether the value is of the type,
// but in another notation than the values before.
func (c *candidate) close(v []byte, isTyped bool, where func() string) {
	if c.closed = true; isTyped {
		c.typed++
		c.nameAnother(v, where)
	} else {
		c.addOther(v, where)
	}
}

// nameAnother keeps the first value of the type that is not in the notation of the values before.
func (c *candidate) nameAnother(v []byte, where func() string) {
	if c.another == "" {
		c.another = quote(v, where())
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

// isNear reports whether at least half of the values are of the type. padded is the number of
// further values that would be if they had no leading zeros.
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

// addNamed counts a value in a list of at most limit different values. It returns false if the list
// is full and does not contain the value.
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

// maxQuoted is the maximum number of bytes of a value that messages quote.
const maxQuoted = 400

// quote quotes a value with its position for a message.
func quote(value []byte, where string) string {
	return fmt.Sprintf("%q (%s)", clip(string(value[:min(len(value), maxQuoted)])), where)
}

func clip(s string) string { return herb.Clip(s, 60) }

// hasDigit reports whether a value has a digit. Numbers and dates have at least one.
func hasDigit(v []byte) bool {
	for _, c := range v {
		if isDigit(c) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// maxElement is the length of the longest word that may stand for a missing value.
const maxElement = 40

// isWord reports whether a value may be a word that stands for a missing value, such as "no date".
func isWord(v []byte) bool {
	return len(v) <= maxElement*utf8.UTFMax && !hasDigit(v) && utf8.RuneCount(v) <= maxElement
}
