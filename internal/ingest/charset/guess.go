package charset

import (
	"bufio"
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// guessEncoding sets the encoding of a content that is not UTF-8 at an offset in a line. head is the start of the content,
// empty if it has been decoded already.
func (d *decoder) guessEncoding(offset int64, line int, head []byte) (err error) {
	if d.name = guessEastAsian(head); d.name == "" || !d.canDecode(d.name, func(rune) {}) {
		d.name = "Shift_JIS"
		if !d.isShiftJIS() {
			d.name, err = d.guessSingleByte(offset, line)
		}
	}
	if err != nil {
		return err
	}
	d.notes = append(d.notes, "the file is not UTF-8 and was read as "+d.name+"; if letters look wrong, name its encoding")
	d.dec, err = newDecoder(d.name)
	return err
}

// guessSingleByte scans a content that is not UTF-8 at an offset in a line and returns its encoding. It fails if a byte has no
// character in Windows-1252, or is zero, which no program writes there, if there are UTF-8 characters beyond ASCII, or if most
// letters beyond ASCII are next to each other, as in alphabets other than Latin: these are Windows-1251 if they are as
// frequent as in Russian and its relatives. Files whose lines end with CR are from old Macintosh programs if most bytes beyond
// ASCII are letters in Mac Roman and punctuation, or nothing, in Windows-1252.
func (d *decoder) guessSingleByte(invalid int64, invalidLine int) (string, error) {
	src, err := d.file.Open()
	if err != nil {
		return "", err
	}
	defer src.Close()
	in := bufio.NewReaderSize(src, bufferBytes)
	line, last, feeds, undefined := 1, byte(0), 0, error(nil)
	var all, mac, letters, adjacent, russian int // bytes beyond ASCII
	for offset := int64(0); ; offset++ {
		if offset%bufferBytes == 0 && d.ctx.Err() != nil {
			return "", context.Cause(d.ctx)
		}
		c, size, err := in.ReadRune()
		b := byte(c)
		switch {
		case err == io.EOF && feeds == 0 && line > 1 && 2*mac > all:
			return "macintosh", nil
		case err == io.EOF && undefined == nil && letters >= 20 && 2*adjacent > letters && 100*russian >= 42*all:
			return "Windows-1251", nil
		case err == io.EOF && undefined == nil && letters >= 10 && 2*adjacent > letters:
			return "", herb.Invalidf("line %d: byte %d is not UTF-8, and the letters do not look like Windows-1252; name the encoding of the file, "+
				"such as iso-8859-7, koi8-r or gb18030, or save it as UTF-8", invalidLine, invalid)
		case err == io.EOF:
			return "Windows-1252", undefined
		case err != nil:
			return "", err
		case size > 1:
			return "", herb.Invalidf("line %d: byte %d is not UTF-8, but byte %d (line %d) begins a UTF-8 character: the file mixes encodings; %s",
				invalidLine, invalid, offset, line, remedy)
		case c == utf8.RuneError:
			_ = in.UnreadRune()
			b, _ = in.ReadByte()
			if all++; b < 0xA0 {
				mac++
			} else if b >= 0xC0 {
				if letters++; last >= 0xC0 {
					adjacent++
				}
				if strings.IndexByte("\xC0\xC5\xC8\xCD\xCE\xD2\xE0\xE5\xE8\xED\xEE\xF2", b) >= 0 { // а е и н о т
					russian++
				}
			}
		case c == '\n':
			feeds++
		}
		if undefined == nil && strings.IndexByte("\x00\x81\x8D\x8F\x90\x9D", b) >= 0 {
			undefined = herb.Invalidf("line %d: byte %d (0x%02X) is neither UTF-8 nor Windows-1252; %s", line, offset, b, remedy)
		}
		if c == '\r' || c == '\n' && last != '\r' {
			line++
		}
		last = b
	}
}

// isShiftJIS reports whether the content can be decoded as Shift_JIS and its Japanese characters are mostly full-width and
// next to each other. Accented letters of Latin text are between others, and few of them are followed by the right bytes. No
// character beyond ASCII may have been decoded as UTF-8 already.
func (d *decoder) isShiftJIS() bool {
	var ascii int64 // characters before the first that is not
	var wide, narrow, adjacent int
	last := false
	return d.canDecode("Shift_JIS", func(c rune) {
		isNarrow := c >= '｡' && c <= 'ﾟ'
		isWide := c >= 0x2000 && !isNarrow
		switch {
		case isNarrow:
			narrow++
		case isWide:
			if wide++; last {
				adjacent++
			}
		case wide+narrow == 0:
			ascii++
		}
		last = isWide
	}) && 2*adjacent > wide && narrow <= wide && ascii >= d.offset
}

// guessEastAsian returns the encoding of Chinese, Japanese or Korean text by its start, "" if it is not evidently such: all
// bytes beyond ASCII are pairs, enough of them differ, and their first bytes are where the encoding has its frequent characters.
// These ranges exclude one another: Japanese has kana and rarely characters from D0 on, Korean few beyond C8, Chinese many from
// D0 on, and only Big5 often has a second byte below A1.
func guessEastAsian(head []byte) string {
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
		if pairs++; trail < 0x40 {
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

// canDecode reports whether the whole content can be decoded in an encoding. It calls visit for each character.
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
