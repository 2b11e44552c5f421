package profile

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// separators are how a number is written.
type separators struct{ group, decimal string }

var (
	decimalComma = separators{decimal: ","} // 1234,5
	groupComma   = separators{group: ","}   // 1,234.5
)

// styles returns the separators that are inferred, those that are preferred first.
func styles() []separators {
	return []separators{{}, decimalComma, {group: " "}, groupComma, {".", ","}, {" ", ","}, {group: "'"}}
}

func isNumber(v []byte, n *herb.Notation) bool {
	var buf [64]byte
	_, status := text.AppendPublished(buf[:0], &herb.Field{Type: herb.TypeNumber, Notation: *n}, v)
	return status == text.Valid
}

// isPlainNumber reports whether v is a number in plain decimal notation.
func isPlainNumber(v []byte) bool { return text.IsNumber(v) && text.DigitCount(v) <= text.MaxDigits }

// isLongNumber reports whether v has too many digits for a number.
func isLongNumber(v []byte) bool {
	return len(v) > text.MaxDigits && text.IsNumber(v) && !isPlainNumber(v)
}

// numbers recognizes columns of numbers.
type numbers struct {
	styles   []separators // in which all values are numbers
	count    int
	exponent bool // some number has an exponent, as far as none is marked
	marked   bool // some number is not just digits and an exponent
	short    bool // some integer has at most three digits and no separator
	notBit   bool // some number is neither 0 nor 1
	affix    string
	affixed  int
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
		n.short = n.short || len(v) <= 3
		return true
	}
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
	n.styles = without(n.styles, func(s separators) bool {
		return !(plain && s.decimal == "") && !isNumber(v, &herb.Notation{Group: s.group, Decimal: s.decimal})
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

// cutAffix removes a currency sign before a number, with up to two letters before it as in US$, or
// a currency or percent sign after it. ok is false if it is another one than in the values before.
func (n *numbers) cutAffix(v []byte) (number []byte, ok bool) {
	unsigned := v
	if v[0] == '-' || v[0] == '+' {
		unsigned = v[1:]
	}
	letters := len(unsigned) - len(bytes.TrimLeft(unsigned, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	sign, size := utf8.DecodeRune(unsigned[letters:])
	affix, number := unsigned[:letters+size], unsigned[letters+size:]
	if letters > 2 || !unicode.Is(unicode.Sc, sign) {
		if sign, size = utf8.DecodeLastRune(v); sign != '%' && !unicode.Is(unicode.Sc, sign) {
			return v, true
		}
		affix, number = v[len(v)-size:], v[:len(v)-size]
	}
	if n.affix == "" {
		n.affix = string(affix)
	}
	n.affixed++
	return text.TrimBlanks(number), n.affix == string(affix)
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
	if s == decimalComma && slices.Contains(n.styles, groupComma) {
		// The currency may show that a comma before three digits separates thousands.
		if !n.short && !slices.Contains([]string{"$", "US$", "£", "¥", "₹"}, n.affix) {
			return notation, "a comma may separate thousands or decimals"
		}
		s = groupComma
	}
	return herb.Notation{Group: s.group, Decimal: s.decimal, Affix: n.affix}, ""
}

// isPlain reports whether all values are in plain decimal notation.
func (n *numbers) isPlain() bool { return n.affixed == 0 && slices.Contains(n.styles, separators{}) }

// isPaddedNumber reports whether v is a number with leading zeros, which may have an exponent.
func isPaddedNumber(v []byte) bool {
	number, isPadded := bytes.TrimPrefix(v, []byte{'-'}), false
	for len(number) > 1 && number[0] == '0' && isDigit(number[1]) {
		number, isPadded = number[1:], true
	}
	return isPadded && (isPlainNumber(number) || isNumber(number, &herb.Notation{}))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

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

// hold reports whether the words are booleans: both words of the pair occur, or the words are true
// or false.
func (b *booleans) hold() bool { return b.pair == 1 || b.has && b.not }
