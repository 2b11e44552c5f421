package text

import (
	"encoding/binary"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// AppendSortKey appends a sort key of a value in canonical form that compares with others of its type as those of Key do and is equal if they are,
// but is computed without allocating. For text it is about a fifth as long: most of the work of a sort is moving keys.
// No key is a prefix of another, so concatenated keys compare key by key.
func AppendSortKey(dst []byte, t herb.Type, value []byte) (key []byte, ok bool) {
	switch t {
	case herb.TypeNumber:
		key, ok = appendNumberKey(dst, value)
		return append(key, 0), ok // sorts before any digit: 1 before 15
	case herb.TypeDate:
		return append(dst, value...), IsDate(value)
	case herb.TypeDateTime:
		return append(dst, value...), isCanonicalDateTime(value)
	case herb.TypeBoolean:
		return append(dst, value...), string(value) == False || string(value) == True
	default:
		if key, ok := appendASCIISortKey(dst, value); ok {
			return key, true
		}
		return appendTextSortKey(dst, value), true
	}
}

// The sort key of text consists of the weights of its collation key, level by level. The primary weight of an ASCII
// character takes one byte. Nearly all secondary and tertiary weights are the common weight of their level, so only the
// others are written, each after the number of common weights before it.

// shortWeights maps the primary weights of ASCII characters to one byte each. These are even, which leaves an odd byte
// on either side for the other weights.
type shortWeights struct {
	primary  [256]byte // 0 for characters without a weight
	tertiary [128]byte
	common   byte     // common tertiary weight
	sorted   []uint16 // primary weights that have a byte; that of sorted[i] is 2*i + 2
	ok       bool     // false if the collator's keys do not have the expected format
}

// short returns the one-byte weights, computed once.
var short = sync.OnceValue(func() *shortWeights {
	from := ascii()
	w := &shortWeights{tertiary: from.tertiary, common: from.tertiary['a'], ok: from.ok}
	weight := func(c int) uint16 { return binary.BigEndian.Uint16(from.primary[c][:]) }
	var has [1 << 16]bool
	for c := range 128 {
		if !from.ignored[c] {
			has[weight(c)] = true
		}
	}
	for p, ok := range has {
		if ok {
			w.sorted = append(w.sorted, uint16(p))
			w.ok = w.ok && p < 1<<15 // larger weights take three bytes
		}
	}
	for c := range 128 {
		if !from.ignored[c] {
			w.primary[c], _ = w.code(weight(c))
		}
	}
	return w
})

// code returns the byte of a primary weight. If it has none, whole is false and code is the odd byte where it sorts;
// the weight must follow.
func (w *shortWeights) code(primary uint16) (code byte, whole bool) {
	i := sort.Search(len(w.sorted), func(i int) bool { return w.sorted[i] >= primary })
	if i < len(w.sorted) && w.sorted[i] == primary {
		return byte(2*i + 2), true
	}
	return byte(2*i + 1), false
}

// appendASCIISortKey is the fast path of AppendSortKey for ASCII. ok is false for other text.
func appendASCIISortKey(dst, value []byte) ([]byte, bool) {
	w := short()
	if !w.ok {
		return dst, false
	}
	start := len(dst)
	dst = slices.Grow(dst, len(value)+16)
	primary := dst[start : start+len(value)]
	for i, c := range value {
		p := w.primary[c]
		if p == 0 { // not ASCII, or ignored
			return appendASCIISkippingIgnored(dst, value)
		}
		primary[i] = p
	}
	return w.appendTertiary(append(appendCommon(append(dst[:start+len(value)], 0), len(value), false), 0, 0), value), true
}

// appendASCIISkippingIgnored appends the key of ASCII text that contains characters without a weight.
func appendASCIISkippingIgnored(dst, value []byte) ([]byte, bool) {
	w := short()
	var with []byte
	for _, c := range value {
		if c >= utf8.RuneSelf {
			return dst, false
		}
		if w.primary[c] != 0 {
			with = append(with, c)
		}
	}
	return appendASCIISortKey(dst, with)
}

// appendTertiary appends the tertiary level of the key of ASCII text.
func (w *shortWeights) appendTertiary(dst, value []byte) []byte {
	common := 0
	for _, c := range value {
		t := w.tertiary[c&0x7F]
		if t == w.common {
			common++
			continue
		}
		dst = append(appendCommon(dst, common, t > w.common), t)
		common = 0
	}
	return append(appendCommon(dst, common, false), 0)
}

// appendTextSortKey computes the sort key from the collation key.
func appendTextSortKey(dst, value []byte) []byte {
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buf.Reset()
	key := c.Key(&c.buf, value)
	w := short()
	if !w.ok {
		return append(append(dst, key...), 0) // sorts before any weight
	}
	for key[0] != 0 || key[1] != 0 {
		size := 2
		if key[0] >= 0x80 {
			size = 3 // larger than any weight that has a byte
			dst = append(dst, byte(2*len(w.sorted)+1))
			dst = append(dst, key[:size]...)
		} else if code, whole := w.code(binary.BigEndian.Uint16(key)); whole {
			dst = append(dst, code)
		} else {
			dst = append(dst, code, key[0], key[1])
		}
		key = key[size:]
	}
	dst, key = append(dst, 0), key[2:]
	common := 0
	for ; key[0] != 0 || key[1] != 0; key = key[2:] {
		if string(key[:2]) == commonSecondary {
			common++
			continue
		}
		dst = append(appendCommon(dst, common, string(key[:2]) > commonSecondary), key[0], key[1])
		common = 0
	}
	dst, key = append(appendCommon(dst, common, false), 0, 0), key[2:]
	common = 0
	for _, t := range key {
		if t == w.common {
			common++
			continue
		}
		dst = append(appendCommon(dst, common, t > w.common), t)
		common = 0
	}
	return append(appendCommon(dst, common, false), 0)
}

// appendCommon appends a count of common weights, which precede another weight or the end of the level (a weight of
// zero). If that weight is greater than the common one, larger counts sort first; if it is less, they sort last. For
// equal counts, the one before the greater weight sorts last.
func appendCommon(dst []byte, n int, greater bool) []byte {
	const most, block = 0x7D, 0x40
	switch {
	case greater:
		for ; n >= block; n -= block {
			dst = append(dst, 0x80)
		}
		return append(dst, 0xFF-byte(n))
	case n <= most:
		return append(dst, 1+byte(n))
	default:
		return binary.BigEndian.AppendUint32(append(dst, 1+most+1), uint32(n))
	}
}
