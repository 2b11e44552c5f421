package value

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// numbers recognizes columns of numbers.
type numbers struct {
	isTyped      bool         // see Profiler.SetTyped
	styles       []separators // separators with which all values so far are numbers
	count        int
	exponent     bool // some number has an exponent; not updated after marked is set
	marked       bool // some number has more than digits and an exponent, so that 1e5 is not a code
	short        bool // some integer has at most three digits and no separator
	hundreds     int  // integers of three digits and no separator
	rounded      bool // some number has three digits after a point, the last one zero
	ungrouped    bool // some integer has more than four digits and no separator
	notBit       bool // some number is neither 0 nor 1
	padded       bool // some number has a sign, leading zeros and decimals
	bare         bool // some number ends with a point, as ordinals do
	inner        int  // digits between the first two commas of a number: 2 in India; 0: no number has two commas
	simple       bool // some number has at most one comma
	notDigits    bool // some number is not just digits
	fewest, most int  // digits of a number, as far as all are just digits
	accounting   int  // negative numbers in parentheses, or with a minus sign after them
	affix        string
	affixed      int
	afterPoint   int // most digits after the last point of a number
	afterComma   int // the same of commas
}

// observe adds a number. It returns false, and changes nothing, if v is not a number in the
// notation of the others. plain reports whether v is in plain decimal notation.
func (n *numbers) observe(v []byte, plain bool) bool {
	before := *n
	if n.add(v, plain) {
		return true
	}
	*n = before
	return false
}

func (n *numbers) add(v []byte, plain bool) bool {
	n.count++
	n.notBit = n.notBit || len(v) != 1 || v[0] > '1'
	if plain && bytes.IndexByte(v, '.') < 0 { // the same in every style
		n.marked, n.simple = true, true
		n.notDigits = n.notDigits || v[0] == '-'
		if n.count == 1 {
			n.fewest = len(v)
		}
		n.fewest, n.most = min(n.fewest, len(v)), max(n.most, len(v))
		n.addInteger(bytes.TrimPrefix(v, []byte{'-'}))
		return true
	}
	n.notDigits = true
	if number, ok := text.CutAccounting(v); ok {
		if len(number) == 0 || number[0] == '-' || number[0] == '+' {
			return false
		}
		v, plain, n.marked = number, isPlainNumber(number), true
		n.accounting++
	}
	if unpadded, ok := cutPadding(v); ok {
		v, plain, n.padded, n.marked = unpadded, true, true, true
		n.styles = without(n.styles, func(s separators) bool { return s.Decimal != "" })
	}
	if !plain && (!isDigit(v[0]) || !isDigit(v[len(v)-1])) {
		var ok bool
		v, ok = n.cutAffix(v)
		if !ok {
			return false
		}
		if isPlainNumber(v) && bytes.IndexByte(v, '.') < 0 {
			n.addInteger(v)
		}
	}
	if !n.marked {
		n.marked = bytes.ContainsAny(v, ".,+-")
		n.exponent = n.exponent || bytes.ContainsAny(v, "eE")
	}
	n.rounded = n.rounded || len(v) > 4 && v[len(v)-4] == '.' && v[len(v)-1] == '0'
	n.bare = n.bare || v[len(v)-1] == '.'
	n.afterPoint, n.afterComma = max(n.afterPoint, digitsAfter(v, '.')), max(n.afterComma, digitsAfter(v, ','))
	if !n.addCommas(v) {
		return false
	}
	n.styles = without(n.styles, func(s separators) bool {
		return !(plain && s.Decimal == "") && !s.Fit(v)
	})
	return len(n.styles) > 0
}

// digitsAfter returns the number of digits after the last separator of a number; 0 if anything else
// follows it.
func digitsAfter(v []byte, separator byte) int {
	digits := v[bytes.LastIndexByte(v, separator)+1:]
	if len(digits) == len(v) || bytes.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0
	}
	return len(digits)
}

// decimals returns the most digits that a number has after the decimal separator of a notation.
func (n *numbers) decimals(notation herb.Notation) int {
	if notation.Decimal == "," {
		return n.afterComma
	}
	return n.afterPoint
}

// addCommas returns false if the commas of a number show another size of groups than those of the
// numbers before.
func (n *numbers) addCommas(v []byte) bool {
	_, rest, _ := bytes.Cut(v, []byte{','})
	inner := bytes.IndexByte(rest, ',')
	if inner < 0 {
		n.simple = true
		return true
	}
	isEqual := n.inner == 0 || n.inner == inner
	n.inner = inner
	return isEqual
}

