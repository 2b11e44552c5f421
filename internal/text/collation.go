package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// collator pairs a collator with its buffer. It is not safe for concurrent use.
type collator struct {
	*collate.Collator
	buf collate.Buffer
}

// collators pools collators: building one costs several times as much as computing a key.
var collators = sync.Pool{New: func() any {
	return &collator{Collator: collate.New(language.Und)}
}}

// CollationKey returns the sort key of a text by the Unicode root collation, in which accents and case only break ties.
//
// A key consists of the primary weights of the characters, two zero bytes, their secondary weights, two zero bytes, and
// their tertiary weights.
func CollationKey(s string) string { return string(appendCollationKey(make([]byte, 0, 5*len(s)+4), s)) }

// PrimaryKey returns the primary weights of a text, which ignore case and accents: the part of its collation key before
// the first two zero bytes. It is empty if no character has a primary weight.
func PrimaryKey(s string) string { return string(primaryWeights([]byte(CollationKey(s)))) }

// AppendPrimaryKey appends the primary weights of a text.
func AppendPrimaryKey(dst, s []byte) []byte {
	start := len(dst)
	dst = appendCollationKey(dst, s)
	return dst[:start+len(primaryWeights(dst[start:]))]
}

// primaryWeights returns the part of a collation key that contains the primary weights.
func primaryWeights(key []byte) []byte {
	i := 0
	for !endsLevel(key, i) {
		i += weightLen(key[i])
	}
	return key[:i]
}

// endsLevel reports whether a level of a collation key ends at i.
func endsLevel[T string | []byte](key T, i int) bool { return key[i] == 0 && key[i+1] == 0 }

// weightLen returns the length of the primary weight with this first byte.
func weightLen(first byte) int {
	if first >= 0x80 {
		return 3
	}
	return 2
}

// Substring is a text to find in others, ignoring case and accents: by its primary weights. It is not safe for concurrent
// use.
type Substring struct {
	weights string
	ascii   []byte // characters with these weights as AppendFoldedASCII returns them; 0 for a weight that no ASCII character has
	key     []byte // primary weights of the last text
}

// NewSubstring returns a substring to find. A text without primary weights is in all others.
func NewSubstring(s string) *Substring {
	sub, w := &Substring{weights: PrimaryKey(s)}, ascii()
	for rest := sub.weights; rest != ""; rest = rest[weightLen(rest[0]):] {
		c := slices.Index(w.primary[:], binary.BigEndian.Uint16([]byte(rest[:2])))
		sub.ascii = append(sub.ascii, byte(max(c, 0)))
	}
	return sub
}

// In reports whether a text contains the substring.
func (s *Substring) In(text []byte) bool {
	s.key = AppendPrimaryKey(s.key[:0], text)
	return s.IndexWeights(s.key, 0) >= 0
}

// IndexFoldedASCII returns the end of the first occurrence of the substring in a text that AppendFoldedASCII has folded, or -1.
func (s *Substring) IndexFoldedASCII(folded []byte) (end int) {
	if end = bytes.Index(folded, s.ascii); end >= 0 {
		end += len(s.ascii)
	}
	return end
}

// IndexWeights returns the end of the first occurrence of the substring in primary weights, from an index, or -1. The index need not
// be that of a weight.
func (s *Substring) IndexWeights(weights []byte, from int) (end int) {
	for at := 0; ; {
		next := bytes.Index(weights[from:], []byte(s.weights))
		if next < 0 {
			return -1
		}
		from += next
		for at < from { // the same bytes can be parts of other weights
			at += weightLen(weights[at])
		}
		if at == from {
			return from + len(s.weights)
		}
		from++
	}
}

// Weights returns the primary weights.
func (s *Substring) Weights() string { return s.weights }

// Len returns the number of characters.
func (s *Substring) Len() int { return len(s.ascii) }

