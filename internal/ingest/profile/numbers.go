package profile

import (
	"bytes"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/kind"
	"herbarium/internal/text"
)

// numbers recognizes columns of numbers.
type numbers struct {
	styles       []kind.Separators // separators with which all values so far are numbers
	count        int
	exponent     bool // some number has an exponent; not updated after marked is set
	marked       bool // some number has more than digits and an exponent, so that 1e5 is not a code
	short        bool // some integer has at most three digits and no separator
	notBit       bool // some number is neither 0 nor 1
	notDigits    bool // some number is not just digits
	fewest, most int  // digits of a number, as far as all are just digits
	affix        string
	affixed      int
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
		n.marked = true
		n.notDigits = n.notDigits || v[0] == '-'
		if n.count == 1 {
			n.fewest = len(v)
		}
		n.fewest, n.most = min(n.fewest, len(v)), max(n.most, len(v))
		n.short = n.short || len(v) <= 3
		return true
	}
	n.notDigits = true
	if !plain && (!isDigit(v[0]) || !isDigit(v[len(v)-1])) {
		var ok bool
		if v, ok = n.cutAffix(v); !ok {
			return false
		}
	}
	if !n.marked {
		n.marked = bytes.ContainsAny(v, ".,+-")
		n.exponent = n.exponent || bytes.ContainsAny(v, "eE")
	}
	n.styles = without(n.styles, func(s kind.Separators) bool {
		return !(plain && s.Decimal == "") && !s.Fit(v)
	})
	return len(n.styles) > 0
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
	affix, number := kind.CutAffix(v)
	if len(affix) == 0 {
		return number, true
	}
	if n.affix == "" {
		n.affix = string(affix)
	}
	n.affixed++
	return number, n.affix == string(affix)
}

// notation returns the only notation in which all values are numbers. why is not empty if there is
// none.
func (n *numbers) notation() (notation herb.Notation, why string) {
	switch {
	case n.affixed > 0 && n.affixed < n.count:
		return notation, "some numbers have the sign " + n.affix + " and some have none"
	case n.exponent && !n.marked:
		return notation, "codes such as 1e5 are not numbers"
	}
	s := n.styles[0]
	if s == kind.DecimalComma && slices.Contains(n.styles, kind.GroupComma) {
		// The currency may show that a comma before three digits separates thousands.
		if !n.short && !text.IsLeadingCurrency(n.affix) {
			return notation, "a comma may separate thousands or decimals"
		}
		s = kind.GroupComma
	}
	return herb.Notation{Group: s.Group, Decimal: s.Decimal, Affix: n.affix}, ""
}

// isPlain reports whether all values are in plain decimal notation.
func (n *numbers) isPlain() bool {
	return n.affixed == 0 && slices.Contains(n.styles, kind.Separators{})
}
