package ingest

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// The limits of the search for lists.
const (
	maxElement  = 40        // characters of an element; what is longer is a sentence
	maxDistinct = 100_000   // elements of one column that are kept to see whether they recur
	maxElements = 1_000_000 // elements that are kept for all columns together
)

// profile gathers over all values of a column what its type depends on, and what a report tells of it. Its memory is
// bounded: it keeps no values but the elements of what may be a list, and the first of each kind that is remarkable.
type profile struct {
	filled            int  // values that are not empty
	address           bool // all values so far are addresses
	shortest, longest int  // characters of a value that is not empty
	list              elements
	// The first value that rules a type out; nil while there is none.
	notNumber, notDate *misfit

	kinds     [kindDated + 1]int // how many values look like what
	notations [notations]int     // of values that are of kindDated
	padded    *misfit            // the first of its kind; so are the next three
	exponent  *misfit
	dated     *misfit
	blank     *misfit
	blanks    int // values that begin or end with a blank
}

// misfit is a value that does not fit a type, and where it stands.
type misfit struct{ value, where string }

func newProfile() *profile { return &profile{address: true} }

// observe takes a value into account. budget is what all columns together may still keep, where tells the place of the
// value.
func (p *profile) observe(value []byte, budget *int, where func() string) {
	if len(value) == 0 {
		return
	}
	p.filled++
	p.measure(value)
	k := kindOf(value)
	p.kinds[k]++
	if k != kindNumber && p.notNumber == nil {
		p.notNumber = newMisfit(value, where)
	}
	if k != kindDate && p.notDate == nil {
		p.notDate = newMisfit(value, where)
	}
	if k > kindDate {
		p.remark(k, value, where)
	}
	if hasBlankEnd(value) {
		if p.blanks++; p.blank == nil {
			p.blank = newMisfit(value, where)
		}
	}
	if p.address {
		p.address = isAddress(value)
	}
	if !p.list.ruledOut {
		p.list.observe(value, budget)
	}
}

func newMisfit(value []byte, where func() string) *misfit {
	return &misfit{clip(string(value[:min(len(value), 400)])), where()}
}

// measure keeps the lengths of the shortest and the longest value. Characters are counted only where the number of bytes
// leaves it open whether they matter.
func (p *profile) measure(value []byte) {
	if size := len(value); p.filled > 1 && size <= p.longest && size >= utf8.UTFMax*p.shortest {
		return
	}
	n := characters(value)
	p.longest = max(p.longest, n)
	if p.filled == 1 || n < p.shortest {
		p.shortest = n
	}
}

// remark takes down a value that people may take for a number or a date.
func (p *profile) remark(k kind, value []byte, where func() string) {
	var first **misfit
	switch k {
	case kindPadded:
		first = &p.padded
	case kindExponent:
		first = &p.exponent
	default:
		n, _ := datedAs(value)
		p.notations[n]++
		first = &p.dated
	}
	if *first == nil {
		*first = newMisfit(value, where)
	}
}

// infer returns the type of the column called name, and whether it holds addresses, which nobody searches for words.
func (p *profile) infer(name string) (t herb.Type, address bool) {
	switch {
	case p.filled == 0:
		return herb.TypeText, false
	case p.notNumber == nil:
		return herb.TypeNumber, false
	case p.notDate == nil:
		return herb.TypeDate, false
	case isListName(name):
		return herb.TypeList, false
	case p.address:
		return herb.TypeText, true
	case p.list.holds():
		return herb.TypeList, false
	default:
		return herb.TypeText, false
	}
}

// isListName reports whether columns of this name hold lists by custom.
func isListName(name string) bool {
	switch strings.ToLower(name) {
	case "tags", "tag_list", "keywords", "labels", "topics":
		return true
	}
	return false
}

// isAddress reports whether a value is an address: with a scheme, without one but with a host, or a path from the root.
func isAddress(value []byte) bool {
	rest, ok := bytes.CutPrefix(value, []byte("/"))
	if ok {
		rest = bytes.TrimPrefix(rest, []byte("/"))
	} else {
		var scheme []byte
		scheme, rest, ok = bytes.Cut(value, []byte("://"))
		ok = ok && isScheme(scheme)
	}
	return ok && len(rest) > 0 && !hasSpace(rest)
}

// hasSpace reports whether there is white space in b.
func hasSpace(b []byte) bool {
	for i, c := range b {
		switch {
		case c >= utf8.RuneSelf:
			return bytes.ContainsFunc(b[i:], unicode.IsSpace)
		case c == ' ' || '\t' <= c && c <= '\r':
			return true
		}
	}
	return false
}

func isScheme(b []byte) bool {
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return len(b) > 0
}

// elements tells a column of lists (shade,hardy) from one of text with commas in it (Smith, John). In a list no blank
// stands beside a comma, elements are short, they are no numbers (1,234), and they recur.
type elements struct {
	ruledOut bool
	lists    int // values with more than one element
	total    int
	distinct map[string]struct{}
}

func (e *elements) observe(value []byte, budget *int) {
	if bytes.IndexByte(value, ',') >= 0 {
		e.lists++
	}
	for rest, first, more := value, true, true; more; first = false {
		var element []byte
		element, rest, more = bytes.Cut(rest, []byte{','})
		beside := !first && startsBlank(element) || more && endsBlank(element)
		element = bytes.TrimSpace(element) // as text.Elements does
		if _, known := e.distinct[string(element)]; known && !beside {
			e.total++ // it was found to be an element before
			continue
		}
		if beside || !isElement(element) {
			e.ruleOut(budget)
			return
		}
		e.total++
		if len(e.distinct) >= maxDistinct || *budget == 0 {
			e.ruleOut(budget)
			return
		}
		if e.distinct == nil {
			e.distinct = map[string]struct{}{}
		}
		e.distinct[string(element)] = struct{}{}
		*budget--
	}
}

// ruleOut ends the search and gives back what it kept.
func (e *elements) ruleOut(budget *int) {
	*budget += len(e.distinct)
	*e = elements{ruledOut: true}
}

func (e *elements) holds() bool {
	return !e.ruledOut && e.lists >= 2 && 2*len(e.distinct) <= e.total
}

// isElement reports whether b can be an element of a list: something short that is not digits alone.
func isElement(b []byte) bool {
	if len(b) > maxElement*utf8.UTFMax || utf8.RuneCount(b) > maxElement {
		return false
	}
	return bytes.ContainsFunc(b, func(r rune) bool { return r < '0' || r > '9' })
}

func startsBlank(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return unicode.IsSpace(r)
}

func endsBlank(b []byte) bool {
	r, _ := utf8.DecodeLastRune(b)
	return unicode.IsSpace(r)
}
