package charset

import (
	"bytes"
	"errors"
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
	"herbarium/internal/ingest/rows"
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
		if zeros[half] > 0 && zeros[half] >= enough && 4*zeros[1-half] <= zeros[half] &&
			ends[1-half]*2 >= total+min(total, 1) {
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

// encodingNames returns the names of encodings for messages. Their other names in the standards of
// the web and of IANA are accepted, too.
func encodingNames() []string {
	return []string{
		"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be", "us-ascii",
		"windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255",
		"windows-1256", "windows-1257", "windows-1258",
		"iso-8859-1", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8",
		"iso-8859-9", "iso-8859-10",
		"iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "macintosh", "x-mac-cyrillic",
		"cp437", "cp850", "cp852", "cp855", "cp858", "cp860", "cp862", "cp863", "cp865", "cp866", "koi8-r", "koi8-u",
		"shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "gbk", "big5", "euc-kr",
	}
}

// standardName returns the name of an encoding in a standard. It knows names with and without
// hyphens, code pages by their number, and other names that programs use.
func standardName(name string) string {
	plain := label(name)
	aliases := map[string]string{
		"utf8sig": "utf-8", "utf8bom": "utf-8", "utf8mb4": "utf-8", "unicode11utf8": "utf-8",
		"utf16": "utf-16le", "ucs2": "utf-16le", "unicode": "utf-16le", "utf32": "utf-32le",
		"latin1": "iso-8859-1", "l1": "iso-8859-1", "latin9": "iso-8859-15", "latin10": "iso-8859-16",
		"ansi": "windows-1252", "ascii": "us-ascii",
		"macroman": "macintosh", "maccyrillic": "x-mac-cyrillic", "tis620": "windows-874",
		"sjis": "shift_jis", "cp932": "shift_jis", "ms932": "shift_jis", "windows932": "shift_jis", "ujis": "euc-jp",
		"cp936": "gbk", "euccn": "gbk", "cp949": "euc-kr", "uhc": "euc-kr", "cp950": "big5", "ms950": "big5",
	}
	if standard := aliases[plain]; standard != "" {
		return standard
	}
	number := strings.TrimLeft(plain, "abcdefghijklmnopqrstuvwxyz")
	isCodePage := slices.Contains([]string{"", "cp", "ibm", "dos", "oem", "win", "windows", "codepage"},
		strings.TrimSuffix(plain, number))
	for _, known := range encodingNames() {
		k := label(known)
		if k == plain || isCodePage && number != "" &&
			slices.Contains([]string{"windows" + number, "cp" + number, "iso" + number}, k) {
			return known
		}
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// newDecoder returns a strict decoder of an encoding by its name.
func newDecoder(name string) (transform.Transformer, error) {
	var e encoding.Encoding
	controls := false
	switch standard := standardName(name); standard {
	case "utf-8":
		return encoding.UTF8Validator, nil
	case "utf-32le":
		e = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "utf-32be":
		e = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case "iso-8859-1": // Windows-1252 in web standards
		e, controls = charmap.Windows1252, true
	case "us-ascii": // Windows-1252 in web standards
		e, _ = ianaindex.IANA.Encoding(standard)
	case "cp858":
		e = charmap.CodePage858
	default:
		e = standardEncoding(standard)
	}
	if e == nil || e == encoding.Replacement {
		return nil, herb.Invalidf("unknown encoding %q; valid encodings: %s", rows.Clip(name),
			strings.Join(encodingNames(), ", "))
	}
	written, _ := e.NewEncoder().String(substitute) // empty: the encoding has no such character
	return &strictDecoder{Transformer: e.NewDecoder(), written: written, controls: controls,
		stateful: e == japanese.ISO2022JP || e == simplifiedchinese.HZGB2312}, nil
}

// standardEncoding returns an encoding by its name in the standards of the web or of IANA. It
// returns nil for unknown names.
func standardEncoding(name string) encoding.Encoding {
	for _, spelling := range []string{name, strings.ReplaceAll(name, "_", "-"), label(name)} {
		if e, err := htmlindex.Get(spelling); err == nil {
			return e
		}
		if e, err := ianaindex.IANA.Encoding(spelling); err == nil && e != nil {
			return e
		}
	}
	return nil
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
