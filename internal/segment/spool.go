package segment

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// workshop is the folder of a build and the temporary files in it.
type workshop struct {
	fs   FS
	dir  string
	mu   sync.Mutex
	made int // files, by which they are named
	open map[*spool]bool
}

// spool is a temporary file that is written once and then read.
type spool struct {
	shop *workshop
	f    File
	w    *bufio.Writer
}

func (w *workshop) newSpool() (*spool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	f, err := w.fs.OpenFile(filepath.Join(w.dir, fmt.Sprintf("spool-%d", w.made)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	s := &spool{shop: w, f: f, w: bufio.NewWriterSize(f, 1<<16)}
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
	return errors.Join(s.f.Close(), s.shop.fs.RemoveAll(s.f.Name()))
}
