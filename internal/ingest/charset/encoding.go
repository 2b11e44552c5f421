package charset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"herbarium/internal/herb"
)

// ASCII returns the ASCII characters of the head of a text in UTF-8, UTF-16 or UTF-32, without its
// byte order mark.
func ASCII(head []byte) []byte {
	mark, name := detectUnicode(head)
	if name == "" {
		return head
	}
	return bytes.ReplaceAll(head[len(mark):], []byte{0}, nil)
}

// detectUnicode returns the byte order mark of a text, empty if it has none, and the encoding,
// empty if it is not detected.
func detectUnicode(head []byte) (mark, encoding string) {
	for _, m := range [][2]string{
		{"\xFF\xFE\x00\x00", "UTF-32LE"}, // before UTF-16, whose mark is a prefix of it
		{"\x00\x00\xFE\xFF", "UTF-32BE"},
		{"\xEF\xBB\xBF", "UTF-8"},
		{"\xFF\xFE", "UTF-16LE"},
		{"\xFE\xFF", "UTF-16BE"},
	} {
		if bytes.HasPrefix(head, []byte(m[0])) {
			return m[0], m[1]
		}
	}
	return "", detectUTF16(head)
}

// detectUTF16 detects UTF-16 without a byte order mark. One byte of many pairs is zero, mostly the
// same one of the two, and most line ends have a zero beside them. It returns "" for other texts.
func detectUTF16(head []byte) string {
	head = head[:len(head)/2*2]
	var zeros, ends [2]int // by position in the pair; ends counts line ends with a zero beside them
	total := 0             // line ends
	for i, c := range head {
		switch c {
		case 0:
			zeros[i%2]++
		case '\n', '\r':
			total++
			if head[i^1] == 0 {
				ends[i%2]++
			}
		}
	}
	enough := len(head) / 4
	if total > 0 {
		enough = len(head) / 20
	}
	for half, name := range []string{"UTF-16BE", "UTF-16LE"} { // half: the byte that is zero in ASCII characters
		if zeros[half] > 0 && zeros[half] >= enough && 4*zeros[1-half] <= zeros[half] && ends[1-half]*2 >= total+min(total, 1) {
			return name
		}
	}
	return ""
}

// checkBinary rejects content of which more than three in ten bytes are control characters.
func checkBinary(head []byte) error {
	isControl := func(c byte) bool { return c < ' ' && strings.IndexByte("\t\n\r\f\x1B\x01\x1F", c) < 0 }
	controls := 0
	for _, c := range head {
		if isControl(c) {
			controls++
		}
	}
	if controls*10 <= len(head)*3 {
		return nil
	}
	first := slices.IndexFunc(head, isControl)
	return herb.Invalidf("line %d: the file is not text: it has many control characters, the first at byte %d; "+
		"publish CSV, TSV, JSON, Parquet, XLSX or SQLite", 1+CountLines(head[:first]), first)
}

// isUTF16 reports whether an encoding is UTF-16 in an order of bytes that its name leaves open.
func isUTF16(name string) bool {
	return slices.Contains([]string{"utf16", "ucs2", "unicode"}, label(name))
}

// sameEncoding reports whether the given encoding agrees with that of a byte order mark.
func sameEncoding(given, marked string) bool {
	a, b := label(given), label(marked)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || isUTF16(given) && strings.HasPrefix(b, "utf16")
}

