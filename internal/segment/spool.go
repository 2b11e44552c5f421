package segment

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
)

// workshop is the folder of a build and the temporary files in it.
type workshop struct {
	dir  string
	mu   sync.Mutex
	open map[*spool]bool
}

// spool is a temporary file that is written once and then read.
type spool struct {
	shop *workshop
	f    *os.File
	w    *bufio.Writer
}

func (w *workshop) newSpool() (*spool, error) {
	f, err := os.CreateTemp(w.dir, "spool-*")
	if err != nil {
		return nil, err
	}
	s := &spool{shop: w, f: f, w: bufio.NewWriterSize(f, 1<<16)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*spool]bool{}
	}
	w.open[s] = true
	return s, nil
}

// close closes what is still open.
func (w *workshop) close() error {
	w.mu.Lock()
	open := w.open
	w.open = nil
	w.mu.Unlock()
	var errs []error
	for s := range open {
		errs = append(errs, s.f.Close())
	}
	return errors.Join(errs...)
}

// Write appends.
func (s *spool) Write(p []byte) (int, error) { return s.w.Write(p) }

// reader returns what was written, from the beginning.
func (s *spool) reader() (*bufio.Reader, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(s.f, 1<<18), nil
}

// remove gives the room back.
func (s *spool) remove() error {
	s.shop.mu.Lock()
	delete(s.shop.open, s)
	s.shop.mu.Unlock()
	return errors.Join(s.f.Close(), os.Remove(s.f.Name()))
}
