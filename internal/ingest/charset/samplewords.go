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
// other encodings in which they differ, at most limit in all. There are none if the encoding is one
// of Unicode or all words are ASCII.
func CompareEncodings(ctx context.Context, f rows.File, used string, limit int) ([]rows.EncodingSample, error) {
	if strings.HasPrefix(standardName(used), "utf-") {
		return nil, nil
	}
	samples, err := SampleEncodings(ctx, f, used, limit)
	if len(samples) == 0 || !samples[0].Used {
		return nil, err
	}
	return samples, err
}

// SampleEncodings shows words of a file in the encodings in which all of them can be read and
// differ, at most limit: the used one first, the others by their rank. used may be empty.
func SampleEncodings(ctx context.Context, f rows.File, used string, limit int) (samples []rows.EncodingSample,
	err error) {
	counts, err := (&decoder{ctx: ctx, file: f}).countBytes()
	if err != nil {
		return nil, err
	}
	return counts.samples(used, limit), nil
}

// samples is SampleEncodings for a content that has been read.
func (c *byteCounts) samples(used string, limit int) (samples []rows.EncodingSample) {
	for _, name := range c.candidates(used) {
		words := c.words.decode(name)
		isSame := func(s rows.EncodingSample) bool { return slices.Equal(s.Words, words) }
		if words != nil && len(samples) < limit && !slices.ContainsFunc(samples, isSame) {
			samples = append(samples, rows.EncodingSample{Encoding: name, Used: name == used, Words: words})
		}
	}
	return samples
}

// candidates returns the encodings that a text may have: the used one first.
func (c *byteCounts) candidates(used string) (names []string) {
	if used != "" {
		names = append(names, used)
	}
	if c.invalidRuns == 0 {
		names = append(names, "UTF-8")
	}
	eastAsian := []string{"Shift_JIS", "EUC-JP", "GB18030", "Big5", "EUC-KR"}
	isEastAsian := slices.ContainsFunc(eastAsian,
		func(name string) bool { return strings.EqualFold(name, standardName(used)) })
	ranked := c.rankEncodings()
	isEastAsian = isEastAsian || 2*ranked[0].adjacent > ranked[0].all && !ranked[0].isUsable(c)
	if isEastAsian {
		names = append(names, eastAsian...)
	}
	for _, e := range ranked {
		if e.isUsable(c) || e.name == windows1252 {
			names = append(names, e.name)
		}
	}
	if !isEastAsian { // these encodings have a character for most pairs of bytes
		names = append(names, eastAsian...)
	}
	return names
}
