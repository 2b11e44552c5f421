package web

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"
)

// frame is a part of a page that was rendered once, with places for what differs from page to page.
type frame struct {
	pieces []piece // one more than there are places
	places []int   // which value comes behind each piece but the last
}

// piece is a part of pages that stays the same. A large one is kept compressed as well.
type piece struct {
	plain    []byte
	deflated []byte // nil: not worth it
}

// keeper is a writer that may send what was compressed before in the place of what it stands for.
type keeper interface {
	// WriteKept writes plain. Deflated is the same in the DEFLATE format, up to a boundary of bytes and without an end.
	WriteKept(plain, deflated []byte) (int, error)
}

// minDeflated is the size from which a piece is compressed ahead: below it, it is better compressed with its neighbours.
const minDeflated = 1 << 10

// deflateLevel is where more effort stops to pay: a living dataset has a new version, and so new frames, with every record.
const deflateLevel = 5

func newPiece(plain []byte) (piece, error) {
	if len(plain) < minDeflated {
		return piece{plain: plain}, nil
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, deflateLevel)
	if err != nil {
		return piece{}, err
	}
	if _, err := w.Write(plain); err != nil {
		return piece{}, err
	}
	if err := w.Flush(); err != nil {
		return piece{}, err
	}
	return piece{plain, b.Bytes()}, nil
}

// writeTo writes a piece the way that costs the writer least.
func (p *piece) writeTo(w io.Writer) error {
	if k, ok := w.(keeper); ok && p.deflated != nil {
		_, err := k.WriteKept(p.plain, p.deflated)
		return err
	}
	_, err := w.Write(p.plain)
	return err
}

// marks are what stands in the places of a frame while it is rendered: letters and digits, which no context escapes, and which
// nobody who makes a dataset can know.
type marks string

func newMarks() marks { return marks(rand.Text()) }

// of returns the mark of a value.
func (m marks) of(value int) string { return string(m) + string(rune('a'+value)) }

// cut makes a frame of what was rendered.
func (m marks) cut(rendered string) (frame, error) {
	var f frame
	for i, s := range strings.Split(rendered, string(m)) {
		if i > 0 {
			if s == "" {
				return frame{}, fmt.Errorf("web: a place of a frame has no value")
			}
			f.places = append(f.places, int(s[0]-'a'))
			s = s[1:]
		}
		p, err := newPiece([]byte(s))
		if err != nil {
			return frame{}, fmt.Errorf("web: compressing a frame: %w", err)
		}
		f.pieces = append(f.pieces, p)
	}
	return f, nil
}

// append appends the frame with values in its places.
func (f *frame) append(b []byte, values ...string) []byte {
	for i, p := range f.pieces {
		b = append(b, p.plain...)
		if i < len(f.places) {
			b = append(b, values[f.places[i]]...)
		}
	}
	return b
}
