package ingest

import (
	"bytes"
	"io"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// windowBytes is how much of a file is read at once.
const windowBytes = 256 << 10

// window is the part of a file that a reader is looking at. It begins where the current record begins and grows until
// the record fits. Positions in it count from that beginning and so stay valid while it grows.
type window struct {
	src    io.Reader
	buf    []byte
	start  int   // of the current record in buf
	base   int64 // offset of buf in the file
	max    int   // bytes that a record may have
	done   bool  // there is nothing more to read
	failed error // why there is not
}

func newWindow(src io.Reader, limit int) *window {
	if limit <= 0 {
		limit = MaxRecord
	}
	return &window{src: src, max: limit}
}

// bytes returns what is in the window. The slice is valid until the next call of more.
func (w *window) bytes() []byte { return w.buf[w.start:] }

// offset is the place of the window in the file.
func (w *window) offset() int64 { return w.base + int64(w.start) }

// advance moves the beginning of the window behind n bytes.
func (w *window) advance(n int) {
	w.start += n
	if n > 0 && w.failed == errRecordTooLong {
		w.failed = nil // it was a look behind a record that just fits
	}
}

// more makes the window longer. It returns false at the end of the file, and when failed says what went wrong.
func (w *window) more() bool {
	if w.done {
		return false
	}
	if w.start > 0 {
		n := copy(w.buf, w.buf[w.start:])
		w.buf, w.base, w.start = w.buf[:n], w.base+int64(w.start), 0
	}
	if len(w.buf) == cap(w.buf) {
		if len(w.buf) >= w.max {
			w.failed = errRecordTooLong
			return false
		}
		grown := make([]byte, len(w.buf), min(max(2*cap(w.buf), windowBytes), w.max))
		copy(grown, w.buf)
		w.buf = grown
	}
	for range 100 { // a reader may return nothing now and then, but not forever
		n, err := w.src.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		switch {
		case err == io.EOF:
			w.done = true
		case err != nil:
			w.done, w.failed = true, err
			return false
		}
		if n > 0 || w.done {
			return n > 0
		}
	}
	w.done, w.failed = true, io.ErrNoProgress
	return false
}

// errRecordTooLong is replaced by the reader, who knows the line.
var errRecordTooLong = herb.Invalidf("the record is too long")

// skipBOM passes over the mark with which some programs begin a UTF-8 file, and tells the one of UTF-16.
func (w *window) skipBOM() error {
	for len(w.bytes()) < 3 && w.more() {
	}
	b := w.bytes()
	switch {
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		w.advance(3)
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("\xFE\xFF")):
		return herb.Invalidf("the file is written in UTF-16; save it as UTF-8")
	}
	return nil
}

// invalidUTF8 returns the position of the first byte that is not UTF-8, -1 if there is none.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
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
