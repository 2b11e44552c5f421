package ingest

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// decoder turns text of one encoding into UTF-8. It returns how much it wrote and read, and stops early for want of room
// (dst has at least utf8.UTFMax bytes) or of the rest of a character. At the end of the text it reads everything. What it
// cannot decode begins at src[nSrc] when it returns errUndecodable or errCutCharacter.
type decoder interface {
	decode(dst, src []byte, atEOF bool) (nDst, nSrc int, err error)
}

var (
	errUndecodable  = errors.New("undecodable")
	errCutCharacter = errors.New("the text ends within a character")
)

// textReader reads UTF-8 out of a text in any encoding. It is strict: nothing is replaced by a substitute.
type textReader struct {
	src    io.Reader
	dec    decoder
	refuse func(p place, err error) error // makes the error for what cannot be decoded
	buf    []byte                         // read and not yet decoded: buf[start:end]
	start  int
	end    int
	at     place // of buf[start]
	lines  lineCount
	eof    bool
	err    error
	small  [utf8.UTFMax]byte
	left   []byte // of small, not yet handed out
}

// place is where something stands in a text.
type place struct {
	offset int64 // in bytes, from 0
	line   int   // from 1
}

func newTextReader(src io.Reader, dec decoder, refuse func(place, error) error) *textReader {
	return &textReader{src: src, dec: dec, refuse: refuse, buf: make([]byte, windowBytes)}
}

// Read implements io.Reader.
func (t *textReader) Read(p []byte) (int, error) {
	if len(t.left) == 0 {
		if len(p) >= utf8.UTFMax {
			return t.fill(p)
		}
		n, err := t.fill(t.small[:])
		if err != nil {
			return 0, err
		}
		t.left = t.small[:n]
	}
	n := copy(p, t.left)
	t.left = t.left[n:]
	return n, nil
}

