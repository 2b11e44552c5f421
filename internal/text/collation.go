package text

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// collator pairs a collator with its buffers. It is not safe for concurrent use.
type collator struct {
	*collate.Collator
	buf  collate.Buffer
	text []byte // with decomposed Hangul
}

// collators pools collators: building one costs several times as much as computing a key.
var collators = sync.Pool{New: func() any {
	return &collator{Collator: collate.New(language.Und)}
}}

// CollationKey returns the key of a text by the Unicode root collation, in which accents and case
// only break ties. It defines the order of text; sort keys have the same order.
//
// A key consists of the primary weights of the characters, two zero bytes, their secondary weights,
// two zero bytes, and their tertiary weights.
func CollationKey(s string) string {
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buf.Reset()
	return string(c.KeyFromString(&c.buf, s))
}

// PrimaryKey returns the codes of the primary weights of a text, which ignore case and accents: the
// part of its sort key before the first two zero bytes. It is empty if no character has a primary
// weight.
func PrimaryKey(s string) string {
	return string(appendPrimaryKey(make([]byte, 0, 128), []byte(s)))
}

// appendPrimaryKey appends the primary key of a text. The primary weights of ideographs do not
// depend on adjacent characters; reading them from a table takes a tenth of the time.
func appendPrimaryKey(dst, text []byte) []byte {
	if codes, ok := AppendCodes(dst, text); ok {
		return codes
	}
	for len(text) > 0 {
		n := 0 // length of the part before the next ideograph
		for n < len(text) && !beginsWithIdeograph(text[n:]) {
			n++
		}
		dst = cutPrimaryKey(appendTextSortKey(dst, text[:n]), len(dst))
		for text = text[n:]; beginsWithIdeograph(text); text = text[3:] {
			c := rune(text[0]&0x0F)<<12 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)
			dst = append(dst, ideographs()[c-firstIdeograph]...)
		}
	}
	return dst
}

// cutPrimaryKey removes what follows the primary key in the sort key from an index on.
func cutPrimaryKey(key []byte, from int) []byte {
	for key[from] != 0 {
		from += codeLen(key, from)
	}
	return key[:from]
}

// Unified ideographs of which the primary keys are in a table. They take three bytes in UTF-8.
const firstIdeograph, lastIdeograph = '\u4E00', '\u9FFF'

func beginsWithIdeograph(text []byte) bool {
	return len(text) >= 3 && (text[0] > 0xE4 && text[0] <= 0xE9 || text[0] == 0xE4 && text[1] >= 0xB8)
}

// ideographs returns the primary keys of the ideographs, read from the collator once.
var ideographs = sync.OnceValue(func() (keys []string) {
	for c := firstIdeograph; c <= lastIdeograph; c++ {
		keys = append(keys, string(cutPrimaryKey(appendTextSortKey(nil, string(c)), 0)))
	}
	return keys
})

// weightLen returns the length of the primary weight with this first byte.
func weightLen(first byte) int {
	if first >= 0x80 {
		return 3
	}
	return 2
}

// Substring is a text to find in others, ignoring case and accents: by the codes of its primary
// weights, with which sort keys of text begin. It is not safe for concurrent use.
type Substring struct {
	codes   []byte
	key     []byte // of the last text
	weights *asciiWeights
}

// NewSubstring returns a substring to find. A text without primary weights is in all others.
func NewSubstring(s string) *Substring {
	return &Substring{codes: []byte(PrimaryKey(s)), weights: ascii()}
}

// In reports whether a text contains the substring.
func (s *Substring) In(text []byte) bool {
	s.key = appendPrimaryKey(s.key[:0], text)
	return s.IndexKey(s.key, 0) >= 0
}

