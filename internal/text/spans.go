package text

import (
	"github.com/clipperhouse/uax29/v2/words"
)

// Span is a word in a text.
type Span struct {
	Start, End int    // in bytes
	Word       string // folded
}

// AppendSpans appends the words of s with their positions, for highlighting. They are the words of AppendWords, except in rare
// texts whose word boundaries change when they are folded.
func AppendSpans(dst []Span, s string) []Span {
	at := 0
	for it := words.FromString(s); it.Next(); {
		start := at
		at += len(it.Value())
		if folded := Fold(it.Value()); isWord(folded) {
			dst = append(dst, Span{start, at, folded})
		}
	}
	return dst
}
