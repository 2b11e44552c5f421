package ingest

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"herbarium/internal/herb"
)

// The encodings that are found out, by the names that messages give them.
const (
	utf8Name    = "UTF-8"
	utf16LEName = "UTF-16LE"
	utf16BEName = "UTF-16BE"
	utf32LEName = "UTF-32LE"
	utf32BEName = "UTF-32BE"
	cp1252Name  = "Windows-1252"
)

// byteOrderMark returns the mark at the beginning of a text and the encoding that it tells, both empty without one.
func byteOrderMark(head []byte) (mark, encoding string) {
	for _, m := range []struct{ mark, encoding string }{
		{"\xFF\xFE\x00\x00", utf32LEName}, // goes first, for it begins like the one of UTF-16
		{"\x00\x00\xFE\xFF", utf32BEName},
		{"\xEF\xBB\xBF", utf8Name},
		{"\xFF\xFE", utf16LEName},
		{"\xFE\xFF", utf16BEName},
	} {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			return m.mark, m.encoding
		}
	}
	return "", ""
}

// nulPattern tells UTF-16 without a mark: its zero bytes stand mostly in one half of the pairs, there they are half of the bytes or
// a tenth at least, and most bytes that look like line ends have one beside them. It returns "" for other texts.
func nulPattern(head []byte) string {
	head = head[:len(head)/2*2]
	var zeros, ends [2]int // by place in the pair; of line ends only those that have a zero in theirs
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
	for half, name := range []string{utf16BEName, utf16LEName} { // the half that is zero in ASCII
		if zeros[half] > 0 && zeros[half] >= enough && 4*zeros[1-half] <= zeros[half] && ends[1-half]*2 >= total+min(total, 1) {
			return name
		}
	}
	return ""
}

// encodingLabel is a name in the form in which names are compared.
func encodingLabel(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
}

// newDecoder finds an encoding by its name in web standards, and by some that other programs use.
func newDecoder(name string) (decoder, error) {
	label := encodingLabel(name)
	switch label {
	case "utf-8", "utf8", "utf-8-sig", "utf8-sig", "utf-8-bom", "unicode-1-1-utf-8":
		return utf8Decoder{}, nil
	case "utf-16le", "utf-16-le", "utf-16", "utf16", "ucs-2", "unicode":
		return utf16Decoder{}, nil
	case "utf-16be", "utf-16-be":
		return utf16Decoder{big: true}, nil
	case "utf-32le", "utf-32-le", "utf-32", "utf32":
		return utf32Decoder{}, nil
	case "utf-32be", "utf-32-be":
		return utf32Decoder{big: true}, nil
	case "ascii", "us-ascii":
		return asciiDecoder(), nil
	case "windows-1252", "cp1252", "x-cp1252":
		return charmapDecoder(charmap.Windows1252), nil
	case "iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1":
		// What is called so is Windows-1252 wherever that has a character (web standards say it always is), and the
		// control characters of ISO 8859-1 in its gaps.
		d := charmapDecoder(charmap.Windows1252)
		for _, c := range []byte(undefined1252) {
			d[c] = rune(c)
		}
		return d, nil
	case "cp932", "ms932", "windows-932":
		label = "shift_jis"
	case "cp936":
		label = "gbk"
	case "cp949":
		label = "euc-kr"
	case "mac-roman", "macroman":
		label = "macintosh"
	case "shift-jis":
		label = "shift_jis"
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		e, err = ianaindex.IANA.Encoding(label)
	}
	if err != nil || e == nil || e == encoding.Replacement {
		return nil, herb.Invalidf("the encoding %q is not known; name it as web standards do, such as utf-8, utf-16le, "+
			"windows-1252, iso-8859-15, shift_jis or gb18030", name)
	}
	if m, ok := e.(*charmap.Charmap); ok {
		return charmapDecoder(m), nil
	}
	return newMultiDecoder(e, e == japanese.ISO2022JP || e == simplifiedchinese.HZGB2312), nil
}