// IndexKey returns the end of the first occurrence of the substring in the text with a sort key, or
// with only its codes, or -1. No occurrence ends in the first known bytes of the key.
func (s *Substring) IndexKey(key []byte, known int) (end int) {
	const short = 16
	n := len(s.codes)
	switch {
	case n == 0:
		return 0
	case len(key)-known <= short && bytes.IndexByte(key[known:], s.codes[n-1]) < 0: // decides most cases
		return -1
	}
	from := max(known-n+1, 0)
	for at := 0; ; from++ {
		next := bytes.Index(key[from:], s.codes)
		if next < 0 {
			return -1
		}
		from += next
		for at < from && key[at] != 0 { // the same bytes can be parts of other codes
			// most text, in a third of the time
			if at+8 <= len(key) && areCodesOfOne(binary.LittleEndian.Uint64(key[at:]), from-at) {
				at = min(at+8, from)
				continue
			}
			at += codeLen(key, at)
		}
		if at < from {
			return -1 // after the primary weights
		}
		if at == from {
			return from + n
		}
	}
}

// MayEndAfter reports whether the substring, which must not be empty, may end after the first known
// bytes of a text: whether its last two weights follow each other there, or a character is not
// printable ASCII.
func (s *Substring) MayEndAfter(text []byte, known int) bool {
	ending, codes := s.codes[max(len(s.codes)-2, 0):], &s.weights.codes
	last := ending[len(ending)-1]
	for i := known; i < len(text); i++ {
		if code := codes[text[i]]; code == 0 || code == last &&
			(len(ending) == 1 || i == 0 || codes[text[i-1]] == ending[0]) {
			return true
		}
	}
	return false
}

// onesInBytes is 1 in each byte.
const onesInBytes = 0x0101010101010101

// areCodesOfOne reports whether the first n of eight bytes, or all of them, of which the first
// begins a code, are codes of one byte: even, and not zero.
func areCodesOfOne(bytes uint64, n int) bool {
	compared := uint64(onesInBytes) >> (64 - 8*min(n, 8))
	return (bytes|(bytes-onesInBytes)&^bytes>>7)&compared == 0
}

// AppendCodes appends the codes of the primary weights of a text, which IndexKey can search. ok is
// false if it has other characters than the printable ones of ASCII.
func AppendCodes(dst, text []byte) (_ []byte, ok bool) {
	w := ascii()
	for _, c := range text {
		code := w.codes[c]
		if code == 0 {
			return dst, false
		}
		dst = append(dst, code)
	}
	return dst, true
}

// Len returns the length of the codes.
func (s *Substring) Len() int { return len(s.codes) }

