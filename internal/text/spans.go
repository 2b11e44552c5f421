package text

import (
	"bytes"
	"strings"

	"github.com/clipperhouse/uax29/v2/words"
)

// Span is a word in a text.
type Span struct {
	Range
	Word string // folded
}

// AppendSpans appends the words of s, which are those of AppendWords, with their positions. Words
// that one character contains, such as those of ½, have the same position.
func AppendSpans(dst []Span, s string) []Span {
	folded := deriveFolded(s)
	at := 0
	for it := words.FromString(string(folded.Text)); it.Next(); {
		start, word := at, it.Value()
		at += len(word)
		if isWord(word) {
			dst = append(dst, Span{folded.Origin(Range{start, at}), strings.ReplaceAll(word, `"`, "")})
		}
	}
	return dst
}

// AppendRanges appends where the substring occurs in a text, from left to right and without
// overlaps. A substring without primary weights occurs nowhere.
func (s *Substring) AppendRanges(dst []Range, text string) []Range {
	if len(s.codes) == 0 || !s.In([]byte(text)) {
		return dst
	}
	primary := derivePrimary(text)
	for at := 0; ; {
		end := s.IndexKey(primary.Text[at:], 0)
		if end < 0 {
			return dst
		}
		at += end
		dst = append(dst, primary.Origin(Range{at - len(s.codes), at}))
	}
}

// PrefixIn returns the part of a text that begins with the substring. ok is false if the text does
// not, or if the substring has no primary weights.
func (s *Substring) PrefixIn(text string) (r Range, ok bool) {
	s.key = appendPrimaryKey(s.key[:0], []byte(text))
	if len(s.codes) == 0 || !bytes.HasPrefix(s.key, s.codes) {
		return r, false
	}
	primary := derivePrimary(text)
	return primary.Origin(Range{0, len(s.codes)}), true
}