// AppendFoldedASCII appends a text in which every character is replaced by the first one with the same primary weight, which
// is the upper-case letter, so that substrings are found by comparing bytes. ok is false if it has other characters than ASCII,
// or control characters.
func AppendFoldedASCII(dst, text []byte) (_ []byte, ok bool) {
	start, n := len(dst), len(text)
	dst = slices.Grow(dst, n)[:start+n]
	folded := dst[start:]
	if n < 8 {
		for i, c := range text {
			if c < ' ' || c >= 0x7f {
				return dst[:start], false
			}
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			folded[i] = c
		}
		return dst, true
	}
	for i := 0; ; i = min(i+8, n-8) { // the last eight may overlap those before
		chars, ok := foldEight(binary.LittleEndian.Uint64(text[i:]))
		if !ok {
			return dst[:start], false
		}
		binary.LittleEndian.PutUint64(folded[i:], chars)
		if i == n-8 {
			return dst, true
		}
	}
}

// IsPrintableASCII reports whether AppendFoldedASCII can fold a text.
func IsPrintableASCII(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// foldEight folds eight characters at once, which takes a third of the time.
func foldEight(chars uint64) (folded uint64, ok bool) {
	const ones = 0x0101010101010101
	const high = 0x80 * ones // a sum sets this bit of each byte that is not less than 0x80 - addend
	isPrintable := (chars + (0x80-' ')*ones) &^ (chars + (0x80-0x7f)*ones) &^ chars & high
	isLower := (chars + (0x80-'a')*ones) &^ (chars + (0x80-'z'-1)*ones) & high
	return chars - isLower>>2, isPrintable == high // 0x80>>2 == 'a'-'A'
}

// ASCIIComparer compares texts by their collation keys without computing these.
type ASCIIComparer struct{ weights *asciiWeights }

// NewASCIIComparer returns a comparer.
func NewASCIIComparer() ASCIIComparer { return ASCIIComparer{ascii()} }

// Compare compares two texts; order is negative, zero or positive. ok is false if it cannot decide: their first difference is one of case, or next to other characters
// than ASCII, which can combine with the one before them.
func (c ASCIIComparer) Compare(a, b []byte) (order int, ok bool) {
	w, i := c.weights, commonPrefix(a, b)
	if i == len(a) || i == len(b) {
		return len(a) - len(b), w.startsASCII(a[i:]) && w.startsASCII(b[i:])
	}
	x, y := int(w.primary[a[i]]), int(w.primary[b[i]])
	return x - y, x != y && x != 0 && y != 0 && w.startsASCII(a[i+1:]) && w.startsASCII(b[i+1:])
}

// commonPrefix returns the length of the longest common prefix of two texts.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := 0; n >= 8; i = min(i+8, n-8) { // eight bytes at a time, which takes half the time
		if differ := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); differ != 0 {
			return i + bits.TrailingZeros64(differ)/8
		}
		if i == n-8 {
			return n
		}
	}
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// KeyAfterPrefix returns the smallest key that is greater than all keys with a prefix; ok is false if there is none.
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

func appendCollationKey[T string | []byte](dst []byte, s T) []byte {
	if key, ok := appendASCIIKey(dst, s); ok {
		return key
	}
	return appendUnicodeKey(dst, []byte(s))
}

func appendUnicodeKey(dst, s []byte) []byte {
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buf.Reset()
	return append(dst, c.Key(&c.buf, s)...)
}

