package profile

import (
	"bytes"
	"slices"
	"strings"
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
	_, ok := text.AppendDecimal(buf[:0], n, v)
	return ok
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

// observe reports whether the column may still be one of numbers. plain reports whether v is in plain decimal notation.
func (n *numbers) observe(v []byte, plain bool) bool {
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
	n.styles = slices.DeleteFunc(n.styles, func(s separators) bool {
		return !(plain && s.decimal == "") && !isNumber(v, &herb.Notation{Group: s.group, Decimal: s.decimal})
	})
	return len(n.styles) > 0
}

// cutAffix removes a currency sign before a number, with up to two letters before it as in US$, or a currency or percent
// sign after it. ok is false if it is another one than in the values before.
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

// notation returns the only notation in which all values are numbers. why is not empty if there is none.
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

// isNumeric reports whether v is a number in plain decimal notation that may have leading zeros and an exponent.
func isNumeric(v []byte) (padded, ok bool) {
	number := bytes.TrimPrefix(v, []byte{'-'})
	if len(number) == 0 || !isDigit(number[0]) {
		return false, false
	}
	for len(number) > 1 && number[0] == '0' && isDigit(number[1]) {
		number, padded = number[1:], true
	}
	return padded, text.IsNumber(number) || bytes.ContainsAny(number, "eE") && isNumber(number, &herb.Notation{})
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// layouts returns the notations of dates and datetimes that are inferred beside the standard ones.
func layouts() []string {
	return []string{
		"%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%Y", "%m.%d.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d/%m/%y", "%m/%d/%y",
		"%d.%m.%y", "%m.%d.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y", "%a %b %d %Y", "%Y-%m-%d", "%Y%m%dT%H%M%S",
	}
}

// matches reports whether a value has a layout. Without leading zeros, 1.2.24 is a version rather than a date.
func matches(layout string, v []byte) bool {
	return text.MatchesLayout(layout, v) && (len(v) == len("31.12.24") || !strings.HasSuffix(layout, ".%y"))
}

// times recognizes columns of dates and datetimes.
type times struct {
	notISO           bool     // some value is not in standard notation
	dates            int      // in standard notation
	zoned, unzoned   int      // datetimes in standard notation
	layouts          []string // in which all values are dates or datetimes, if they are not in standard notation
	centuryAmbiguous bool     // some year of two digits is read differently by different programs
}

// observe reports whether the column may still be one of dates or datetimes. isDate reports whether the value is a date in
// standard notation.
func (t *times) observe(v []byte, isDate bool) bool {
	if len(v) < len("1/1/24") || len(v) > len("2006-01-02T15:04:05.000000000 +00:00") {
		return false
	}
	if !t.notISO {
		if isDate {
			t.dates++
			return true
		}
		switch zoned, ok := text.ScanDateTime(v); {
		case ok && zoned:
			t.zoned++
			return true
		case ok:
			t.unzoned++
			return true
		case t.hasClock():
			return false
		case t.dates > 0:
			t.layouts = []string{"%Y-%m-%d"} // zeros are missing
		}
		t.notISO = true
	}
	t.layouts = slices.DeleteFunc(t.layouts, func(layout string) bool { return !matches(layout, v) })
	if len(t.layouts) > 0 && strings.HasSuffix(t.layouts[0], "y") {
		year := string(v[len(v)-2:])
		t.centuryAmbiguous = t.centuryAmbiguous || year >= "30" && year < "69"
	}
	return len(t.layouts) > 0
}

// hasClock reports whether some values are datetimes.
func (t *times) hasClock() bool {
	return t.zoned+t.unzoned > 0 || len(t.layouts) > 0 && strings.Contains(t.layouts[0], "%M")
}

// layout returns the only layout of the values; empty means the standard notation. why is not empty if there is none.
func (t *times) layout() (layout, why string) {
	switch {
	case !t.notISO && t.zoned > 0 && t.unzoned+t.dates > 0:
		return "", "some times have a zone and some have none"
	case !t.notISO:
		return "", ""
	case len(t.layouts) > 1:
		return "", "dates are ambiguous: day/month/year or month/day/year"
	case t.centuryAmbiguous:
		return "", "years of two digits from 30 to 68 are ambiguous"
	default:
		return t.layouts[0], ""
	}
}

// Limits of the search for lists.
const (
	maxElement  = 40      // characters of an element; longer ones are sentences
	maxDistinct = 100_000 // elements of one column that are kept to see whether they recur
)

// elements distinguishes lists (shade,hardy) from text with commas (Smith, John): no blank is beside a comma, elements
// are short words, and they recur.
type elements struct {
	ruledOut bool
	lists    int // values with more than one element
	total    int
	distinct map[string]struct{}
}

// observe adds a value without surrounding white space. budget is the number of elements that may still be kept.
func (e *elements) observe(value []byte, budget *int) {
	if bytes.IndexByte(value, ',') >= 0 {
		e.lists++
	}
	for element := range bytes.SplitSeq(value, []byte{','}) {
		e.total++
		if _, known := e.distinct[string(element)]; known {
			continue
		}
		if !isElement(element) || len(e.distinct) >= maxDistinct || *budget == 0 {
			*budget += len(e.distinct)
			*e = elements{ruledOut: true} // releases the memory
			return
		}
		e.distinct[string(element)] = struct{}{}
		*budget--
	}
}

func (e *elements) hold() bool {
	return !e.ruledOut && e.lists >= 2 && 2*len(e.distinct) <= e.total
}

// isElement reports whether b is a short word or a few words: it has a letter, no blank at its ends, and no character of
// amounts or of JSON.
func isElement(b []byte) bool {
	return len(b) <= maxElement*utf8.UTFMax && utf8.RuneCount(b) <= maxElement && !hasBlankEnd(b) &&
		bytes.ContainsFunc(b, unicode.IsLetter) && !bytes.ContainsFunc(b, func(r rune) bool { return !isWordRune(r) })
}

// isListName reports whether columns of this name usually hold lists.
func isListName(name string) bool {
	return slices.Contains([]string{"tags", "tag_list", "keywords", "labels", "topics"}, strings.ToLower(name))
}

// isWordRune reports whether a character can be part of a list element.
func isWordRune(r rune) bool {
	if r >= utf8.RuneSelf {
		return !unicode.Is(unicode.Sc, r)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_./&'+#", r)
}
