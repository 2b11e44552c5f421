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
	maxBits    = 62      // maximum number of weights with a bit
	maxStates  = 4096    // maximum number of states that are kept
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

// Scanner searches a sequence of texts for a substring, by the Shift-Or algorithm.
type Scanner struct {
	*Substring
	states []uint64 // after each byte of the last text; bit i is 0 if the first i+1 weights end there
	end    int      // bytes of the last text through the one that decided the search
	result ScanResult
}

// NewScanner returns a scanner that has not read any text.
func (s *Substring) NewScanner() *Scanner { return &Scanner{Substring: s, end: notDecided} }

// Scan reports whether a text contains the substring. The text is given as the number of bytes that it shares with the last one,
// and the rest; the shared bytes are not examined again.
func (s *Scanner) Scan(shared int, rest []byte) ScanResult {
	switch {
	case s.bits == 0:
		return Found
	case s.end <= shared:
		return s.result
	}
	s.end = notDecided
	if shared > len(s.states) {
		return Undecided
	}
	n := min(shared+len(rest), maxStates)
	s.states = slices.Grow(s.states[:shared], n-shared)[:n]
	state, last := ^uint64(0), uint64(1)<<(s.bits-1)
	if shared > 0 {
		state = s.states[shared-1]
	}
	states, found := s.states[shared:], Found
	if s.bits == maxBits {
		found = Undecided // there may be more weights
	}
	for i, c := range rest {
		mask := s.masks[c]
		if mask == notASCII || state&last == 0 { // a character that is not ASCII can combine with the one before it
			s.states, s.end, s.result = s.states[:min(shared+i, n)], shared+i+1, found
			if mask == notASCII {
				s.result = Undecided
			}
			return s.result
		}
		state = state<<1 | mask
		if i < len(states) {
			states[i] = state
		}
	}
	if state&last == 0 {
		return found
	}
	return NotFound
}
