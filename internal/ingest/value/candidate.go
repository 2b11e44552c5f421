package value

import (
	"fmt"
	"strings"

	"herbarium/internal/herb"
)

// Limits of the values that a column may have beside those of its type. Exceptions are values
// without a digit, such as "on request".
const (
	maxSigns      = 8  // different signs for missing values
	maxExceptions = 20 // different exceptions
	minValues     = 10 // values of a column with exceptions
	maxShare      = 10 // at most one value in maxShare is an exception
	maxNamed      = 3  // values that a reason names
	maxWords      = 30 // different words of a column: exceptions, and words for true and false in any case
)

// candidate collects the evidence for and against one scalar type of a column.
type candidate struct {
	closed     bool         // some value rules the type out
	typed      int          // number of values of the type; after close, in any notation
	other      int          // number of values that are not of the type
	named      []namedValue // the first different values that are not of the type
	another    string       // first value of the type whose notation differs from the values before
	exceptions int          // number of different values that addWord added
}

// namedValue is a value with its position and the number of times that it occurs.
type namedValue struct {
	value, where string
	count        int
}

// addWord adds an exception. More than maxExceptions different ones rule the type out.
func (c *candidate) addWord(v []byte, isNew bool, where func() string) {
	c.addOther(v, where)
	if isNew {
		c.exceptions++
		c.closed = c.closed || c.exceptions > maxExceptions
	}
}

// addOther adds a value that is not of the type.
func (c *candidate) addOther(v []byte, where func() string) {
	c.other++
	if len(c.named) < maxNamed {
		addNamed(&c.named, v, maxNamed, where)
	}
}

// close rules the type out because of a value. isTyped reports whether the value is of the type,
// but in another notation than the values before.
func (c *candidate) close(v []byte, isTyped bool, where func() string) {
	c.closed = true
	if isTyped {
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
	return !c.closed && c.typed > 0 && (c.other == 0 || values >= minValues && maxShare*c.other <= values)
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
		parts = append(parts, fmt.Sprintf("%s values are not %ss, the first %s", herb.Count(c.other), noun,
			strings.Join(names, ", ")))
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

// words are the different values of a column that may be exceptions.
type words struct {
	values []namedValue
	isFull bool
}

// observe adds a value. It returns false if the value cannot be an exception: it has a digit, is
// too long, or there are too many.
func (w *words) observe(v []byte, where func() string) (isNew, ok bool) {
	if w.isFull || len(v) > maxQuoted || hasDigit(v) {
		return false, false
	}
	before := len(w.values)
	if !addNamed(&w.values, v, maxWords, where) {
		w.isFull, w.values = true, nil
		return false, false
	}
	return len(w.values) > before, true
}
