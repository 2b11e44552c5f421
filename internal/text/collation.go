package text

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

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
func PrimaryKey(s string) string {
	key := CollationKey(s)
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
	key     []byte // of the last text
}

// NewSubstring returns a substring to find. A text without primary weights is in all others.
func NewSubstring(s string) *Substring {
	sub, w := &Substring{weights: PrimaryKey(s)}, ascii()
	for rest := sub.weights; rest != ""; rest = rest[weightLen(rest[0]):] {
		c := slices.Index(w.primary[:], [2]byte{rest[0], rest[1]})
		sub.ascii = append(sub.ascii, byte(max(c, 0)))
	}
	return sub
}

// In reports whether a text contains the substring.
func (s *Substring) In(text []byte) bool {
	s.key = appendCollationKey(s.key[:0], text)
	for i := 0; ; i += weightLen(s.key[i]) {
		if rest := s.key[i:]; len(rest) >= len(s.weights) && string(rest[:len(s.weights)]) == s.weights {
			return true
		}
		if endsLevel(s.key, i) {
			return false
		}
	}
}

// InFoldedASCII reports whether a text that AppendFoldedASCII has folded contains the substring.
func (s *Substring) InFoldedASCII(folded []byte) bool { return bytes.Contains(folded, s.ascii) }

// AppendFoldedASCII appends a text in which every character is replaced by the first one with the same primary weight, so that
// substrings are found by comparing bytes. ok is false if it has other characters than ASCII, or control characters.
func AppendFoldedASCII(dst, text []byte) (_ []byte, ok bool) {
	w, n := ascii(), len(dst)
	dst = slices.Grow(dst, len(text))[:n+len(text)]
	folded := dst[n:]
	for i, c := range text {
		if folded[i] = w.folded[c]; folded[i] == 0 {
			return dst[:n], false
		}
	}
	return dst, true
}

// CompareASCII compares two texts by their collation keys without computing these. ok is false if it cannot decide: their first
// difference is one of case, or next to other characters than ASCII, which can combine with the one before them.
func CompareASCII(a, b []byte) (order int, ok bool) {
	w, i, n := ascii(), 0, min(len(a), len(b))
	for differ := uint64(0); differ == 0 && i+8 <= n; { // eight bytes at a time, which takes half the time
		differ = binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		i += bits.TrailingZeros64(differ) / 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b)), w.startsASCII(a[i:]) && w.startsASCII(b[i:])
	}
	if !w.has(a[i]) || !w.has(b[i]) {
		return 0, false
	}
	order = cmp.Compare(binary.BigEndian.Uint16(w.primary[a[i]][:]), binary.BigEndian.Uint16(w.primary[b[i]][:]))
	return order, order != 0 && w.startsASCII(a[i+1:]) && w.startsASCII(b[i+1:])
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

// appendTextSortKey appends a collation key without the common weights at the end of its secondary and tertiary level.
// These do not affect the order, because texts with the same primary weights have the same number of them. Keys of lower-case
// texts are less than half as long: most of the work of a sort is moving keys.
func appendTextSortKey(dst, value []byte) []byte {
	start := len(dst)
	if key, ok := appendASCIISortKey(dst, value); ok {
		return key
	}
	dst = appendUnicodeKey(dst, value)
	separator := bytes.LastIndex(dst, []byte{0, 0})
	tertiary := bytes.TrimRight(dst[separator+2:], string(rune(commonTertiary)))
	end := separator
	for end-2 >= start && dst[end-2] == 0 && dst[end-1] == commonSecondary {
		end -= 2
	}
	return append(append(dst[:end], 0, 0), tertiary...)
}

// appendASCIISortKey is the fast path of appendTextSortKey for ASCII, whose secondary weights are all common. ok is false
// for other text.
func appendASCIISortKey(dst, value []byte) (_ []byte, ok bool) {
	w, start, n := ascii(), len(dst), len(value)
	dst = slices.Grow(dst, 3*n+4)
	key := dst[start : start+3*n+4]
	const separators = "\x00\x00\x00\x00" // of the levels
	tertiary, end := key[2*n+len(separators):], 0
	copy(key[2*n:], separators)
	for i, c := range value {
		if !w.has(c) {
			return dst, false
		}
		key[2*i], key[2*i+1] = w.primary[c][0], w.primary[c][1]
		if tertiary[i] = w.tertiary[c]; tertiary[i] != commonTertiary {
			end = i + 1
		}
	}
	return dst[:start+2*n+len(separators)+end], true
}

// asciiWeights holds the collation weights of the ASCII characters. In the root collation these do not depend on
// adjacent characters, and all have the same secondary weight. Control characters have none.
type asciiWeights struct {
	primary  [128][2]byte
	tertiary [128]byte // 0 for characters without weights
	folded   [256]byte // the first character with the same primary weight; 0 for other bytes
}

// has reports whether a byte is an ASCII character with weights.
func (w *asciiWeights) has(c byte) bool { return c < utf8.RuneSelf && w.tertiary[c] != 0 }

// startsASCII reports whether a text is empty or its first character is ASCII with weights.
func (w *asciiWeights) startsASCII(text []byte) bool { return len(text) == 0 || w.has(text[0]) }

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
			w.primary[c] = [2]byte(key)
			w.tertiary[c] = key[8]
			w.folded[c] = byte(slices.Index(w.primary[:], w.primary[c]))
		}
	}
	return w
})

// appendASCIIKey is the fast path of appendCollationKey for ASCII. ok is false for other text.
func appendASCIIKey[T string | []byte](dst []byte, s T) (_ []byte, ok bool) {
	w := ascii()
	for i := range len(s) {
		if !w.has(s[i]) {
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
		key[2*i], key[2*i+1] = w.primary[c][0], w.primary[c][1]
		secondary[2*i+1] = commonSecondary
		tertiary[i] = w.tertiary[c]
	}
	return dst[:len(dst)+size], true
}