// IsPrintableASCII reports whether a text consists of printable ASCII characters. Only one such
// text has a given sort key.
func IsPrintableASCII(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// KeyAfterPrefix returns the smallest key that is greater than all keys with a prefix; ok is false
// if there is none.
func KeyAfterPrefix(prefix string) (key string, ok bool) {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xFF {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return "", false
	}
	b[len(b)-1]++
	return string(b), true
}

// appendTextSortKey appends a key with the order of collation keys and a third of their length,
// because most of the work of a sort is moving keys. Primary weights are replaced by the codes of
// asciiWeights. The common weights at the end of the secondary and tertiary level are omitted:
// texts with the same primary weights have the same number of them.
func appendTextSortKey[T string | []byte](dst []byte, value T) []byte {
	if key, ok := appendASCIISortKey(dst, value); ok {
		return key
	}
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buf.Reset()
	c.text = appendDecomposedHangul(c.text[:0], []byte(value))
	key, w, i := c.Key(&c.buf, c.text), ascii(), 0
	for key[i] != 0 || key[i+1] != 0 {
		weight := key[i : i+weightLen(key[i])]
		dst = append(dst, w.code(weight))
		if dst[len(dst)-1]%2 == 1 {
			dst = append(dst, weight...)
		}
		i += len(weight)
	}
	separator := bytes.LastIndex(key, []byte{0, 0})
	end := separator
	for key[end-2] == 0 && key[end-1] == commonSecondary {
		end -= 2
	}
	dst = append(append(dst, key[i:end]...), 0, 0)
	return append(dst, bytes.TrimRight(key[separator+2:], string(rune(commonTertiary)))...)
}

// appendDecomposedHangul appends a text with Hangul syllables replaced by their letters. That is
// canonically equivalent, so the collation key is the same, and computing it takes a sixth of the
// time and no memory.
func appendDecomposedHangul(dst, s []byte) []byte {
	const (
		syllables, syllableCount               = 0xAC00, 11172
		leading, vowels, trailing              = 0x1100, 0x1161, 0x11A7
		syllablesPerLeading, syllablesPerVowel = 588, 28
	)
	for len(s) > 0 {
		c, size := utf8.DecodeRune(s)
		if n := c - syllables; n >= 0 && n < syllableCount {
			dst = utf8.AppendRune(dst, leading+n/syllablesPerLeading)
			dst = utf8.AppendRune(dst, vowels+n%syllablesPerLeading/syllablesPerVowel)
			if t := n % syllablesPerVowel; t > 0 {
				dst = utf8.AppendRune(dst, trailing+t)
			}
		} else {
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}

// codeLen returns the length of the code at an index of a sort key, with the weight that follows
// it.
func codeLen(key []byte, i int) int {
	if key[i]%2 == 0 {
		return 1
	}
	return 1 + weightLen(key[i+1])
}

// appendASCIISortKey is the fast path of appendTextSortKey for ASCII, whose secondary weights are
// all common. ok is false for other text.
func appendASCIISortKey[T string | []byte](dst []byte, value T) (_ []byte, ok bool) {
	const separators = "\x00\x00\x00\x00" // of the levels
	w, start, n := ascii(), len(dst), len(value)
	dst = slices.Grow(dst, 2*n+len(separators))
	key := dst[start : start+2*n+len(separators)]
	tertiary, end := key[n+len(separators):], 0
	copy(key[n:], separators)
	for i := range n {
		c := value[i]
		key[i] = w.codes[c]
		if key[i] == 0 {
			return dst, false
		}
		tertiary[i] = w.tertiary[c]
		if tertiary[i] != commonTertiary {
			end = i + 1
		}
	}
	return dst[:start+n+len(separators)+end], true
}

// asciiWeights holds the collation weights of the ASCII characters. In the root collation these do
// not depend on adjacent characters, and all have the same secondary weight. Control characters
// have none.
type asciiWeights struct {
	tertiary [256]byte
	codes    [256]byte       // of the primary weights; 0 for bytes without weights
	byWeight [0x80 << 8]byte // the codes of all primary weights of two bytes
	longCode byte            // of all longer ones, which are greater
}

// code returns the code of a primary weight in sort keys: an even number from 2 for the weight of
// an ASCII character, and the odd number before the next one for other weights, which follow their
// code.
func (w *asciiWeights) code(weight []byte) byte {
	if len(weight) > 2 {
		return w.longCode
	}
	return w.byWeight[binary.BigEndian.Uint16(weight)]
}

// The weights of most characters, which are the smallest of their level. Each primary weight comes
// with exactly one common secondary weight.
const (
	commonSecondary = 0x20
	commonTertiary  = 0x02
)

// ascii returns the weights of the ASCII characters, read from the collator once.
var ascii = sync.OnceValue(func() *asciiWeights {
	w := &asciiWeights{longCode: 1}
	var primary [128]string
	for c := range primary {
		if key := CollationKey(string(rune(c))); len(key) == 9 {
			primary[c], w.tertiary[c] = key[:2], key[8]
			w.byWeight[binary.BigEndian.Uint16([]byte(primary[c]))] = 1
		}
	}
	for weight, isASCII := range w.byWeight {
		w.byWeight[weight] = w.longCode + isASCII
		w.longCode += 2 * isASCII
	}
	for c, weight := range primary {
		if weight != "" {
			w.codes[c] = w.code([]byte(weight))
		}
	}
	return w
})
