package charset

import (
	"bytes"
	"errors"
	"io"
)

// Window is the part of a text that a parser has in memory. It begins at the current record and grows until the record
// fits. Positions count from its start and remain valid while it grows.
type Window struct {
	src   io.Reader
	buf   []byte
	start int // of the current record in buf
	limit int // bytes of a record
	done  bool
	err   error
}

// ErrTooLong is the error of a Window that cannot grow because the record exceeds the limit. Parsers replace it by one that
// names the line.
var ErrTooLong = errors.New("the record is too long")

// NewWindow returns a window on a text whose records have at most limit bytes.
func NewWindow(src io.Reader, limit int) *Window { return &Window{src: src, limit: limit} }

// SampleWindow returns a window on a copy of a part of a text.
func SampleWindow(sample []byte) *Window {
	return &Window{buf: bytes.Clone(sample), limit: len(sample), done: true}
}

// Bytes returns the content of the window, valid until the next call of More or Sample.
func (w *Window) Bytes() []byte { return w.buf[w.start:] }

// Err returns the error that stopped the window from growing, nil at the end of the text.
func (w *Window) Err() error { return w.err }

// Advance moves the start of the window forward by n bytes.
func (w *Window) Advance(n int) {
	w.start += n
	if n > 0 && w.err == ErrTooLong {
		w.err = nil // it occurred while reading ahead of a record that fits
	}
}

// More makes the window longer. It returns false at the end of the text and after an error.
func (w *Window) More() bool {
	if w.done {
		return false
	}
	if w.start > 0 {
		w.buf = w.buf[:copy(w.buf, w.buf[w.start:])]
		w.start = 0
	}
	if len(w.buf) == cap(w.buf) {
		if len(w.buf) >= w.limit {
			w.err = ErrTooLong
			return false
		}
		grown := make([]byte, len(w.buf), min(max(2*cap(w.buf), bufferBytes), w.limit))
		copy(grown, w.buf)
		w.buf = grown
	}
	before := len(w.buf)
	for !w.done && len(w.buf) < cap(w.buf) { // full, so that a record that is scanned again has twice the size
		n, err := w.src.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		if w.done = err != nil; err != io.EOF {
			w.err = err
		}
	}
	return len(w.buf) > before
}

// Sample makes the window at least n bytes long, if the text has as many, and reports whether it holds the rest of the text.
func (w *Window) Sample(n int) (sample []byte, all bool) {
	for len(w.Bytes()) < min(n, w.limit) && w.More() {
	}
	return w.Bytes(), w.done && w.err == nil
}

// CountLines counts the line ends in b. A carriage return followed by a line feed is one.
func CountLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if cr := bytes.Count(b, []byte{'\r'}); cr > 0 {
		n += cr - bytes.Count(b, []byte("\r\n"))
	}
	return n
}
