package charset

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// decoder converts text of one encoding to UTF-8. It returns the converted text, valid until the next call, and the number
// of bytes read. It stops early within a character. With an error, the offending bytes follow those read.
type decoder interface {
	decode(src []byte, atEOF bool) (text []byte, read int, err error)
}

var (
	errUndecodable = errors.New("undecodable")
	errTruncated   = errors.New("the text ends within a character")
)

// utf8Decoder validates UTF-8.
type utf8Decoder struct{}

func (utf8Decoder) decode(src []byte, atEOF bool) ([]byte, int, error) {
	if utf8.Valid(src) {
		return src, len(src), nil
	}
	n := 0
	for {
		r, size := utf8.DecodeRune(src[n:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
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
	if d.out == nil {
		d.out = make([]byte, bufferBytes)
	}
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
