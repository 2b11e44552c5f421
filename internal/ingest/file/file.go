// Package file opens the files of a source: confined to a folder, decompressed, hashed while they are read. It detects
// their formats.
package file

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	bufferBytes = 256 << 10
	// headBytes is how much of the content is examined to detect a format.
	headBytes = 64 << 10
)

// Options configure how a file is opened.
type Options struct {
	Dir      Dir              // folder of the file; the zero value: the user named the file itself
	InPlace  bool             // Path never copies; the caller calls Replaced afterwards
	Temp     string           // folder of temporary files; empty: that of the system
	Formats  []rows.Format    // by whose extensions the table in an archive is found
	Progress func(read int64) // called with the number of stored bytes read so far; nil disables it
}

// File is an open file of a source. It implements rows.File. It is used by one goroutine.
type File struct {
	ctx    context.Context // of all reads; the methods of rows.File have none
	opts   Options
	path   string // empty: content without a name
	name   string
	stored stored
	beside []diskFile // companions: files that belong to a database of the same name and are hashed with it
	kind   string     // of compression
	entry  *zip.File  // the table in an archive
	head   []byte

	sum      hash.Hash
	hashed   int64 // bytes at the start of the stored file that are in sum
	random   int64 // bytes that were read in any order
	reported int64 // the last progress
	failed   error // why the stored file could not be read; decoders do not always return it
	byPath   bool  // Path returned the file itself
	content  *os.File
	copied   *copyDir    // a complete copy; nil: none
	closers  []io.Closer // what Close releases
}

var _ rows.File = (*File)(nil)

// stored is the content of a file as it is stored.
type stored interface {
	io.ReaderAt
	Size() int64
}

// diskFile is an open file with the state that it had when it was opened.
type diskFile struct {
	*os.File
	info   fs.FileInfo
	suffix string // of a companion
}

// Size implements stored.
func (d diskFile) Size() int64 { return d.info.Size() }

// changed reports whether the file was written since it was opened.
func (d diskFile) changed() bool {
	info, err := d.Stat()
	return err != nil || info.Size() != d.info.Size() || !info.ModTime().Equal(d.info.ModTime())
}

// Open opens a file. The caller closes it.
func Open(ctx context.Context, path string, o Options) (*File, error) {
	d, err := openRegular(o.Dir, path)
	if err != nil {
		return nil, err
	}
	f := &File{ctx: ctx, opts: o, path: path, name: Uncompressed(filepath.Base(path)), stored: d, sum: sha256.New(), closers: []io.Closer{d}}
	for _, suffix := range []string{"-wal", "-journal"} { // of databases
		if info, err := o.Dir.Stat(path + suffix); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		b, err := openRegular(o.Dir, path+suffix)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		b.suffix = suffix
		f.beside, f.closers = append(f.beside, b), append(f.closers, b)
	}
	return f.open()
}

// openRegular opens a file that is not a folder, pipe or device.
func openRegular(dir Dir, path string) (diskFile, error) {
	if info, err := dir.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe blocks
		return diskFile{}, cmp.Or(err, CannotRead(path, ErrNotRegular))
	}
	h, err := dir.Open(path)
	if err != nil {
		return diskFile{}, err
	}
	info, err := h.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return diskFile{}, errors.Join(cmp.Or(err, CannotRead(path, ErrNotRegular)), h.Close())
	}
	return diskFile{File: h, info: info}, nil
}

// ErrNotRegular is the cause of errors about pipes and devices.
var ErrNotRegular = errors.New("not a regular file")

// New returns content that has no path: inline data, standard input. The caller closes the File; the content stays open.
func New(ctx context.Context, name string, content io.ReaderAt, size int64, o Options) (*File, error) {
	f := &File{ctx: ctx, opts: o, name: name, stored: io.NewSectionReader(content, 0, size), sum: sha256.New()}
	return f.open()
}

// open detects the compression of a new file and reads the start of its content.
func (f *File) open() (_ *File, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	var head [16]byte
	n, err := (&storedReader{f: f}).ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if f.kind = compressionOf(head[:n]); f.kind == kindZip {
		if err := f.openArchive(); err != nil {
			return nil, err
		}
	}
	content, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	f.head = make([]byte, headBytes)
	n, err = io.ReadFull(content, f.head)
	f.head = f.head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if inner := compressionOf(f.head); f.kind != kindNone && inner != kindNone && inner != kindZip {
		return nil, herb.Invalidf("the file is compressed twice, with %s inside %s; unpack it once", inner, f.kind)
	}
	return f, nil
}

// Name implements rows.File.
func (f *File) Name() string { return f.name }

// Size implements rows.File.
func (f *File) Size() int64 {
	size := f.stored.Size()
	for _, b := range f.beside {
		size += b.Size()
	}
	return size
}

// Open implements rows.File.
func (f *File) Open() (io.ReadCloser, error) { return f.decompress() }

