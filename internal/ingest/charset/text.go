// Package charset decodes text files to UTF-8 for parsers.
package charset

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	bufferBytes = 256 << 10 // read at once
	headBytes   = 64 << 10  // examined before the first character is decoded
	endMark     = 0x1A      // Ctrl-Z, with which DOS programs end a text
)

// Text is the content of a file as UTF-8, without its byte order mark and the marks at its end. A
// parser has a window of it in memory, which begins at the current record and grows until the
// record fits. Positions count from its start and remain valid while it grows.
type Text struct {
	decoder
	src   io.Closer
	in    io.Reader // the decoded content
	buf   []byte
	start int // of the current record in buf
	limit int // bytes of a record
	done  bool
	err   error
}

// ErrTooLong means that the window cannot grow because the record exceeds the limit. Parsers may
// name the line instead.
var ErrTooLong = herb.Invalidf("the record is too long")

// Open opens a file whose records have at most limit bytes. encoding is the name of its encoding;
// empty: it is detected.
func Open(ctx context.Context, f rows.File, encoding string, limit int) (*Text, error) {
	src, err := f.Open()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(src, bufferBytes)
	t := &Text{decoder: decoder{ctx: ctx, file: f}, src: src, limit: limit}
	if err := t.chooseEncoding(in, encoding); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	t.in = transform.NewReader(in, &t.decoder)
	return t, nil
}

// Sample returns a copy of a part of a text as a text of its own.
func Sample(part []byte) *Text { return &Text{buf: bytes.Clone(part), done: true} }

func (t *Text) Close() error { return t.src.Close() }

// Bytes returns the content of the window, valid until the next call of More or Peek.
func (t *Text) Bytes() []byte { return t.buf[t.start:] }

// Err returns the error that stopped the window from growing, nil at the end of the text.
func (t *Text) Err() error { return t.err }

// Advance moves the start of the window forward by n bytes.
func (t *Text) Advance(n int) {
	t.start += n
	if n > 0 && t.err == ErrTooLong {
		t.err = nil // it occurred while reading ahead of a record that fits
	}
}

// More makes the window longer. It returns false at the end of the text and after an error.
func (t *Text) More() bool {
	if t.done {
		return false
	}
	t.buf, t.start = t.buf[:copy(t.buf, t.buf[t.start:])], 0
	before := len(t.buf)
	if before >= t.limit {
		t.err = ErrTooLong
		return false
	}
	if before == cap(t.buf) {
		t.buf = append(make([]byte, 0, min(max(2*before, bufferBytes), t.limit)), t.buf...)
	}
	endsWithMark := func() bool { return len(t.buf) > before && t.buf[len(t.buf)-1] == endMark }
	// full, so that a record that is scanned again has twice the size
	for !t.done && (len(t.buf) < cap(t.buf) || endsWithMark() && len(t.buf) < t.limit) {
		t.buf = slices.Grow(t.buf, 1)
		n, err := t.in.Read(t.buf[len(t.buf):cap(t.buf)])
		t.buf = t.buf[:len(t.buf)+n]
		t.done = err != nil
		if err != io.EOF {
			t.err = err
		}
	}
	for t.done && endsWithMark() {
		t.buf = t.buf[:len(t.buf)-1]
	}
	return len(t.buf) > before
}

// Peek makes the window at least n bytes long, if the text has as many, and reports whether it
// holds the rest of the text.
func (t *Text) Peek(n int) (window []byte, all bool) {
	for len(t.Bytes()) < min(n, t.limit) && t.More() {
	}
	return t.Bytes(), t.done && t.err == nil
}

// CountLines counts the line ends in b. A carriage return followed by a line feed is one.
func CountLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if cr := bytes.Count(b, []byte{'\r'}); cr > 0 {
		n += cr - bytes.Count(b, []byte("\r\n"))
	}
	return n
}

// decoder decodes the content of a file as a transform.Transformer. It is strict: bytes that cannot
// be decoded are an error that names line and offset, and nothing is replaced.
//
// The encoding is that of the byte order mark, or else the given one, or else detected: UTF-16 by
// its zero bytes, and UTF-8 until the first invalid byte. Then the content is scanned, and decoding
// continues in another encoding if nothing in it contradicts that.
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
	head, err := in.Peek(headBytes)
	if err != nil && err != io.EOF {
		return err
	}
	mark, detected := detectUnicode(head)
	switch {
	case detected != "" && (mark != "" || given == "" || isUTF16(given)):
		d.name = detected
		if given != "" && !sameEncoding(given, detected) {
			d.notes = append(d.notes,
				fmt.Sprintf("the file begins with the byte order mark of %s and was read as that, not as %s",
					detected, given))
		}
	case given == "":
		d.dec = encoding.UTF8Validator
		if err := checkBinary(head); err != nil {
			return err
		}
		_, n, err := d.dec.Transform(make([]byte, len(head)), head, false)
		if err != encoding.ErrInvalidUTF8 {
			return nil
		}
		// Pairs of bytes may resemble UTF-8, so the encoding must be known before the first of them
		// is decoded.
		return d.guessEncoding(int64(n), 1+CountLines(head[:n]), head)
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

// Encoding returns the name of the encoding, "" if it is UTF-8 by default. It is final after the
// end of the text.
func (d *decoder) Encoding() string { return d.name }

func (d *decoder) Reset() {}

// Transform decodes a piece of text and locates what cannot be decoded.
func (d *decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if err := context.Cause(d.ctx); err != nil {
		return 0, 0, err
	}
	nDst, nSrc, err = d.dec.Transform(dst, src, atEOF)
	d.offset += int64(nSrc)
	if text := dst[:nDst]; nDst > 0 {
		d.lines += CountLines(text)
		if d.cr && text[0] == '\n' {
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
		err = herb.Invalidf("line %d: the text ends in the middle of a character at byte %d, read as %s; is the file "+
			"cut off?", line, d.offset, name)
	case d.name != "":
		err = herb.Invalidf("line %d: byte %d cannot be read as %s; %s", line, d.offset, name, remedy)
	default:
		err = d.guessEncoding(d.offset, line, nil)
	}
	if err != nil {
		return nDst, nSrc, err
	}
	n, read, err := d.Transform(dst[nDst:], src[nSrc:], atEOF)
	return nDst + n, nSrc + read, err
}

const remedy = "save the file as UTF-8, or name its encoding"
