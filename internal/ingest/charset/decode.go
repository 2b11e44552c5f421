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

// newDecoder returns a strict decoder of an encoding, by its name in web standards or a common alias.
func newDecoder(name string) (transform.Transformer, error) {
	var e encoding.Encoding
	alias, controls := label(name), false
	switch alias {
	case "utf8", "utf8sig", "utf8bom", "unicode11utf8":
		return encoding.UTF8Validator, nil
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
	return &strictDecoder{Transformer: e.NewDecoder(), written: written, controls: controls,
		stateful: e == japanese.ISO2022JP || e == simplifiedchinese.HZGB2312}, nil
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

const substitute = "\uFFFD"

var errUndecodable = errors.New("undecodable")

// strictDecoder decodes with a transformer that substitutes what it cannot decode, and fails at the substitutes.
type strictDecoder struct {
	transform.Transformer
	stateful bool   // it must decode every character once
	written  string // the substitute as this encoding writes it; empty: it cannot
	controls bool   // undefined bytes are control characters
}

// Transform implements transform.Transformer.
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