// appendTextSortKey appends a key with the order of collation keys and a third of their length, because most of the work of a
// sort is moving keys. Primary weights are replaced by the codes of asciiWeights. The common weights at the end of the
// secondary and tertiary level are omitted: texts with the same primary weights have the same number of them.
func appendTextSortKey(dst, value []byte) []byte {
	if key, ok := appendASCIISortKey(dst, value); ok {
		return key
	}
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buf.Reset()
	key, w, i := c.Key(&c.buf, value), ascii(), 0
	for !endsLevel(key, i) {
		weight := key[i : i+weightLen(key[i])]
		if dst = append(dst, w.code(weight)); dst[len(dst)-1]%2 == 1 {
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

// AppendPrimaryWeights appends the primary weights of a text, given its key by AppendSortKey. This takes a small part of the time
// of AppendPrimaryKey if the text is not ASCII.
func AppendPrimaryWeights(dst, sortKey []byte) []byte {
	w := ascii()
	for i := 0; sortKey[i] != 0; {
		code := sortKey[i]
		i++
		if code%2 == 0 {
			dst = binary.BigEndian.AppendUint16(dst, w.sorted[code/2-1])
			continue
		}
		weight := sortKey[i : i+weightLen(sortKey[i])]
		dst = append(dst, weight...)
		i += len(weight)
	}
	return dst
}

// appendASCIISortKey is the fast path of appendTextSortKey for ASCII, whose secondary weights are all common. ok is false
// for other text.
func appendASCIISortKey(dst, value []byte) (_ []byte, ok bool) {
	const separators = "\x00\x00\x00\x00" // of the levels
	w, start, n := ascii(), len(dst), len(value)
	dst = slices.Grow(dst, 2*n+len(separators))
	key := dst[start : start+2*n+len(separators)]
	tertiary, end := key[n+len(separators):], 0
	copy(key[n:], separators)
	for i, c := range value {
		if key[i] = w.codes[c]; key[i] == 0 {
			return dst, false
		}
		if tertiary[i] = w.tertiary[c]; tertiary[i] != commonTertiary {
			end = i + 1
		}
	}
	return dst[:start+n+len(separators)+end], true
}

// asciiWeights holds the collation weights of the ASCII characters. In the root collation these do not depend on
// adjacent characters, and all have the same secondary weight. Control characters have none.
type asciiWeights struct {
	primary  [256]uint16 // 0 for bytes without weights
	tertiary [256]byte
	codes    [256]byte // of the primary weights; 0 for bytes without weights
	sorted   []uint16  // the primary weights
}

// code returns the code of a primary weight in sort keys: an even number from 2 for the weight of an ASCII character, and the
// odd number before the next one for other weights, which follow their code.
func (w *asciiWeights) code(weight []byte) byte {
	if len(weight) > 2 {
		return byte(2*len(w.sorted) + 1) // after all shorter weights
	}
	i, isASCII := slices.BinarySearch(w.sorted, binary.BigEndian.Uint16(weight))
	if isASCII {
		return byte(2*i + 2)
	}
	return byte(2*i + 1)
}

// startsASCII reports whether a text is empty or its first character is ASCII with weights.
func (w *asciiWeights) startsASCII(text []byte) bool {
	return len(text) == 0 || w.primary[text[0]] != 0
}

// The weights of most characters, which are the smallest of their level. Each primary weight comes with exactly one common
// secondary weight.
const (
	commonSecondary = 0x20
	commonTertiary  = 0x02
)

// ascii returns the weights of the ASCII characters, read from the collator once.
var ascii = sync.OnceValue(func() *asciiWeights {
	w := &asciiWeights{}
	for c := range 128 {
		if key := appendUnicodeKey(nil, []byte{byte(c)}); len(key) == 9 {
			w.primary[c], w.tertiary[c] = binary.BigEndian.Uint16(key), key[8]
			w.sorted = append(w.sorted, w.primary[c])
		}
	}
	slices.Sort(w.sorted)
	w.sorted = slices.Compact(w.sorted)
	for c, weight := range w.primary {
		if weight != 0 {
			w.codes[c] = w.code(binary.BigEndian.AppendUint16(nil, weight))
		}
	}
	return w
})

// appendASCIIKey is the fast path of appendCollationKey for ASCII. ok is false for other text.
func appendASCIIKey[T string | []byte](dst []byte, s T) (_ []byte, ok bool) {
	w := ascii()
	for i := range len(s) {
		if w.primary[s[i]] == 0 {
			return dst, false
		}
	}
	size := 5*len(s) + 4
	dst = slices.Grow(dst, size)
	key := dst[len(dst) : len(dst)+size]
	clear(key)
	secondary, tertiary := key[2*len(s)+2:], key[4*len(s)+4:]
	for i := range len(s) {
		c := s[i]
		binary.BigEndian.PutUint16(key[2*i:], w.primary[c])
		secondary[2*i+1] = commonSecondary
		tertiary[i] = w.tertiary[c]
	}
	return dst[:len(dst)+size], true
}
