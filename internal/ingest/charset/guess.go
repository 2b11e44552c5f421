package charset

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// minEvidence is the number of bytes beyond ASCII that tell an encoding other than Windows-1252,
// which nearly all files have that are not UTF-8.
const minEvidence = 30

// guessEncoding sets the encoding of a content that is not UTF-8 at an offset in a line. head is
// its start, empty if it was decoded already. It fails if the encoding is not evident: the
// publisher must name it.
func (d *decoder) guessEncoding(offset int64, line int, head []byte) error {
	counts, err := d.countBytes()
	if err != nil {
		return err
	}
	d.name = d.guessEastAsian(counts, head)
	if d.name == "" {
		best := counts.rankEncodings()[0]
		decoded := counts.firstValid.found && counts.firstValid.offset < d.offset // as UTF-8, and the parser has it
		switch {
		case decoded || !best.isUsable(counts) && counts.validRuns > 0 || counts.mixesUTF8(best):
			return herb.Invalidf("line %d: byte %d is not UTF-8, but byte %d (line %d) begins a UTF-8 character: the "+
				"file mixes encodings; %s",
				line, offset, counts.firstValid.offset, counts.firstValid.line, remedy)
		case !best.isEvident(counts):
			return herb.Invalidf("line %d: byte %d is not UTF-8, and the file does not tell its encoding; %s%s", line,
				offset, remedy, counts.suggestion())
		}
		d.name = best.name
	}
	d.notes = append(d.notes, "the file is not UTF-8 and was read as "+d.name+
		"; if letters look wrong, name its encoding")
	d.dec, err = newDecoder(d.name)
	return err
}

// suggestion lists encodings for a message, with the word of the file that differs most in them.
func (c *byteCounts) suggestion() string {
	const most = 4
	samples := c.samples("", most)
	if len(samples) == 0 {
		return ""
	}
	word, differing := 0, 0
	for i := range samples[0].Words {
		distinct := map[string]bool{}
		for _, s := range samples {
			distinct[s.Words[i]] = true
		}
		if len(distinct) > differing {
			word, differing = i, len(distinct)
		}
	}
	var list []string
	for _, s := range samples {
		list = append(list, fmt.Sprintf("encoding=%s (%s)", strings.ToLower(s.Encoding), rows.Clip(s.Words[word])))
	}
	return ", such as " + strings.Join(list, ", ")
}

// byteCounts describes the bytes beyond ASCII of a content that is not UTF-8. A run is a sequence
// of such bytes between ASCII characters.
type byteCounts struct {
	pairs      pairCounts
	validPairs pairCounts // in and around runs that are UTF-8
	within     [256]int   // between two ASCII letters
	// inCapitalized counts bytes between an upper-case and a lower-case ASCII letter.
	inCapitalized [256]int
	validRuns     int // that are UTF-8
	invalidRuns   int
	firstValid    bytePosition // of a UTF-8 character beyond ASCII
	high          int          // bytes beyond ASCII
	hasZero       bool
	words         wordCollector
}

type bytePosition struct {
	found  bool
	offset int64
	line   int
}

// pairCounts counts adjacent bytes of which at least one is beyond ASCII.
type pairCounts [256][256]int

func (p *pairCounts) add(last, b byte) {
	if last|b >= utf8.RuneSelf {
		p[last][b]++
	}
}

// bytePair is a pair of adjacent bytes and how often it occurs.
type bytePair struct {
	first, second byte
	n             int
}

// list returns the pairs that occur.
func (p *pairCounts) list() (pairs []bytePair) {
	for first := range p {
		for second, n := range p[first] {
			if n > 0 {
				pairs = append(pairs, bytePair{byte(first), byte(second), n})
			}
		}
	}
	return pairs
}

// maxRun is the number of bytes of a run that are examined if it is UTF-8.
const maxRun = 64

// countBytes scans the whole content.
func (d *decoder) countBytes() (*byteCounts, error) {
	src, err := d.file.Open()
	if err != nil {
		return nil, err
	}
	defer src.Close()
	in := bufio.NewReaderSize(src, bufferBytes)
	var (
		c            = new(byteCounts)
		line         = 1
		before, last byte
		run          []byte // with the byte before it
		isValid      bool
		buf          [utf8.UTFMax]byte
	)
	endRun := func(next byte) {
		switch {
		case len(run) == 0:
			return
		case !isValid:
			c.invalidRuns++
		default:
			c.validRuns++
			for i, b := range append(run, next)[1:] {
				c.validPairs.add(run[i], b)
			}
		}
		run = run[:0]
	}
	for offset, steps := int64(0), 0; ; steps++ {
		if steps%bufferBytes == 0 && d.ctx.Err() != nil {
			return nil, context.Cause(d.ctx)
		}
		r, size, err := in.ReadRune()
		if err == io.EOF {
			endRun(0)
			c.words.add(0)
			c.pairs.add(last, 0)
			return c, nil
		} else if err != nil {
			return nil, err
		}
		raw := utf8.AppendRune(buf[:0], r)
		if r == utf8.RuneError && size == 1 {
			_ = in.UnreadRune()
			b, _ := in.ReadByte()
			raw = append(buf[:0], b)
		}
		if raw[0] < utf8.RuneSelf {
			endRun(raw[0])
		} else {
			if len(run) == 0 {
				run, isValid = append(run, last), true
			}
			isValid = isValid && size > 1
			if len(run) < maxRun {
				run = append(run, raw...)
			}
			if size > 1 && !c.firstValid.found {
				c.firstValid = bytePosition{true, offset, line}
			}
		}
		for _, b := range raw {
			c.pairs.add(last, b)
			c.words.add(b)
			if isASCIILetter(before) && last >= utf8.RuneSelf && isASCIILetter(b) {
				c.within[last]++
				if before <= 'Z' && b >= 'a' {
					c.inCapitalized[last]++
				}
			}
			c.hasZero = c.hasZero || b == 0
			if b >= utf8.RuneSelf {
				c.high++
			}
			if b == '\r' || b == '\n' && last != '\r' {
				line++
			}
			before, last = last, b
		}
		offset += int64(len(raw))
	}
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// mixesUTF8 reports whether some runs are UTF-8 and not letters of the encoding by accident. A few
// accidental runs are words in the encoding, such as Ні in Windows-1251; runs of UTF-8 are not.
func (c *byteCounts) mixesUTF8(e *encodingFit) bool {
	if c.validRuns == 0 {
		return false
	}
	good, bad := e.judgeValidRuns(c.validPairs.list())
	isRare := 20*c.validRuns <= c.invalidRuns
	areWords := 10*bad <= good && c.validRuns <= c.invalidRuns
	return !(areWords && good > 0 || isRare && bad == 0)
}
