package profile

import (
	"bytes"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// style is a set of number notations.
type style uint8

const (
	stylePlain      style = 1 << iota // 1234.5
	styleComma                        // 1,234.5
	stylePoint                        // 1.234,5
	styleBlank                        // 1 234.5
	styleBlankComma                   // 1 234,5
	styleApostrophe                   // 1'234.5
	styleDecimal                      // 1234,5
	styles          = iota
)

// withPoint is the set of styles in which every number with a point and no other separator is valid.
const withPoint = stylePlain | styleComma | styleBlank | styleApostrophe

// notation returns the notation of one style.
func (s style) notation() *herb.Notation { return &styleNotations[bits.TrailingZeros8(uint8(s))] }

var styleNotations = [styles]herb.Notation{
	{}, {Group: ","}, {Group: ".", Decimal: ","}, {Group: " "}, {Group: " ", Decimal: ","}, {Group: "'"}, {Decimal: ","},
}

// numbers recognizes columns of numbers.
type numbers struct {
	styles   style
	count    int
	exponent bool // some number has an exponent, as far as none is marked
	marked   bool // some number is not just digits and an exponent
	short    bool // some integer has at most three digits and no separator
	notBit   bool // some number is neither 0 nor 1
	affix    string
	affixed  int
}

// observe reports whether the column may still be one of numbers.
func (n *numbers) observe(k kind, v []byte) bool {
	n.count++
	n.notBit = n.notBit || len(v) != 1 || v[0] > '1'
	switch k {
	case kindInteger:
		n.marked = true
		n.short = n.short || len(v) <= 3
		return true
	case kindDecimal:
		n.marked = true
		fits := withPoint
		if n.styles&stylePoint != 0 && isValid(stylePoint, v) {
			fits |= stylePoint
		}
		n.styles &= fits
		return n.styles != 0
	case kindPadded, kindDate:
		return false
	}
	v, ok := n.cutAffix(v)
	if !ok || len(v) == 0 || !isNumberByte(v[0]) {
		return false
	}
	if !n.marked {
		n.marked = bytes.ContainsAny(v, ".,+-")
		n.exponent = n.exponent || bytes.ContainsAny(v, "eE")
	}
	for s := stylePlain; s < 1<<styles; s <<= 1 {
		if n.styles&s != 0 && !isValid(s, v) {
			n.styles &^= s
		}
	}
	return n.styles != 0
}

func isValid(s style, v []byte) bool {
	var buf [64]byte
	_, ok := text.AppendDecimal(buf[:0], s.notation(), v)
	return ok
}

// isNumberByte reports whether a number without affixes can begin with a byte.
func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == ',' || c == "\u2212"[0]
}

// cutAffix removes a sign before a currency sign, and the currency or percent sign. ok is false if it is another than in
// the values before.
func (n *numbers) cutAffix(v []byte) (rest []byte, ok bool) {
	rest = v
	if len(v) > 1 && (v[0] == '-' || v[0] == '+') && !isNumberByte(v[1]) {
		rest = v[1:]
	}
	size := currencySize(rest)
	affix := rest[:size]
	if size > 0 {
		rest = rest[size:]
	} else if r, last := utf8.DecodeLastRune(rest); r == '%' || r >= utf8.RuneSelf && unicode.Is(unicode.Sc, r) || r == '$' {
		affix, rest = rest[len(rest)-last:], rest[:len(rest)-last]
	} else {
		return v, len(rest) == len(v)
	}
	if n.affix == "" {
		n.affix = string(affix)
	}
	n.affixed++
	return trimSpace(rest), n.affix == string(affix)
}

// currencySize returns the size of the currency sign at the start of v, with up to two letters before it as in US$, or 0.
func currencySize(v []byte) int {
	at := 0
	for at < len(v) && at < 2 && 'A' <= v[at] && v[at] <= 'Z' {
		at++
	}
	if at >= len(v) {
		return 0
	}
	if v[at] == '$' {
		return at + 1
	}
	if r, size := utf8.DecodeRune(v[at:]); r >= utf8.RuneSelf && unicode.Is(unicode.Sc, r) {
		return at + size
	}
	return 0
}

// notation returns the only notation in which all values are numbers. why is not empty if there is none.
func (n *numbers) notation() (notation herb.Notation, why string) {
	switch {
	case n.affixed > 0 && n.affixed < n.count:
		return notation, "some numbers have the sign " + n.affix + " and some have none"
	case n.exponent && !n.marked:
		return notation, "codes such as 1e5 are not numbers"
	}
	s := n.styles
	switch {
	case s&stylePlain != 0:
		s = stylePlain
	case s&styleComma != 0 && s&styleDecimal != 0:
		if !n.short && !n.isGroupedByComma() {
			return notation, "a comma may separate thousands or decimals"
		}
		s = styleComma
	case s&styleDecimal != 0:
		s = styleDecimal
	case s&styleBlank != 0:
		s = styleBlank
	}
	notation = *s.notation()
	notation.Affix = n.affix
	return notation, ""
}

// isGroupedByComma reports whether a comma before three digits separates thousands by the currency.
func (n *numbers) isGroupedByComma() bool {
	return slices.Contains([]string{"$", "US$", "£", "¥", "₹"}, n.affix)
}