// strictly refuses what is not in the encoding that a text is known to be in.
func strictly(name string) func(place, error) error {
	return func(p place, err error) error {
		if err == errCutCharacter {
			return herb.Invalidf("line %d: the text ends in the middle of a character at byte %d, read as %s; is the file cut off?",
				p.line, p.offset, name)
		}
		return herb.Invalidf("line %d: byte %d cannot be read as %s; save the file as UTF-8, or name the encoding that it has",
			p.line, p.offset, name)
	}
}

// judgeEncoding finds the encoding of a text that is not UTF-8, which only all of it can tell. It is Windows-1252 when
// every byte has a character there and no two make one of UTF-8; in all other cases nobody can know.
func judgeEncoding(r io.Reader) (string, error) {
	var j encodingJudge
	buf, rest := make([]byte, windowBytes), 0
	for {
		n, err := readSome(r, buf[rest:])
		if err != nil && err != io.EOF {
			return "", err
		}
		used := j.look(buf[:rest+n], err == io.EOF)
		if verdict := j.verdict(); verdict != nil {
			return "", verdict
		}
		if err == io.EOF {
			break
		}
		rest = copy(buf, buf[used:rest+n])
	}
	if j.invalid == nil && j.cut != nil {
		return "", strictly(utf8Name)(*j.cut, errCutCharacter)
	}
	return cp1252Name, nil
}

// encodingJudge gathers where a text first has what rules encodings out.
type encodingJudge struct {
	at    int64
	lines lineCount

	invalid   *place // a byte that is not UTF-8
	multi     *place // a character of UTF-8 beyond ASCII
	undefined *place // a byte that is neither UTF-8 nor Windows-1252
	cut       *place // the beginning of a character of UTF-8 at the very end
	bad       byte   // the undefined one
}

// look returns how many bytes it has seen through: all but a character that goes on.
func (j *encodingJudge) look(b []byte, atEOF bool) int {
	pos, counted := 0, 0
	here := func() *place {
		j.lines.add(b[counted:pos])
		counted = pos
		return &place{j.at + int64(pos), 1 + j.lines.n}
	}
	for pos < len(b) {
		if b[pos] < utf8.RuneSelf {
			if b[pos] == 0 {
				j.lookFor1252(0, here)
			}
			pos++
			continue
		}
		if !utf8.FullRune(b[pos:]) {
			if !atEOF {
				break
			}
			j.cut = here()
			for _, c := range b[pos:] { // they may still be Windows-1252
				j.lookFor1252(c, here)
				pos++
			}
			break
		}
		r, n := utf8.DecodeRune(b[pos:])
		switch {
		case r != utf8.RuneError || n > 1:
			if j.multi == nil {
				j.multi = here()
			}
		case j.invalid == nil:
			j.invalid = here()
			fallthrough
		default:
			j.lookFor1252(b[pos], here)
		}
		pos += n
	}
	here()
	j.at += int64(pos)
	return pos
}

// lookFor1252 takes a byte into account that is one of Windows-1252 if the text is not UTF-8. No program writes a zero
// there.
func (j *encodingJudge) lookFor1252(c byte, here func() *place) {
	if j.undefined == nil && (c == 0 || strings.IndexByte(undefined1252, c) >= 0) {
		j.undefined, j.bad = here(), c
	}
}

// verdict is the error that follows from what was seen so far.
func (j *encodingJudge) verdict() error {
	const remedy = "save the file as UTF-8, or name the encoding that it has"
	switch {
	case j.invalid != nil && j.multi != nil:
		return herb.Invalidf("line %d: byte %d is not UTF-8 while there is a character of UTF-8 at byte %d (line %d): the file mixes "+
			"encodings; %s", j.invalid.line, j.invalid.offset, j.multi.offset, j.multi.line, remedy)
	case j.invalid != nil && j.undefined != nil:
		return herb.Invalidf("line %d: byte %d (0x%02X) is neither UTF-8 nor Windows-1252; %s", j.undefined.line, j.undefined.offset,
			j.bad, remedy)
	}
	return nil
}
