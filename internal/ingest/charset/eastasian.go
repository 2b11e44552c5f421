package charset

import (
	"bufio"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"
)

// guessEastAsian returns the encoding of a content that is evidently Chinese, Japanese or Korean,
// "" for others. head is its start, empty if it was decoded already.
func (d *decoder) guessEastAsian(c *byteCounts, head []byte) string {
	if c.high < minEvidence {
		return ""
	}
	if name := eastAsianPairs(head); name != "" && d.canDecode(name, func(rune) {}) {
		return name
	}
	if d.isShiftJIS() {
		return "Shift_JIS"
	}
	return ""
}

// isShiftJIS reports whether the content is certainly Japanese in Shift_JIS. Accented letters of
// Latin text are between others, and few of them are followed by the right bytes. No character
// beyond ASCII may have been decoded as UTF-8 already.
func (d *decoder) isShiftJIS() bool {
	counts := shiftJISCounts{encoder: japanese.ShiftJIS.NewEncoder()}
	isPossible := d.canDecode("Shift_JIS", counts.add) && counts.ascii >= d.offset && counts.wide+counts.narrow > 0
	return isPossible && (counts.isWideText() || counts.isNarrowText())
}

// shiftJISCounts counts characters of a text that is decoded as Shift_JIS. Narrow ones are
// half-width kana, wide ones other Japanese characters.
type shiftJISCounts struct {
	encoder      transform.Transformer
	last         rune
	ascii        int64 // characters before the first that is not
	wide, narrow int
	adjacent     int // wide ones after another one
	high         int // wide ones of two bytes beyond ASCII
	beside       int // wide ones before or after a Latin letter
	marks        int // voicing marks of narrow ones
	voiced       int // marks after a letter that can be voiced
}

func (s *shiftJISCounts) add(c rune) {
	isNarrow := func(c rune) bool { return c >= '｡' && c <= 'ﾟ' }
	isWide := func(c rune) bool { return c >= 0x2000 && !isNarrow(c) }
	isLetter := func(c rune) bool { return c < utf8.RuneSelf && isASCIILetter(byte(c)) }
	switch {
	case isNarrow(c):
		s.narrow++
		if c == 'ﾞ' || c == 'ﾟ' {
			s.marks++
			if s.last == 'ｳ' || s.last >= 'ｶ' && s.last <= 'ﾄ' || s.last >= 'ﾊ' && s.last <= 'ﾎ' {
				s.voiced++
			}
		}
	case isWide(c):
		s.wide++
		if isWide(s.last) {
			s.adjacent++
		}
		if isLetter(s.last) {
			s.beside++
		}
		if s.hasHighBytes(c) {
			s.high++
		}
	case isLetter(c) && isWide(s.last):
		s.beside++
	case s.wide+s.narrow == 0:
		s.ascii++
	}
	s.last = c
}

// hasHighBytes reports whether both bytes of a wide character are beyond ASCII.
func (s *shiftJISCounts) hasHighBytes(c rune) bool {
	var src, dst [utf8.UTFMax]byte
	n, _, err := s.encoder.Transform(dst[:], utf8.AppendRune(src[:0], c), true)
	return err == nil && n == 2 && dst[1] >= utf8.RuneSelf
}

// isWideText reports whether half of the wide characters are next to each other, or whether as many
// have two bytes beyond ASCII, as two in three characters of Japanese text, and few are beside a
// Latin letter, as accented letters of Latin text are.
func (s *shiftJISCounts) isWideText() bool {
	isApart := s.wide > 3 && 2*s.high >= s.wide && 4*s.beside <= s.wide
	return s.narrow <= s.wide && s.wide > 1 && (2*s.adjacent >= s.wide || isApart)
}

// isNarrowText reports whether nearly all voicing marks follow letters that can be voiced. In other
// encodings, the same bytes are letters, which may follow any letter.
func (s *shiftJISCounts) isNarrowText() bool {
	return s.narrow >= 10 && s.marks > 2 && 25*s.marks >= s.narrow && 20*s.voiced >= 19*s.marks
}

// eastAsianPairs returns the encoding of Chinese, Japanese or Korean text by its start, "" if it is
// not evidently such: all bytes beyond ASCII are pairs, enough of them differ, and their first
// bytes are where the encoding has its frequent characters. These ranges exclude one another:
// Japanese has kana and rarely characters from D0 on, Korean few beyond C8, Chinese many from D0
// on, and only Big5 often has a second byte below A1.
func eastAsianPairs(head []byte) string {
	distinct := map[[2]byte]bool{}
	var pairs, low, kana int // low: the second byte is below A1
	for i := 0; i+1 < len(head); i++ {
		lead := head[i]
		if lead < utf8.RuneSelf {
			continue
		}
		i++
		trail := head[i]
		distinct[[2]byte{lead, trail}] = true
		pairs++
		if trail < 0x40 {
			return ""
		} else if trail < 0xA1 {
			low++
		}
		if lead == 0xA4 || lead == 0xA5 {
			kana++
		}
	}
	percent := func(first, last byte) int {
		n := 0
		for pair := range distinct {
			if pair[0] >= first && pair[0] <= last {
				n++
			}
		}
		return 100 * n / len(distinct)
	}
	switch {
	case len(distinct) < 15:
		return ""
	case 100*low <= pairs && 100*kana >= 15*pairs:
		return "EUC-JP"
	case low == 0 && percent(0xA1, 0xC8) >= 97:
		return "EUC-KR"
	case 100*low >= 15*pairs && percent(0xA4, 0xC6) >= 80:
		return "Big5"
	case 100*low <= 10*pairs && percent(0xB0, 0xF7) >= 70 && percent(0xD0, 0xF7) >= 10:
		return "GB18030"
	}
	return ""
}

// canDecode reports whether the whole content can be decoded in an encoding. It calls visit for
// each character.
func (d *decoder) canDecode(name string, visit func(rune)) bool {
	text, err := Open(d.ctx, d.file, name, bufferBytes)
	if err != nil {
		return false
	}
	defer text.Close()
	for in := bufio.NewReader(text.in); ; {
		c, _, err := in.ReadRune()
		if err != nil {
			return err == io.EOF
		}
		visit(c)
	}
}
