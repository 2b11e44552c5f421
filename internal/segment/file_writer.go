package segment

import (
	"bufio"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"herbarium/internal/filesystem"
)

// fileWriter writes the frame of a segment and its sections in sequence.
type fileWriter struct {
	f        filesystem.File
	w        *bufio.Writer
	at       uint64
	crc      uint32
	sections []section
}

func newFileWriter(fs filesystem.FS, path string) (*fileWriter, error) {
	f, err := fs.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{f: f, w: bufio.NewWriterSize(f, 1<<20)}
	if _, err := w.Write(appendHeader(nil)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// Write appends to the current section.
func (w *fileWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.at += uint64(n)
	w.crc = crc32.Update(w.crc, castagnoli(), p[:n])
	return n, err
}

// begin starts a section.
func (w *fileWriter) begin(t tag, field uint32) error {
	if _, err := w.Write(make([]byte, -w.at&(alignment-1))); err != nil {
		return err
	}
	w.crc = 0
	w.sections = append(w.sections, section{tag: t, field: field, offset: w.at})
	return nil
}

// end ends the current section.
func (w *fileWriter) end() {
	s := &w.sections[len(w.sections)-1]
	s.length, s.crc = w.at-s.offset, w.crc
}

// section writes a complete section from one or more sources.
func (w *fileWriter) section(t tag, field uint32, from ...any) error {
	if err := w.begin(t, field); err != nil {
		return err
	}
	for _, src := range from {
		var r io.Reader
		var err error
		switch src := src.(type) {
		case *spillFile:
			r, err = src.reader()
		case io.Reader:
			r = src
		case []byte:
			if _, err := w.Write(src); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
	w.end()
	return nil
}

// finish writes the metadata, table of contents and footer, and syncs the file.
func (w *fileWriter) finish(m meta) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := w.section(tagMeta, noField, b); err != nil {
		return err
	}
	if _, err := w.Write(make([]byte, -w.at&(alignment-1))); err != nil {
		return err
	}
	offset := w.at
	var toc []byte
	for _, s := range w.sections {
		toc = appendEntry(toc, s)
	}
	if _, err := w.Write(appendFooter(toc, toc, offset)); err != nil {
		return err
	}
	return errors.Join(w.w.Flush(), w.f.Sync(), w.f.Close())
}
