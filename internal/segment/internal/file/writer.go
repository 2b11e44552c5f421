package file

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"herbarium/internal/filesystem"
	"herbarium/internal/text"
)

// Writer writes the frame of a segment and its sections in sequence.
type Writer struct {
	f        filesystem.File // nil in memory
	memory   bytes.Buffer    // content of a segment in memory
	w        *bufio.Writer
	at       uint64
	crc      uint32
	sections []Section
}

// NewWriter creates a file, which must not exist.
func NewWriter(fs filesystem.FS, path string) (*Writer, error) {
	f, err := fs.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, w: bufio.NewWriterSize(f, 1<<20)}
	return w, w.writeHeader()
}

// NewMemoryWriter returns a writer of a segment in memory. It does not fail.
func NewMemoryWriter() *Writer {
	w := &Writer{}
	w.w = bufio.NewWriterSize(&w.memory, 1<<10)
	_ = w.writeHeader()
	return w
}

func (w *Writer) writeHeader() error {
	header, _ := binary.Append([]byte(Magic), binary.LittleEndian, []uint32{FormatVersion, 0})
	_, err := w.Write(header)
	return err
}

// Write appends to the current section. After an error, it returns that error.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.at += uint64(n)
	w.crc = crc32.Update(w.crc, castagnoli(), p[:n])
	return n, err
}

// pad writes zeros up to a multiple of the alignment. The next Write returns an error.
func (w *Writer) pad() { _, _ = w.Write(make([]byte, -w.at&(Alignment-1))) }

// Begin starts a section.
func (w *Writer) Begin(t Tag, field uint32) {
	w.pad()
	w.crc = 0
	w.sections = append(w.sections, Section{Tag: t, Field: field, Offset: w.at})
}

// End ends the current section.
func (w *Writer) End() {
	s := &w.sections[len(w.sections)-1]
	s.Length, s.CRC = w.at-s.Offset, w.crc
}

// Section writes a complete section.
func (w *Writer) Section(t Tag, field uint32, body io.WriterTo) error {
	w.Begin(t, field)
	_, err := body.WriteTo(w)
	w.End()
	return err
}

// Map maps the sections written so far, so that others can be derived from them. The caller must
// close the map. Those in memory are the segment itself, which needs no table of contents.
func (w *Writer) Map(m Meta) (*File, error) {
	if err := w.w.Flush(); err != nil {
		return nil, err
	}
	if w.f == nil {
		inMemory := &File{Data: bytes.Clone(w.memory.Bytes()), Sections: w.sections, Meta: m, inMemory: true}
		return inMemory, inMemory.locateSections()
	}
	f, err := os.Open(w.f.Name())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := mapFile(f, int(w.at))
	if err != nil {
		return nil, openError(fmt.Errorf("cannot map: %w", err))
	}
	mapped := &File{Data: data, Sections: w.sections, Meta: m}
	return mapped, mapped.locateSections()
}

// Finish writes the META section, table of contents and footer, and syncs the file.
func (w *Writer) Finish(m Meta) error {
	m.Rules = text.Rules()
	return w.finish(m)
}

func (w *Writer) finish(m Meta) error {
	meta, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := w.Section(TagMetadata, NoField, bytes.NewReader(meta)); err != nil {
		return err
	}
	w.pad()
	offset := w.at
	toc, _ := binary.Append(nil, binary.LittleEndian, w.sections) // never fails
	if _, err := w.Write(append(toc, encodeFooter(toc, offset)...)); err != nil {
		return err
	}
	return errors.Join(w.w.Flush(), w.f.Sync(), w.f.Close())
}

// Close closes the file, unless Finish did so.
func (w *Writer) Close() error {
	if err := w.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
