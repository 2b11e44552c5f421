package profile

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/text"
)

// kind is what a value without surrounding white space appears to be by itself.
type kind uint8

const (
	kindText     kind = iota
	kindInteger       // plain decimal notation without a point
	kindDecimal       // plain decimal notation with a point
	kindDate          // YYYY-MM-DD
	kindPadded        // a number with leading zeros
	kindExponent      // a plain number with an exponent
	kinds
)

// kindOf classifies a non-empty value. It reads no further than it must.
func kindOf(v []byte) kind {
	if c := v[0]; c > '9' || c < '-' {
		return kindText
	}
	at := 0
	if v[0] == '-' {
		at++
	}
	integer := digitsAt(v[at:])
	if integer == 0 {
		return kindText
	}
	padded := integer > 1 && v[at] == '0'
	at += integer
	k := kindInteger
	if at < len(v) && v[at] == '.' {
		fraction := digitsAt(v[at+1:])
		if fraction == 0 {
			return kindText
		}
		at, k = at+1+fraction, kindDecimal
	}
	switch {
	case at == len(v) && padded:
		return kindPadded
	case at == len(v):
		return k
	case v[at]|0x20 == 'e' && isExponent(v[at+1:]):
		return kindExponent
	case integer == 4 && v[at] == '-' && text.IsDate(v):
		return kindDate
	}
	return kindText
}

// digitsAt counts the digits at the start of v.
func digitsAt(v []byte) int {
	for i, c := range v {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(v)
}

func isExponent(v []byte) bool {
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		v = v[1:]
	}
	return len(v) > 0 && digitsAt(v) == len(v)
}

// isURL reports whether a value is a URL with a scheme or without one, or an absolute path.
func isURL(value []byte) bool {
	rest, ok := bytes.CutPrefix(value, []byte("/"))
	if ok {
		rest = bytes.TrimPrefix(rest, []byte("/"))
	} else {
		var scheme []byte
		scheme, rest, ok = bytes.Cut(value, []byte("://"))
		ok = ok && len(scheme) > 0 && unicode.IsLetter(rune(scheme[0])) && !bytes.ContainsFunc(scheme, func(r rune) bool { return !isSchemeRune(r) })
	}
	return ok && len(rest) > 0 && !bytes.ContainsFunc(rest, unicode.IsSpace)
}

func isSchemeRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '+' || r == '-' || r == '.'
}

// trimSpace removes the surrounding white space that text.Canonical ignores.
func trimSpace(v []byte) []byte {
	if len(v) == 0 || !hasBlankEnd(v) {
		return v
	}
	return bytes.Trim(v, " \t\r\n\u00a0\u202f\u2009")
}

// isWordRune reports whether a character can be part of a list element.
func isWordRune(r rune) bool {
	if r >= utf8.RuneSelf {
		return !unicode.Is(unicode.Sc, r)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_./&'+#", r)
}
