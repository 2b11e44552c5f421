// Package charset decodes text files to UTF-8 and provides a window for parsers of text.
package charset

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	headBytes   = 64 << 10  // examined for byte order marks, UTF-16 and binary content
	bufferBytes = 256 << 10 // read at once
)

// Reader reads the content of a file as UTF-8, without its byte order mark. It is strict: bytes that cannot be decoded are
// an error that names line and offset, and nothing is replaced.
//
// The encoding is that of the byte order mark, or else the given one, or else detected: UTF-16 by its zero bytes, and
// UTF-8 until the first invalid byte. Then the content is scanned once, and decoding continues as Windows-1252 if nothing
// in it contradicts that.
type Reader struct {
	io.Reader // the decoded text
	ctx       context.Context
	file      rows.File
	src       io.ReadCloser
	dec       transform.Transformer
	name      string // encoding; empty while UTF-8 is assumed
	offset    int64  // of the next byte to decode
	lines     int    // line ends in the decoded text
	cr        bool   // it ends with a carriage return
	notes     []string
}

// NewReader opens a file as text. name is that of its encoding; empty: it is detected.
func NewReader(ctx context.Context, f rows.File, name string) (*Reader, error) {
	src, err := f.Open()
	if err != nil {
		return nil, err
	}
	r, in := &Reader{ctx: ctx, file: f, src: src}, bufio.NewReaderSize(src, bufferBytes)
	r.Reader = transform.NewReader(in, transformFunc(r.decode))
	if err := r.chooseEncoding(in, name); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return r, nil
}

// chooseEncoding sets the decoder and skips the byte order mark.
func (r *Reader) chooseEncoding(in *bufio.Reader, name string) error {
	head, err := in.Peek(headBytes)
	if err != nil && err != io.EOF {
		return err
	}
	mark, marked := byteOrderMark(head)
	utf16 := detectUTF16(head)
	switch {
	case mark != "":
		r.name = marked
		if name != "" && !sameEncoding(name, marked) {
			r.notes = append(r.notes, fmt.Sprintf("the file begins with the byte order mark of %s and was read as that, not as %s", marked, name))
		}
	case utf16 != "" && (name == "" || isUTF16(name)):
		r.name = utf16
	default:
		r.name = name
	}
	if r.name == "" {
		r.dec = encoding.UTF8Validator
		return checkBinary(head)
	}
	if r.dec, err = newDecoder(r.name); err != nil {
		return err
	}
	r.offset = int64(len(mark))
	_, err = in.Discard(len(mark))
	return err
}

// Notes describes how the encoding was chosen. It is complete after io.EOF.
func (r *Reader) Notes() []string { return r.notes }

// Encoding returns the name of the encoding, "" if it is UTF-8 by default. It is final after io.EOF.
func (r *Reader) Encoding() string { return r.name }

// Close closes the content.
func (r *Reader) Close() error { return r.src.Close() }

// transformFunc is a transform.Transformer.
type transformFunc func(dst, src []byte, atEOF bool) (nDst, nSrc int, err error)

func (f transformFunc) Transform(dst, src []byte, atEOF bool) (int, int, error) {
	return f(dst, src, atEOF)
}

func (f transformFunc) Reset() {}

// decode decodes a piece of text and locates what cannot be decoded.
func (r *Reader) decode(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, 0, err
	}
	nDst, nSrc, err = r.dec.Transform(dst, src, atEOF)
	r.offset += int64(nSrc)
	if text := dst[:nDst]; nDst > 0 {
		if r.lines += CountLines(text); r.cr && text[0] == '\n' {
			r.lines--
		}
		r.cr = text[nDst-1] == '\r'
	}
	if err != errUndecodable && err != encoding.ErrInvalidUTF8 {
		return nDst, nSrc, err
	}
	if err := r.undecodable(src[nSrc:]); err != nil {
		return nDst, nSrc, err
	}
	n, read, err := r.decode(dst[nDst:], src[nSrc:], atEOF)
	return nDst + n, nSrc + read, err
}

// undecodable returns the error for the bytes at the current offset, or nil if decoding continues as Windows-1252.
func (r *Reader) undecodable(src []byte) (err error) {
	line, name := 1+r.lines, cmp.Or(r.name, "UTF-8")
	switch {
	case r.dec == encoding.UTF8Validator && !utf8.FullRune(src):
		return herb.Invalidf("line %d: the text ends in the middle of a character at byte %d, read as %s; is the file cut off?", line, r.offset, name)
	case r.name != "":
		return herb.Invalidf("line %d: byte %d cannot be read as %s; %s", line, r.offset, name, remedy)
	}
	if err := r.verify1252(line); err != nil {
		return err
	}
	r.name = "Windows-1252"
	r.notes = append(r.notes, "the file is not UTF-8 and was read as Windows-1252; if letters look wrong, name its encoding")
	r.dec, err = newDecoder(r.name)
	return err
}

const remedy = "save the file as UTF-8, or name its encoding"
