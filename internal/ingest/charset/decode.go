package charset

import (
	"bytes"
	"errors"
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

// decoder converts text of one encoding to UTF-8. It returns the converted text, valid until the next call, and the number
// of bytes read. It stops early within a character. With an error, the offending bytes follow those read.
type decoder func(src []byte, atEOF bool) (text []byte, read int, err error)

var (
	errUndecodable = errors.New("undecodable")
	errTruncated   = errors.New("the text ends within a character")
)

// newDecoder returns the decoder of an encoding, by its name in web standards or a common alias.
func newDecoder(name string) (decoder, error) {
	var e encoding.Encoding
	alias, controls := label(name), false
	switch alias {
	case "utf8", "utf8sig", "utf8bom", "unicode11utf8":
		return decodeUTF8, nil
	case "utf32le", "utf32":
		e = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "utf32be":
		e = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case "iso88591", "latin1", "l1": // Windows-1252 in web standards
		e, controls = charmap.Windows1252, true
	default:
		var ok bool
		if alias, ok = aliases()[alias]; !ok {
			alias = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
		}
		var err error
		if e, err = htmlindex.Get(alias); err != nil || alias == "us-ascii" {
			e, err = ianaindex.IANA.Encoding(alias)
		}
		if err != nil || e == nil || e == encoding.Replacement {
			return nil, herb.Invalidf("unknown encoding %q; use its name in web standards, such as utf-8, utf-16le, windows-1252, "+
				"iso-8859-15, shift_jis or gb18030", name)
		}
	}
	written, _ := e.NewEncoder().String(substitute) // empty: the encoding has no such character
	d := &strictDecoder{t: e.NewDecoder(), written: written, controls: controls, out: make([]byte, bufferBytes),
		stateful: e == japanese.ISO2022JP || e == simplifiedchinese.HZGB2312}
	return d.decode, nil
}

// aliases returns names in web standards by the labels of other names.
func aliases() map[string]string {
	return map[string]string{
		"utf16": "utf-16le", "ucs2": "utf-16le", "unicode": "utf-16le", "utf16le": "utf-16le", "utf16be": "utf-16be", "cp1252": "windows-1252",
		"cp932": "shift_jis", "ms932": "shift_jis", "windows932": "shift_jis", "shiftjis": "shift_jis", "cp936": "gbk", "cp949": "euc-kr",
		"macroman": "macintosh", "ascii": "us-ascii",
	}
}

// label returns the name of an encoding in the form in which names are compared.
func label(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// decodeUTF8 validates UTF-8.
func decodeUTF8(src []byte, atEOF bool) ([]byte, int, error) {
	if utf8.Valid(src) {
		return src, len(src), nil
	}
	n := 0
	for r, size := utf8.DecodeRune(src); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(src[n:]) {
		n += size
	}
	switch {
	case utf8.FullRune(src[n:]):
		return src[:n], n, errUndecodable
	case atEOF:
		return src[:n], n, errTruncated
	}
	return src[:n], n, nil
}

const substitute = "\uFFFD"

// strictDecoder decodes with a transformer that substitutes what it cannot decode, and detects the substitutes.
type strictDecoder struct {
	t        transform.Transformer
	stateful bool   // it must decode every character once
	written  string // the substitute as this encoding writes it; empty: it cannot
	controls bool   // undefined bytes are control characters
	out      []byte
}

func (d *strictDecoder) decode(src []byte, atEOF bool) ([]byte, int, error) {
	if !d.stateful {
		n, read, err := d.t.Transform(d.out, src, atEOF)
		if err != nil && err != transform.ErrShortDst && err != transform.ErrShortSrc {
			return nil, 0, err
		}
		if !bytes.Contains(d.out[:n], []byte(substitute)) {
			return d.out[:n], read, nil
		}
	}
	text, total := d.out[:0], 0
	for cap(text)-len(text) >= 2*utf8.UTFMax {
		// With room for three bytes, a substitute is never followed by another character.
		room := d.out[len(text):]
		n, read, err := d.t.Transform(room[:len(substitute)], src[total:], atEOF)
		if n == 0 && read == 0 && err == transform.ErrShortDst {
			n, read, err = d.t.Transform(room[:utf8.UTFMax], src[total:], atEOF)
		}
		if n == 0 && read == 0 {
			if err != nil && err != transform.ErrShortSrc {
				return text, total, err
			}
			break
		}
		if raw := src[total : total+read]; string(room[:n]) == substitute && string(raw) != d.written {
			if !d.controls {
				return text, total, errUndecodable
			}
			n = utf8.EncodeRune(room, rune(raw[0]))
		}
		text, total = d.out[:len(text)+n], total+read
	}
	return text, total, nil
}
