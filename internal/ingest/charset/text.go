// Package charset decodes text files to UTF-8 for parsers.
package charset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"golang.org/x/text/transform"

	"herbarium/internal/ingest/rows"
)

const bufferBytes = 256 << 10 // read at once

// Text is the content of a file as UTF-8, without its byte order mark. A parser has a window of it in memory, which begins
// at the current record and grows until the record fits. Positions count from its start and remain valid while it grows.
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

// ErrTooLong is the error of a text whose window cannot grow because the record exceeds the limit. Parsers replace it by one
// that names the line.
var ErrTooLong = errors.New("the record is too long")

// Open opens a file whose records have at most limit bytes. encoding is the name of its encoding; empty: it is detected.
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

// Close closes the file.
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
	for !t.done && len(t.buf) < cap(t.buf) { // full, so that a record that is scanned again has twice the size
		n, err := t.in.Read(t.buf[len(t.buf):cap(t.buf)])
		t.buf = t.buf[:len(t.buf)+n]
		if t.done = err != nil; err != io.EOF {
			t.err = err
		}
	}
	return len(t.buf) > before
}

// Peek makes the window at least n bytes long, if the text has as many, and reports whether it holds the rest of the text.
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
