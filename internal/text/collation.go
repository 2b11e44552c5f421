package text

import (
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
func CollationKey(s string) string {
	if key, ok := asciiKey(s); ok {
		return key
	}
	return collationKey(s)
}

// PrimaryKey returns the primary weights of a text, which ignore case and accents: the part of its collation key before
// the first two zero bytes. It is empty if no character has a primary weight.
func PrimaryKey(s string) string {
	key := CollationKey(s)
	for i := 0; ; {
		switch {
		case key[i] == 0 && key[i+1] == 0:
			return key[:i]
		case key[i] >= 0x80: // a weight of three bytes
			i += 3
		default:
			i += 2
		}
	}
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

func collationKey(s string) string {
	c := collators.Get().(*collator)
	defer collators.Put(c)
	c.buf.Reset()
	return string(c.KeyFromString(&c.buf, s))
}

// asciiWeights holds the collation weights of the ASCII characters. In the root collation these do not depend on
// adjacent characters, and all have the same secondary weight.
type asciiWeights struct {
	primary  [128][2]byte
	tertiary [128]byte
	ignored  [128]bool // control characters have no weight
	ok       bool      // false if the collator's keys do not have the expected format
}

const commonSecondary = "\x00\x20"

// ascii returns the weights of the ASCII characters, read from the collator once.
var ascii = sync.OnceValue(func() *asciiWeights {
	w := &asciiWeights{ok: true}
	for c := range 128 {
		key := collationKey(string(rune(c)))
		switch {
		case key == "\x00\x00\x00\x00":
			w.ignored[c] = true
		case len(key) == 9 && key[2:8] == "\x00\x00"+commonSecondary+"\x00\x00":
			w.primary[c] = [2]byte{key[0], key[1]}
			w.tertiary[c] = key[8]
		default:
			w.ok = false
		}
	}
	return w
})

// asciiKey is the fast path of CollationKey for ASCII. ok is false for other text.
func asciiKey(s string) (string, bool) {
	n := 0 // characters with a weight
	w := ascii()
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return "", false
		}
		if !w.ignored[c] {
			n++
		}
	}
	if !w.ok {
		return "", false
	}
	key := make([]byte, 5*n+4) // already zeroed, separators included
	secondary, tertiary := 2*n+2, 4*n+4
	at := 0
	for i := range len(s) {
		c := s[i]
		if w.ignored[c] {
			continue
		}
		key[2*at], key[2*at+1] = w.primary[c][0], w.primary[c][1]
		key[secondary+2*at+1] = commonSecondary[1]
		key[tertiary+at] = w.tertiary[c]
		at++
	}
	return string(key), true
}
