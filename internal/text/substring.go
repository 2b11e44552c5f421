package text

import (
	"math"
	"slices"
)

// Substring is a text to find in others, ignoring case and accents: by its primary weights. It is not safe for concurrent
// use.
type Substring struct {
	weights string
	key     []byte // of the last text

	// masks has a bit for each of the first weights, by ASCII character: 0 if the character has that weight. All other
	// characters are notASCII.
	masks [256]uint64
	bits  int // number of weights with a bit
}

// ScanResult is the result of Scanner.Scan.
type ScanResult int

// Results of a scan.
const (
	NotFound ScanResult = iota
	Found
	Undecided // the text has characters that are not ASCII, or the substring is too long; In decides
)

const (
	notASCII   = 1 << 63 // bit of masks
	maxBits    = 56      // maximum number of weights with a bit; seven more are those of earlier bytes
	notDecided = math.MaxInt
)

// NewSubstring returns a substring to find. A text without primary weights is in all others.
func NewSubstring(s string) *Substring {
	sub, w := &Substring{weights: PrimaryKey(s)}, ascii()
	var first []byte // characters with the first weights; 0 for a weight that no ASCII character has
	for rest := sub.weights; rest != "" && len(first) < maxBits; rest = rest[weightLen(rest[0]):] {
		first = append(first, byte(max(slices.Index(w.primary[:], [2]byte{rest[0], rest[1]}), 0)))
	}
	sub.bits = len(first)
	for c := range sub.masks {
		if w.folded[c] == 0 {
			sub.masks[c] = notASCII
			continue
		}
		for i, want := range first {
			if w.folded[c] != want {
				sub.masks[c] |= 1 << i
			}
		}
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

// Scanner searches a sequence of texts for a substring, by the Shift-Or algorithm. Bit i of its state is 0 if the first i+1
// weights of the substring end at the last byte; higher bits are those of earlier bytes.
type Scanner struct {
	*Substring
	states []uint64 // after every eight bytes of the last text
	end    int      // bytes of the last text through the one that decided the search
	result ScanResult
}

// NewScanner returns a scanner that has not read any text.
func (s *Substring) NewScanner() *Scanner { return &Scanner{Substring: s, end: notDecided} }

// Scan reports whether a text contains the substring. The bytes that it shares with the last text are not examined again.
func (s *Scanner) Scan(shared int, text []byte) ScanResult {
	switch {
	case s.bits == 0:
		return Found
	case s.end <= shared:
		return s.result
	}
	found := Found
	if s.bits == maxBits {
		found = Undecided // there may be more weights
	}
	s.end, s.states = notDecided, s.states[:min(shared/8, len(s.states))]
	state, at := ^uint64(0), 8*len(s.states)
	if at > 0 {
		state = s.states[len(s.states)-1]
	}
	last := uint64(1) << (s.bits - 1)
	for ; at+8 <= len(text); at += 8 {
		masks, all := s.masksOf((*[8]byte)(text[at:]))
		next := state<<8 | masks
		if all >= notASCII || ^next&(0xff*last) != 0 { // decided by one of these bytes
			break
		}
		state = next
		s.states = append(s.states, state)
	}
	for ; at < len(text); at++ {
		mask := s.masks[text[at]]
		if mask == notASCII || state&last == 0 { // a character that is not ASCII can combine with the one before it
			s.end, s.result = at+1, found
			if mask == notASCII {
				s.result = Undecided
			}
			return s.result
		}
		state = state<<1 | mask
	}
	if state&last == 0 {
		return found
	}
	return NotFound
}

// masksOf returns the masks of eight bytes, each shifted by the number of bytes that follow, and all of them without a shift.
func (s *Substring) masksOf(b *[8]byte) (shifted, all uint64) {
	m := &s.masks
	m0, m1, m2, m3, m4, m5, m6, m7 := m[b[0]], m[b[1]], m[b[2]], m[b[3]], m[b[4]], m[b[5]], m[b[6]], m[b[7]]
	return m0<<7 | m1<<6 | m2<<5 | m3<<4 | m4<<3 | m5<<2 | m6<<1 | m7, m0 | m1 | m2 | m3 | m4 | m5 | m6 | m7
}
