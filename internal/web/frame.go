package web

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
)

// frame is a part of a page that was rendered once, with places for what differs from page to page.
type frame struct {
	pieces []piece // one more than there are places
	places []int   // which value comes behind each piece but the last
}

// piece is a part of pages that stays the same.
type piece struct{ plain []byte }

// writeTo writes a piece.
func (p *piece) writeTo(w io.Writer) error {
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
		f.pieces = append(f.pieces, piece{[]byte(s)})
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
