package charset

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// decoder decodes the content of a file as a transform.Transformer. It is strict: bytes that cannot be decoded are an error
// that names line and offset, and nothing is replaced.
//
// The encoding is that of the byte order mark, or else the given one, or else detected: UTF-16 by its zero bytes, and
// UTF-8 until the first invalid byte. Then the content is scanned once, and decoding continues as Windows-1252 if nothing
// in it contradicts that.
type decoder struct {
	ctx    context.Context
	file   rows.File
	dec    transform.Transformer
	name   string // encoding; empty while UTF-8 is assumed
	offset int64  // of the next byte to decode
	lines  int    // line ends in the decoded text
	cr     bool   // it ends with a carriage return
	notes  []string
}

// chooseEncoding sets the encoding and skips the byte order mark.
func (d *decoder) chooseEncoding(in *bufio.Reader, given string) error {
	head, err := in.Peek(64 << 10)
	if err != nil && err != io.EOF {
		return err
	}
	mark, marked := byteOrderMark(head)
	utf16 := detectUTF16(head)
	switch {
	case mark != "":
		d.name = marked
		if given != "" && !sameEncoding(given, marked) {
			d.notes = append(d.notes, fmt.Sprintf("the file begins with the byte order mark of %s and was read as that, not as %s", marked, given))
		}
	case utf16 != "" && (given == "" || isUTF16(given)):
		d.name = utf16
	case given == "":
		d.dec = encoding.UTF8Validator
		return checkBinary(head)
	default:
		d.name = given
	}
	n, _ := in.Discard(len(mark)) // it is in the buffer
	d.offset = int64(n)
	d.dec, err = newDecoder(d.name)
	return err
}

// Notes describes how the encoding was chosen. It is complete after the end of the text.
func (d *decoder) Notes() []string { return d.notes }

// Encoding returns the name of the encoding, "" if it is UTF-8 by default. It is final after the end of the text.
func (d *decoder) Encoding() string { return d.name }

// Reset implements transform.Transformer.
func (d *decoder) Reset() {}

// Transform decodes a piece of text and locates what cannot be decoded.
func (d *decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if err := context.Cause(d.ctx); err != nil {
		return 0, 0, err
	}
	nDst, nSrc, err = d.dec.Transform(dst, src, atEOF)
	d.offset += int64(nSrc)
	if text := dst[:nDst]; nDst > 0 {
		if d.lines += CountLines(text); d.cr && text[0] == '\n' {
			d.lines--
		}
		d.cr = text[nDst-1] == '\r'
	}
	if err != errUndecodable && err != encoding.ErrInvalidUTF8 {
		return nDst, nSrc, err
	}
	line, name := 1+d.lines, cmp.Or(d.name, "UTF-8")
	switch {
	case err == encoding.ErrInvalidUTF8 && !utf8.FullRune(src[nSrc:]):
		err = herb.Invalidf("line %d: the text ends in the middle of a character at byte %d, read as %s; is the file cut off?", line, d.offset, name)
	case d.name != "":
		err = herb.Invalidf("line %d: byte %d cannot be read as %s; %s", line, d.offset, name, remedy)
	default:
		err = d.verify1252(line)
	}
	if err != nil {
		return nDst, nSrc, err
	}
	d.name = "Windows-1252"
	d.notes = append(d.notes, "the file is not UTF-8 and was read as Windows-1252; if letters look wrong, name its encoding")
	d.dec, _ = newDecoder(d.name) // it exists
	n, read, err := d.Transform(dst[nDst:], src[nSrc:], atEOF)
	return nDst + n, nSrc + read, err
}

const remedy = "save the file as UTF-8, or name its encoding"

// verify1252 scans a content that is not UTF-8 at the current offset. It fails if a byte has no character in Windows-1252, or
// is zero, which no program writes there, or if there are UTF-8 characters beyond ASCII.
func (d *decoder) verify1252(invalidLine int) error {
	src, err := d.file.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	in := bufio.NewReaderSize(src, bufferBytes)
	line, last := 1, rune(0)
	for offset := int64(0); ; offset++ {
		if offset%bufferBytes == 0 && d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
		c, size, err := in.ReadRune()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case size > 1:
			return herb.Invalidf("line %d: byte %d is not UTF-8, but byte %d (line %d) begins a UTF-8 character: the file mixes encodings; %s",
				invalidLine, d.offset, offset, line, remedy)
		case c == 0 || c == utf8.RuneError:
			_ = in.UnreadRune()
			if b, _ := in.ReadByte(); strings.IndexByte("\x00\x81\x8D\x8F\x90\x9D", b) >= 0 {
				return herb.Invalidf("line %d: byte %d (0x%02X) is neither UTF-8 nor Windows-1252; %s", line, offset, b, remedy)
			}
		case c == '\r' || c == '\n' && last != '\r':
			line++
		}
		last = c
	}
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