// label returns the name of an encoding in the form in which names are compared.
func label(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// CheckEncoding returns an error if the name of an encoding is unknown.
func CheckEncoding(name string) error {
	_, err := newDecoder(name)
	return err
}

// newDecoder returns a strict decoder of an encoding, by its name in web standards or a common
// alias.
func newDecoder(name string) (transform.Transformer, error) {
	aliases := map[string]string{
		"utf16": "utf-16le", "ucs2": "utf-16le", "unicode": "utf-16le", "utf16le": "utf-16le", "utf16be": "utf-16be", "cp1252": "windows-1252",
		"cp932": "shift_jis", "ms932": "shift_jis", "windows932": "shift_jis", "shiftjis": "shift_jis", "cp936": "gbk", "cp949": "euc-kr",
		"macroman": "macintosh", "ascii": "us-ascii",
	}
	var e encoding.Encoding
	var err error
	controls := false
	switch alias := label(name); alias {
	case "utf8", "utf8sig", "utf8bom", "unicode11utf8":
		return encoding.UTF8Validator, nil
	case "utf32le", "utf32":
		e = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "utf32be":
		e = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case "iso88591", "latin1", "l1": // Windows-1252 in web standards
		e, controls = charmap.Windows1252, true
	default:
		standard, ok := aliases[alias]
		if !ok {
			standard = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
		}
		if e, err = htmlindex.Get(standard); err != nil || standard == "us-ascii" {
			e, err = ianaindex.IANA.Encoding(standard)
		}
	}
	if err != nil || e == nil || e == encoding.Replacement {
		return nil, herb.Invalidf("unknown encoding %q; use its name in web standards, such as utf-8, utf-16le, windows-1252, "+
			"iso-8859-15, shift_jis or gb18030", name)
	}
	written, _ := e.NewEncoder().String(substitute) // empty: the encoding has no such character
	return &strictDecoder{Transformer: e.NewDecoder(), written: written, controls: controls,
		stateful: e == japanese.ISO2022JP || e == simplifiedchinese.HZGB2312}, nil
}

const substitute = "\uFFFD"

var errUndecodable = errors.New("undecodable")

// strictDecoder decodes with a transformer that substitutes what it cannot decode, and fails at the
// substitutes.
type strictDecoder struct {
	transform.Transformer
	stateful bool   // it must decode every character once
	written  string // the substitute as this encoding writes it; empty: it cannot
	controls bool   // undefined bytes are control characters
}

func (d *strictDecoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if !d.stateful {
		nDst, nSrc, err = d.Transformer.Transform(dst, src, atEOF)
		if !bytes.Contains(dst[:nDst], []byte(substitute)) {
			return nDst, nSrc, err
		}
	}
	for nDst, nSrc = 0, 0; nSrc < len(src); {
		room := dst[nDst:]
		if len(room) < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		// With room for three bytes, a substitute is never followed by another character.
		n, read, err := d.Transformer.Transform(room[:len(substitute)], src[nSrc:], atEOF)
		if n == 0 && read == 0 && err == transform.ErrShortDst {
			n, read, err = d.Transformer.Transform(room[:utf8.UTFMax], src[nSrc:], atEOF)
		}
		if n == 0 && read == 0 {
			return nDst, nSrc, err
		}
		if raw := src[nSrc : nSrc+read]; string(room[:n]) == substitute && string(raw) != d.written {
			if !d.controls {
				return nDst, nSrc, errUndecodable
			}
			n = utf8.EncodeRune(room, rune(raw[0]))
		}
		nDst, nSrc = nDst+n, nSrc+read
	}
	return nDst, nSrc, nil
}

// guessEncoding sets the encoding of a content that is not UTF-8 at an offset. head is its start,
// empty if it was decoded already.
func (d *decoder) guessEncoding(offset int64, line int, head []byte) (err error) {
	if d.name = guessEastAsian(head); d.name == "" || !d.canDecode(d.name, func(rune) {}) {
		d.name = "Shift_JIS"
		isCertain, isPossible := d.isShiftJIS()
		if !isCertain {
			d.name, err = d.guessSingleByte(offset, line)
		}
		if err != nil && isPossible {
			return herb.Invalidf("line %d: byte %d is not UTF-8; the text may be Japanese in Shift_JIS, but is too short to tell; name its encoding, "+
				"such as encoding=shift_jis, or save it as UTF-8", line, offset)
		}
	}
	if err != nil {
		return err
	}
	d.notes = append(d.notes, "the file is not UTF-8 and was read as "+d.name+"; if letters look wrong, name its encoding")
	d.dec, err = newDecoder(d.name)
	return err
}

// guessSingleByte scans a content that is not UTF-8 at an offset in a line and returns its
// encoding. It fails if a byte has no character in Windows-1252, or is zero, which no program
// writes there, if there are UTF-8 characters beyond ASCII, or if most letters beyond ASCII are
// next to each other, as in alphabets other than Latin: these are Windows-1251 if they are as
// frequent as in Russian and its relatives. Other letters may be those of a language with an
// encoding of its own, or of old Macintosh programs, which end lines with CR.
func (d *decoder) guessSingleByte(invalid int64, invalidLine int) (string, error) {
	src, err := d.file.Open()
	if err != nil {
		return "", err
	}
	defer src.Close()
	in := bufio.NewReaderSize(src, bufferBytes)
	line, last, feeds, undefined := 1, byte(0), 0, error(nil)
	var all, letters, adjacent, russian int // bytes beyond ASCII
	var latin letterCounts
	for offset := int64(0); ; offset++ {
		if offset%bufferBytes == 0 && d.ctx.Err() != nil {
			return "", context.Cause(d.ctx)
		}
		c, size, err := in.ReadRune()
		b := byte(c)
		switch {
		case err == io.EOF && (latin.isMacRoman(3) || feeds == 0 && line > 1 && latin.isMacRoman(1)):
			return "macintosh", nil
		case err == io.EOF && undefined == nil && letters >= 20 && 2*adjacent > letters && 100*russian >= 42*all:
			return "Windows-1251", nil
		case err == io.EOF && undefined == nil && letters >= 10 && 2*adjacent > letters:
			return "", herb.Invalidf("line %d: byte %d is not UTF-8, and the letters do not look like Windows-1252; name the encoding of the file, "+
				"such as iso-8859-7, koi8-r or gb18030, or save it as UTF-8", invalidLine, invalid)
		case err == io.EOF:
			if name := latin.encoding(); name != "" {
				return name, nil
			}
			return "Windows-1252", undefined
		case err != nil:
			return "", err
		case size > 1:
			return "", herb.Invalidf("line %d: byte %d is not UTF-8, but byte %d (line %d) begins a UTF-8 character: the file mixes encodings; %s",
				invalidLine, invalid, offset, line, remedy)
		case c == utf8.RuneError:
			_ = in.UnreadRune()
			b, _ = in.ReadByte()
			latin.add(last, b)
			if all++; b >= 0xC0 {
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

// isShiftJIS reports whether the content can be decoded as Shift_JIS and its Japanese characters
// are mostly full-width, and whether half of them are next to each other, which makes it certain.
// Accented letters of Latin text are between others, and few of them are followed by the right
// bytes. No character beyond ASCII may have been decoded as UTF-8 already.
func (d *decoder) isShiftJIS() (isCertain, isPossible bool) {
	var ascii int64 // characters before the first that is not
	var wide, narrow, adjacent int
	last := false
	isPossible = d.canDecode("Shift_JIS", func(c rune) {
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
	}) && wide > 0 && narrow <= wide && ascii >= d.offset
	return isPossible && wide > 1 && 2*adjacent >= wide, isPossible
}

// guessEastAsian returns the encoding of Chinese, Japanese or Korean text by its start, "" if it is
// not evidently such: all bytes beyond ASCII are pairs, enough of them differ, and their first
// bytes are where the encoding has its frequent characters. These ranges exclude one another:
// Japanese has kana and rarely characters from D0 on, Korean few beyond C8, Chinese many from D0
// on, and only Big5 often has a second byte below A1.
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
