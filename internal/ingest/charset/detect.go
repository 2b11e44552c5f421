package charset

import (
	"bytes"
	"cmp"
	"context"
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
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"herbarium/internal/herb"
)

// ASCII returns the ASCII characters of the head of a text in UTF-8, UTF-16 or UTF-32, without its byte order mark.
func ASCII(head []byte) []byte {
	mark, _ := byteOrderMark(head)
	head = head[len(mark):]
	if mark != "" || detectUTF16(head) != "" {
		head = bytes.ReplaceAll(head, []byte{0}, nil)
	}
	return head
}

// byteOrderMark returns the byte order mark of a text and its encoding, both empty if it has none.
func byteOrderMark(head []byte) (mark, encoding string) {
	for _, m := range []struct{ mark, encoding string }{
		{"\xFF\xFE\x00\x00", "UTF-32LE"}, // before UTF-16, whose mark is a prefix of it
		{"\x00\x00\xFE\xFF", "UTF-32BE"},
		{"\xEF\xBB\xBF", "UTF-8"},
		{"\xFF\xFE", "UTF-16LE"},
		{"\xFE\xFF", "UTF-16BE"},
	} {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			return m.mark, m.encoding
		}
	}
	return "", ""
}

// detectUTF16 detects UTF-16 without a byte order mark. One byte of many pairs is zero, mostly the same one of the two,
// and most line ends have a zero beside them. It returns "" for other texts.
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
	controls, first := 0, 0
	for i, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B && c != 0x01 && c != 0x1F {
			if controls++; controls == 1 {
				first = i
			}
		}
	}
	if len(head) >= 32 && controls*10 > len(head)*3 {
		return herb.Invalidf("line %d: the file is not text: it has many control characters, the first at byte %d; "+
			"publish CSV, TSV, JSON, Parquet, XLSX or SQLite", 1+CountLines(head[:first]), first)
	}
	return nil
}

// label returns the name of an encoding in the form in which names are compared.
func label(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
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

// newDecoder returns the decoder of an encoding, by its name in web standards or a common alias.
func newDecoder(name string) (decoder, error) {
	switch label(name) {
	case "utf8", "utf8sig", "utf8bom", "unicode11utf8":
		return utf8Decoder{}, nil
	case "utf16le", "utf16", "ucs2", "unicode":
		return &strictDecoder{t: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder(), written: "\xFD\xFF"}, nil
	case "utf16be":
		return &strictDecoder{t: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder(), written: "\xFF\xFD"}, nil
	case "utf32le", "utf32":
		return &strictDecoder{t: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM).NewDecoder(), written: "\xFD\xFF\x00\x00"}, nil
	case "utf32be":
		return &strictDecoder{t: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM).NewDecoder(), written: "\x00\x00\xFF\xFD"}, nil
	case "iso88591", "latin1", "l1": // Windows-1252 in web standards
		return &strictDecoder{t: charmap.Windows1252.NewDecoder(), controls: true}, nil
	}
	alias := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	aliases := map[string]string{
		"cp1252": "windows-1252", "cp932": "shift_jis", "ms932": "shift_jis", "windows-932": "shift_jis", "shift-jis": "shift_jis",
		"cp936": "gbk", "cp949": "euc-kr", "mac-roman": "macintosh", "macroman": "macintosh", "ascii": "us-ascii",
	}
	alias = cmp.Or(aliases[alias], alias)
	e, err := htmlindex.Get(alias)
	if err != nil || alias == "us-ascii" {
		e, err = ianaindex.IANA.Encoding(alias)
	}
	if err != nil || e == nil || e == encoding.Replacement {
		return nil, herb.Invalidf("unknown encoding %q; use its name in web standards, such as utf-8, utf-16le, windows-1252, "+
			"iso-8859-15, shift_jis or gb18030", name)
	}
	d := &strictDecoder{t: e.NewDecoder(), stateful: e == japanese.ISO2022JP || e == simplifiedchinese.HZGB2312}
	if e == simplifiedchinese.GB18030 {
		d.written = "\x84\x31\xA4\x37"
	}
	return d, nil
}

// undefined1252 lists the bytes that have no character in Windows-1252.
const undefined1252 = "\x81\x8D\x8F\x90\x9D"

// verify1252 scans a content that is not UTF-8 at one place. It fails if a byte has no character in Windows-1252 (no program
// writes zeros there), or if there are UTF-8 characters beyond ASCII.
func (r *Reader) verify1252(invalid place) error {
	src, err := r.file.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	buf, rest, at := make([]byte, bufferBytes), 0, int64(0)
	var lines lineCounter
	for eof := false; !eof; {
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		n, err := io.ReadAtLeast(src, buf[rest:], 1)
		if eof = err == io.EOF; err != nil && !eof {
			return err
		}
		b, pos := buf[:rest+n], 0
		here := func() place {
			before := lines
			before.add(b[:pos])
			return place{at + int64(pos), 1 + before.n}
		}
		for pos < len(b) && (eof || utf8.FullRune(b[pos:])) {
			if c := b[pos]; c > 0 && c < utf8.RuneSelf {
				pos++
				continue
			}
			switch _, size := utf8.DecodeRune(b[pos:]); {
			case size > 1:
				return herb.Invalidf("line %d: byte %d is not UTF-8, but byte %d (line %d) begins a UTF-8 character: the file mixes encodings; %s",
					invalid.line, invalid.offset, here().offset, here().line, remedy)
			case b[pos] == 0 || strings.IndexByte(undefined1252, b[pos]) >= 0:
				return herb.Invalidf("line %d: byte %d (0x%02X) is neither UTF-8 nor Windows-1252; %s", here().line, here().offset, b[pos], remedy)
			}
			pos++
		}
		lines.add(b[:pos])
		at += int64(pos)
		rest = copy(buf, b[pos:])
	}
	return nil
}
