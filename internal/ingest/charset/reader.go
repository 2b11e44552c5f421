// Package charset decodes text files to UTF-8 and provides a window for parsers of text.
package charset

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

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
	ctx    context.Context
	file   rows.File
	src    io.ReadCloser
	in     *bufio.Reader
	dec    decoder
	name   string // encoding; empty while UTF-8 is assumed
	buf    []byte
	raw    []byte // part of buf that is not decoded yet
	offset int64  // of raw in the content
	text   []byte // decoded and not yet returned
	lines  int    // line ends in the decoded text
	cr     bool   // it ends with a carriage return
	eof    bool
	err    error
	notes  []string
}

// place is a position in a text.
type place struct {
	offset int64 // in bytes, from 0
	line   int   // from 1
}

// NewReader opens a file as text. An empty encoding means that it is detected.
func NewReader(ctx context.Context, f rows.File, encoding string) (*Reader, error) {
	src, err := f.Open()
	if err != nil {
		return nil, err
	}
	r := &Reader{ctx: ctx, file: f, src: src, in: bufio.NewReaderSize(src, headBytes), buf: make([]byte, bufferBytes)}
	if err := r.chooseEncoding(encoding); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return r, nil
}

// chooseEncoding sets the decoder and skips the byte order mark.
func (r *Reader) chooseEncoding(encoding string) error {
	head, err := r.in.Peek(headBytes)
	if err != nil && err != io.EOF {
		return err
	}
	mark, marked := byteOrderMark(head)
	utf16 := detectUTF16(head)
	switch {
	case mark != "":
		r.name = marked
		if encoding != "" && !sameEncoding(encoding, marked) {
			r.notes = append(r.notes, fmt.Sprintf("the file begins with the byte order mark of %s and was read as that, not as %s", marked, encoding))
		}
	case utf16 != "" && (encoding == "" || isUTF16(encoding)):
		r.name = utf16
	default:
		r.name = encoding
	}
	if r.name == "" {
		r.dec = decodeUTF8
		return checkBinary(head)
	}
	if r.dec, err = newDecoder(r.name); err != nil {
		return err
	}
	r.offset = int64(len(mark))
	_, err = r.in.Discard(len(mark))
	return err
}

// Notes describes how the encoding was chosen. It is complete after io.EOF.
func (r *Reader) Notes() []string { return r.notes }

// Encoding returns the name of the encoding, "" if it is UTF-8 by default. It is final after io.EOF.
func (r *Reader) Encoding() string { return r.name }

// Close closes the content.
func (r *Reader) Close() error { return r.src.Close() }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.text) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.decode()
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// decode sets the next piece of text, the error that follows it, or both.
func (r *Reader) decode() {
	text, read, err := r.dec(r.raw, r.eof)
	r.text = text
	if len(text) > 0 {
		if r.lines += CountLines(text); r.cr && text[0] == '\n' {
			r.lines--
		}
		r.cr = text[len(text)-1] == '\r'
	}
	r.raw = r.raw[read:]
	r.offset += int64(read)
	switch {
	case err != nil:
		r.err = r.undecodable(err)
	case read == 0 && r.eof:
		r.err = io.EOF
	case read == 0:
		r.err = r.fill()
	}
}

// undecodable returns the error for the bytes at the current offset, or nil if decoding continues as Windows-1252.
func (r *Reader) undecodable(err error) error {
	at, name := place{r.offset, 1 + r.lines}, cmp.Or(r.name, "UTF-8")
	switch {
	case err == errTruncated:
		return herb.Invalidf("line %d: the text ends in the middle of a character at byte %d, read as %s; is the file cut off?", at.line, at.offset, name)
	case r.name != "":
		return herb.Invalidf("line %d: byte %d cannot be read as %s; %s", at.line, at.offset, name, remedy)
	}
	if err := r.verify1252(at); err != nil {
		return err
	}
	r.name = "Windows-1252"
	r.notes = append(r.notes, "the file is not UTF-8 and was read as Windows-1252; if letters look wrong, name its encoding")
	r.dec, err = newDecoder(r.name)
	return err
}

// fill reads more undecoded bytes.
func (r *Reader) fill() error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	rest := copy(r.buf, r.raw)
	n, err := io.ReadAtLeast(r.in, r.buf[rest:], 1)
	r.raw = r.buf[:rest+n]
	if err == io.EOF {
		r.eof, err = true, nil
	}
	return err
}

const remedy = "save the file as UTF-8, or name its encoding"
