package charset

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"

	"herbarium/internal/ingest/rows"
)

const (
	maxWords     = 6  // of a sample
	maxWordBytes = 40 // of a word; longer ones are cut
	minTrail     = 0x40
)

// wordCollector collects the first distinct words with bytes beyond ASCII, as they are in the file.
// Bytes below minTrail end a word, because no second byte of a character has such a value.
type wordCollector struct {
	words  [][]byte
	word   []byte
	isHigh bool // the word has a byte beyond ASCII
}

func (c *wordCollector) add(b byte) {
	switch {
	case len(c.words) == maxWords:
		return
	case b >= minTrail:
		c.isHigh = c.isHigh || b >= utf8.RuneSelf
		if len(c.word) < maxWordBytes {
			c.word = append(c.word, b)
		}
		return
	case c.isHigh && !slices.ContainsFunc(c.words, func(w []byte) bool { return bytes.Equal(w, c.word) }):
		c.words = append(c.words, bytes.Clone(c.word))
	}
	c.word, c.isHigh = c.word[:0], false
}

// decode returns the words in an encoding, nil if it cannot decode one of them.
func (c *wordCollector) decode(name string) (words []string) {
	dec, err := newDecoder(name)
	if err != nil {
		return nil
	}
	for _, w := range c.words {
		word, n, err := transform.Bytes(dec, w)
		if err != nil && len(w) == maxWordBytes && n >= maxWordBytes-utf8.UTFMax { // the cut divides a character
			word, _, err = transform.Bytes(dec, w[:n])
		}
		if err != nil {
			return nil
		}
		words = append(words, string(word))
	}
	return words
}

// CompareEncodings shows words of a file in the encoding in which it was read, and in the best
// other encoding in which they differ. There are none if the encoding is one of Unicode or all
// words are ASCII.
func CompareEncodings(ctx context.Context, f rows.File, used string) ([]rows.EncodingSample, error) {
	if strings.HasPrefix(standardName(used), "utf-") {
		return nil, nil
	}
	counts, err := (&decoder{ctx: ctx, file: f}).countBytes()
	if err != nil {
		return nil, err
	}
	words := counts.words.decode(used)
	if len(words) == 0 {
		return nil, nil
	}
	samples := []rows.EncodingSample{{Encoding: used, Used: true, Words: words}}
	others := []string{"Shift_JIS", "EUC-JP", "GB18030", "Big5", "EUC-KR"}
	isEastAsian := slices.ContainsFunc(others, func(name string) bool { return strings.EqualFold(name, standardName(used)) })
	if !isEastAsian {
		others = nil
	}
	for _, e := range counts.rankEncodings() {
		if e.isUsable(counts) || e.name == windows1252 {
			others = append(others, e.name)
		}
	}
	for _, name := range others {
		if other := counts.words.decode(name); other != nil && !slices.Equal(other, words) {
			return append(samples, rows.EncodingSample{Encoding: name, Words: other}), nil
		}
	}
	return samples, nil
}