// fill returns some text or an error.
func (t *textReader) fill(p []byte) (int, error) {
	for t.err == nil {
		n, read, err := t.dec.decode(p, t.buf[t.start:t.end], t.eof)
		t.lines.add(p[:n])
		t.start += read
		t.at.offset += int64(read)
		switch {
		case err != nil:
			t.at.line = 1 + t.lines.n
			t.err = t.refuse(t.at, err)
		case n == 0 && read == 0 && t.eof:
			t.err = io.EOF
		case n == 0 && read == 0:
			t.err = t.read()
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, t.err
}

// read makes the undecoded part longer.
func (t *textReader) read() error {
	t.end = copy(t.buf, t.buf[t.start:t.end])
	t.start = 0
	n, err := readSome(t.src, t.buf[t.end:])
	t.end += n
	if err == io.EOF {
		t.eof, err = true, nil
	}
	return err
}

// readSome reads at least one byte, or returns an error. A reader may return nothing now and then, but not forever.
func readSome(r io.Reader, p []byte) (int, error) {
	for range 100 {
		if n, err := r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// lineCount counts the line ends in a text that comes in pieces. A carriage return followed by a line feed is one.
type lineCount struct {
	n  int
	cr bool // the last piece ended with a carriage return
}

func (c *lineCount) add(b []byte) {
	if len(b) == 0 {
		return
	}
	c.n += countLines(b)
	if c.cr && b[0] == '\n' {
		c.n--
	}
	c.cr = b[len(b)-1] == '\r'
}

// utf8Decoder passes UTF-8 on.
type utf8Decoder struct{}

func (utf8Decoder) decode(dst, src []byte, atEOF bool) (int, int, error) {
	room := src[:min(len(dst), len(src))]
	if utf8.Valid(room) {
		n := copy(dst, room)
		return n, n, nil
	}
	n := copy(dst, room[:invalidUTF8(room)])
	switch {
	case utf8.FullRune(src[n:]):
		if r, size := utf8.DecodeRune(src[n:]); r == utf8.RuneError && size == 1 {
			return n, n, errUndecodable
		}
	case atEOF:
		return n, n, errCutCharacter
	}
	return n, n, nil
}

// invalidUTF8 returns the position of the first byte that is not UTF-8, the length if there is none.
func invalidUTF8(b []byte) int {
	pos := 0
	for pos < len(b) {
		r, n := utf8.DecodeRune(b[pos:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		pos += n
	}
	return pos
}

// utf16Decoder and utf32Decoder read code units of two and four bytes.
type (
	utf16Decoder struct{ big bool }
	utf32Decoder struct{ big bool }
)

func (d utf16Decoder) unit(b []byte) rune {
	if d.big {
		return rune(b[0])<<8 | rune(b[1])
	}
	return rune(b[1])<<8 | rune(b[0])
}

func (d utf16Decoder) decode(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for len(dst)-nDst >= utf8.UTFMax {
		rest := src[nSrc:]
		size := 2
		if len(rest) >= 2 && utf16.IsSurrogate(d.unit(rest)) {
			size = 4
		}
		if len(rest) < size {
			if atEOF && len(rest) > 0 {
				return nDst, nSrc, errCutCharacter
			}
			break
		}
		r := d.unit(rest)
		if size == 4 {
			if r = utf16.DecodeRune(r, d.unit(rest[2:])); r == utf8.RuneError {
				return nDst, nSrc, errUndecodable
			}
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += size
	}
	return nDst, nSrc, nil
}

func (d utf32Decoder) decode(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for len(dst)-nDst >= utf8.UTFMax {
		rest := src[nSrc:]
		if len(rest) < 4 {
			if atEOF && len(rest) > 0 {
				return nDst, nSrc, errCutCharacter
			}
			break
		}
		u := uint32(rest[3])<<24 | uint32(rest[2])<<16 | uint32(rest[1])<<8 | uint32(rest[0])
		if d.big {
			u = uint32(rest[0])<<24 | uint32(rest[1])<<16 | uint32(rest[2])<<8 | uint32(rest[3])
		}
		if u > utf8.MaxRune || !utf8.ValidRune(rune(u)) {
			return nDst, nSrc, errUndecodable
		}
		nDst += utf8.EncodeRune(dst[nDst:], rune(u))
		nSrc += 4
	}
	return nDst, nSrc, nil
}

// byteDecoder reads an encoding of one byte a character. A negative rune stands for a byte without one.
type byteDecoder [256]rune

func (d *byteDecoder) decode(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) && len(dst)-nDst >= utf8.UTFMax {
		r := d[src[nSrc]]
		switch {
		case r < 0:
			return nDst, nSrc, errUndecodable
		case r < utf8.RuneSelf:
			dst[nDst] = byte(r)
			nDst++
		default:
			nDst += utf8.EncodeRune(dst[nDst:], r)
		}
		nSrc++
	}
	return nDst, nSrc, nil
}

func charmapDecoder(m *charmap.Charmap) *byteDecoder {
	var d byteDecoder
	for i := range d {
		if d[i] = m.DecodeByte(byte(i)); d[i] == utf8.RuneError {
			d[i] = -1
		}
	}
	return &d
}

// undefined1252 are the bytes that have no character in Windows-1252.
const undefined1252 = "\x81\x8D\x8F\x90\x9D"

// asciiDecoder is strict: what is not ASCII has no character.
func asciiDecoder() *byteDecoder {
	var d byteDecoder
	for i := range d {
		if d[i] = rune(i); i >= utf8.RuneSelf {
			d[i] = -1
		}
	}
	return &d
}

// multiDecoder reads the encodings of East Asia with a decoder that substitutes what it cannot decode, and finds the
// substitutes. Where such a decoder has a state, it goes character by character from the beginning.
type multiDecoder struct {
	t        transform.Transformer
	stateful bool
}

func newMultiDecoder(e encoding.Encoding, stateful bool) *multiDecoder {
	return &multiDecoder{e.NewDecoder().Transformer, stateful}
}

func (d *multiDecoder) decode(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if !d.stateful {
		nDst, nSrc, err = d.t.Transform(dst, src, atEOF)
		switch {
		case err != nil && err != transform.ErrShortDst && err != transform.ErrShortSrc:
			return 0, 0, err
		case !bytes.Contains(dst[:nDst], []byte(substitute)):
			return nDst, nSrc, nil
		}
		nDst, nSrc = 0, 0
	}
	for len(dst)-nDst >= utf8.UTFMax {
		// A substitute has three bytes, so with that much room it comes alone.
		n, read, err := d.t.Transform(dst[nDst:nDst+len(substitute)], src[nSrc:], atEOF)
		if n == 0 && read == 0 && err == transform.ErrShortDst {
			n, read, err = d.t.Transform(dst[nDst:nDst+utf8.UTFMax], src[nSrc:], atEOF)
		}
		if n == 0 && read == 0 {
			if err != nil && err != transform.ErrShortSrc {
				return nDst, nSrc, err
			}
			break
		}
		if string(dst[nDst:nDst+n]) == substitute && string(src[nSrc:nSrc+read]) != substituteGB18030 {
			return nDst, nSrc, errUndecodable
		}
		nDst += n
		nSrc += read
	}
	return nDst, nSrc, nil
}

const (
	substitute        = "\uFFFD"
	substituteGB18030 = "\x84\x31\xA4\x37" // the one encoding here that can write it
)