// Random implements rows.File.
func (f *File) Random() (io.ReaderAt, int64, error) {
	if f.kind == kindNone {
		return &storedReader{f: f, random: true}, f.stored.Size(), nil
	}
	if f.content == nil {
		in, err := f.Open()
		if err != nil {
			return nil, 0, err
		}
		defer in.Close()
		if f.content, err = TempCopy(f.ctx, f.opts.Temp, in); err != nil {
			return nil, 0, err
		}
		f.closers = append(f.closers, f.content)
	}
	info, err := f.content.Stat()
	if err != nil {
		return nil, 0, err
	}
	return f.content, info.Size(), nil
}

// Path implements rows.File.
func (f *File) Path() (string, error) {
	if f.kind == kindNone && f.path != "" && (f.opts.Dir.root == nil || f.opts.InPlace) {
		f.byPath = true
		return f.path, nil
	}
	if f.copied != nil {
		return f.copied.path(""), nil
	}
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	copied, err := newCopyDir(f.opts.Temp)
	if err != nil {
		return "", err
	}
	f.closers = append(f.closers, copied)
	if err := copied.add(f.ctx, "", in); err != nil {
		return "", err
	}
	for _, b := range f.beside {
		if err := copied.add(f.ctx, b.suffix, io.NewSectionReader(b, 0, b.Size())); err != nil {
			return "", err
		}
	}
	f.copied = copied
	return copied.path(""), nil
}

// Err returns why the stored file could not be read, or nil. It takes precedence over what a decoder made of it.
func (f *File) Err() error { return f.failed }

// Damage returns why the content of a compressed file is wrong if that is because the stored data is damaged, which only
// its end shows. It reads a bounded amount.
func (f *File) Damage() error {
	if f.kind == kindNone {
		return nil
	}
	in, err := f.Open()
	if err == nil {
		defer in.Close()
		_, err = io.CopyN(io.Discard, in, 256<<20)
	}
	if herb.CodeOf(err) == herb.CodeInvalid {
		return err
	}
	return nil
}

// Sum returns the SHA-256 hash of the stored bytes, and of the companions. It reads what was not read in order before. It
// fails with herb.CodeUnavailable if the file changed since it was opened.
func (f *File) Sum() ([sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	rest := &storedReader{f: f, at: f.hashed}
	if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{rest}, make([]byte, bufferBytes)); err != nil {
		return sum, err
	}
	for _, b := range f.beside {
		fmt.Fprintf(f.sum, "\n%s %d\n", b.suffix, b.Size())
		if _, err := copyContext(f.ctx, f.sum, io.NewSectionReader(b, 0, b.Size())); err != nil {
			return sum, err
		}
	}
	if err := f.Changed(); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(f.sum.Sum(nil)), nil
}

// Changed fails with herb.CodeUnavailable if the file or a companion changed since it was opened.
func (f *File) Changed() error {
	d, ok := f.stored.(diskFile)
	if ok && (d.changed() || slices.ContainsFunc(f.beside, diskFile.changed) || f.Replaced()) {
		return herb.Errorf(herb.CodeUnavailable, "the file changed while it was being read; publish it again when it is complete")
	}
	return nil
}

// Replaced reports whether a library may have opened another file under the path that Path returned.
func (f *File) Replaced() bool {
	if !f.byPath {
		return false
	}
	info, err := os.Stat(f.path)
	return err != nil || !os.SameFile(info, f.stored.(diskFile).info)
}

// Close releases the file and its temporary copies.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// observe extends the hash by bytes that continue those hashed so far.
func (f *File) observe(at int64, p []byte) {
	if end := at + int64(len(p)); at <= f.hashed && end > f.hashed {
		f.sum.Write(p[f.hashed-at:])
		f.hashed = end
	}
	if f.opts.Progress == nil {
		return
	}
	if n := min(max(f.random, f.hashed), f.stored.Size()); n > f.reported {
		f.reported = n
		f.opts.Progress(n)
	}
}

// storedReader reads the stored file at any offset, or from one on.
type storedReader struct {
	f      *File
	at     int64 // of the next Read
	random bool  // reads are in any order and count as progress
}

// ReadAt implements io.ReaderAt.
func (s *storedReader) ReadAt(p []byte, at int64) (int, error) {
	if err := context.Cause(s.f.ctx); err != nil {
		s.f.failed = err
		return 0, err
	}
	n, err := io.NewSectionReader(s.f.stored, 0, s.f.stored.Size()).ReadAt(p, at) // not what is appended meanwhile
	if err != nil && err != io.EOF {
		s.f.failed = err
	}
	if s.random {
		s.f.random += int64(n)
	}
	s.f.observe(at, p[:n])
	return n, err
}

// Read implements io.Reader.
func (s *storedReader) Read(p []byte) (int, error) {
	n, err := s.ReadAt(p, s.at)
	s.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}