// addInteger adds an integer without a separator and a sign.
func (n *numbers) addInteger(digits []byte) {
	if len(digits) == 3 {
		n.hundreds++
	}
	n.short = n.short || len(digits) <= 3
	n.ungrouped = n.ungrouped || len(digits) > 4 // some write 1234 beside 12.345
}

// without returns the items that are not to be deleted. It does not change the items.
func without[T any](items []T, del func(T) bool) []T {
	if !slices.ContainsFunc(items, del) { // all but a few times
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), del)
}

// cutAffix removes a currency or percent sign from a number. ok is false if it is another one than
// in the values before.
func (n *numbers) cutAffix(v []byte) (number []byte, ok bool) {
	affix, number := cutAffix(v)
	if len(affix) == 0 {
		return number, true
	}
	if n.affix == "" {
		n.affix = string(affix)
	}
	n.affixed++
	return number, n.affix == string(affix)
}

// decimal returns the decimal separator that all possible notations have, or "" if they differ and
// the values do not decide.
func (n *numbers) decimal() string {
	decimal := cmp.Or(n.styles[0].Decimal, ".")
	isOther := func(s separators) bool { return cmp.Or(s.Decimal, ".") != decimal }
	switch {
	case !slices.ContainsFunc(n.styles, isOther):
		return decimal
	case n.isPointAmbiguous() && n.rounded && n.hundreds >= minHundreds:
		return ","
	}
	return ""
}

// minHundreds is the number of integers of three digits which show, beside 1.230, that a point
// separates thousands: decimals that keep the zero of 1.230 would write 379 as 379.000.
const minHundreds = 10

// isPointAmbiguous reports whether all points may separate thousands or decimals, and some integer
// has no point.
func (n *numbers) isPointAmbiguous() bool {
	return n.short && !n.ungrouped && slices.Contains(n.styles, groupPoint) && !slices.Contains(n.styles, decimalComma)
}

// notation returns the only notation in which all values are numbers. Of two, it is the one that
// other columns show. why is not empty if there is none.
func (n *numbers) notation(shown *conventions) (notation herb.Notation, why string) {
	switch {
	case n.affixed > 0 && n.affixed < n.count:
		return notation, "some numbers have the sign " + n.affix + " and some have none"
	case n.accounting == n.count:
		return notation, "all are in parentheses or before a minus sign, which may not mean negative numbers; " +
			"declare the type number if it does"
	case n.exponent && !n.marked:
		return notation, "codes such as 1e5 are not numbers"
	case n.inner == 2 && !n.simple:
		return notation, `commas may separate digits as in India, or several numbers; declare the type number with groupChar "," if digits`
	}
	s := n.styles[0]
	switch {
	case s == decimalComma && slices.Contains(n.styles, groupComma):
		// The currency may show that a comma before three digits separates thousands.
		isLeading := text.IsLeadingCurrency(n.affix)
		switch {
		case shown.decimal == "," && !isLeading:
		case shown.decimal == "." || n.short || isLeading:
			s = groupComma
		default:
			return notation, ambiguous("comma", ",", ".")
		}
	case s == decimalPoint && !n.isTyped && slices.Contains(n.styles, groupPoint) &&
		!slices.Contains(n.styles, decimalComma):
		// some value has a point
		switch {
		case cmp.Or(n.decimal(), shown.decimal) == ",":
			s = groupPoint
		case shown.decimal == "" && n.isPointAmbiguous():
			return notation, ambiguous("point", ".", ",")
		}
	}
	return herb.Notation{Group: s.Group, Decimal: s.Decimal, Affix: n.affix, Padded: n.padded}, ""
}

// isPlain reports whether all values are in plain decimal notation.
func (n *numbers) isPlain() bool {
	return n.affixed == 0 && slices.Contains(n.styles, decimalPoint)
}

// ambiguous says that a separator may have two meanings, and how to declare each. other is the
// decimal separator if it separates thousands.
func ambiguous(noun, separator, other string) string {
	return fmt.Sprintf("a %s may separate thousands or decimals; declare the type number with groupChar %q and "+
		"decimalChar %q if it separates thousands, with decimalChar %q if decimals",
		noun, separator, other, separator)
}
