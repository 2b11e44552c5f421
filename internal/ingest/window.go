package ingest

import (
	"io"

	"herbarium/internal/herb"
)

// windowBytes is how much of a file is read at once.
const windowBytes = 256 << 10

// window is the part of a text that a reader is looking at. It begins where the current record begins and grows until
// the record fits. Positions in it count from that beginning and so stay valid while it grows.
type window struct {
	src    io.Reader
	buf    []byte
	start  int   // of the current record in buf
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

// advance moves the beginning of the window behind n bytes.
func (w *window) advance(n int) {
	w.start += n
	if n > 0 && w.failed == errRecordTooLong {
		w.failed = nil // it was a look behind a record that just fits
	}
}

// more makes the window longer. It returns false at the end of the text, and when failed says what went wrong.
func (w *window) more() bool {
	if w.done {
		return false
	}
	if w.start > 0 {
		n := copy(w.buf, w.buf[w.start:])
		w.buf, w.start = w.buf[:n], 0
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
	n, err := readSome(w.src, w.buf[len(w.buf):cap(w.buf)])
	w.buf = w.buf[:len(w.buf)+n]
	if err != nil {
		w.done = true
		if err != io.EOF {
			w.failed = err
			return false
		}
	}
	return n > 0
}

// sample makes the window as long as n bytes if there are as many, and returns what is in it and whether that is all.
func (w *window) sample(n int) (head []byte, all bool) {
	for len(w.bytes()) < min(n, w.max) && w.more() {
	}
	return w.bytes(), w.done && w.failed == nil
}

// errRecordTooLong is replaced by the reader, who knows the line.
var errRecordTooLong = herb.Invalidf("the record is too long")
