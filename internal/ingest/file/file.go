// Package file opens the files of a source: confined to a folder, decompressed, hashed while they
// are read. It detects their formats.
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

// Options configures how a file is opened.
type Options struct {
	Dir   Dir    // folder of the file; the zero value: the user named the file itself
	Entry string // path of a file in a zip archive; empty: its only table
	// content that has no path: inline data, standard input, an upload; nil: that of the path
	Content  *io.SectionReader
	Name     string           // of the content, by whose extension its format is detected; empty: none
	InPlace  bool             // Path never copies; the caller calls Replaced afterwards
	Temp     string           // folder of temporary files; empty: that of the system
	Formats  []rows.Format    // that are detected, and by whose extensions the table in an archive is found
	Progress func(read int64) // called with the number of stored bytes read so far; nil disables it
}

// File is an open file of a source. It implements rows.File. It is used by one goroutine.
type File struct {
	ctx    context.Context // of all reads; the methods of rows.File have none
	opts   Options
	path   string
	name   string
	stored *io.SectionReader // the content as it is stored
	disk   []diskFile        // the file and its companions; empty: Options.Content
	kind   string            // of compression
	entry  *zip.File         // the table in an archive
	head   []byte

	sum      hash.Hash
	hashed   int64              // bytes at the start of the stored file that are in sum
	unpacked int64              // bytes at the start of the content that were decompressed
	random   int64              // bytes that were read in any order
	reported int64              // the last progress
	failed   error              // why the stored file could not be read; decoders do not always return it
	byPath   bool               // Path returned the file itself
	content  *storedReader      // for random access; nil: not opened
	copied   string             // path of a complete copy; empty: none
	usage    *rows.Usage        // shared by the sources that read the file; nil: one source reads it
	document io.Closer          // what the format holds open; nil: nothing
	total    *[sha256.Size]byte // of the file and its companions; nil: not computed
	closers  []func() error     // what Close releases, last first
}

var _ rows.File = (*File)(nil)

// diskFile is an open file with the state that it had when it was opened.
type diskFile struct {
	*os.File
	suffix string // of a companion, which belongs to a database of the same name and is hashed with it
	info   fs.FileInfo
}

// stored returns the content, without what is appended meanwhile.
func (d diskFile) stored() *io.SectionReader { return io.NewSectionReader(d, 0, d.info.Size()) }

// changed reports whether the file was written since it was opened.
func (d diskFile) changed() bool {
	info, err := d.Stat()
	return err != nil || info.Size() != d.info.Size() || !info.ModTime().Equal(d.info.ModTime())
}

// ErrNotRegular is the cause of errors about pipes and devices.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a file, detects its compression and reads the start of its content. The caller closes
// it.
func Open(ctx context.Context, path string, o Options) (_ *File, err error) {
	f := &File{ctx: ctx, opts: o, path: path, name: Uncompressed(o.Name), stored: o.Content, sum: sha256.New()}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if f.stored == nil {
		if err := f.openDisk(); err != nil {
			return nil, err
		}
	}
	var head [16]byte
	n, err := f.reader(0).ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	f.kind = compressionOf(head[:n])
	if f.kind == "zip" {
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
	if inner := compressionOf(f.head); f.kind != "" && inner != "" && inner != "zip" {
		return nil, herb.Invalidf("the file is compressed twice, with %s inside %s; unpack it once", inner, f.kind)
	}
	return f, nil
}

func (f *File) openDisk() error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		path := f.path + suffix
		info, err := f.opts.Dir.Stat(path)
		if suffix != "" && (err != nil || !info.Mode().IsRegular() || info.Size() == 0) {
			continue
		} else if err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return CannotRead(path, ErrNotRegular) // opening a pipe blocks
		}
		h, err := f.opts.Dir.Open(path)
		if err != nil {
			return err
		}
		f.closers = append(f.closers, h.Close)
		info, err = h.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return cmp.Or(err, CannotRead(path, ErrNotRegular))
		}
		f.disk = append(f.disk, diskFile{h, suffix, info})
	}
	f.name, f.stored = Uncompressed(filepath.Base(f.path)), f.disk[0].stored()
	return nil
}

func (f *File) companions() []diskFile { return f.disk[min(1, len(f.disk)):] }

func (f *File) Name() string { return f.name }

func (f *File) Size() int64 {
	size := f.stored.Size()
	for _, b := range f.companions() {
		size += b.info.Size()
	}
	return size
}

func (f *File) NewBudget(l rows.Limits) *rows.Budget {
	l.Usage = f.usage
	return rows.NewBudget(f.ctx, f.Size(), l)
}

func (f *File) Random() (*io.SectionReader, error) {
	if f.content == nil && f.kind == "" {
		f.content = &storedReader{f: f, in: f.stored, random: true}
	} else if f.content == nil {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer in.Close()
		unpacked, size, err := TempCopy(f.opts.Temp, in)
		if err != nil {
			return nil, err
		}
		f.closers = append(f.closers, unpacked.Close)
		f.content = &storedReader{f: f, in: io.NewSectionReader(unpacked, 0, size)}
	}
	return io.NewSectionReader(f.content, 0, f.content.in.Size()), nil
}

func (f *File) Path() (string, error) {
	f.byPath = f.kind == "" && f.disk != nil && (f.opts.Dir.root == nil || f.opts.InPlace)
	if f.byPath {
		return f.path, nil
	}
	if f.copied != "" {
		return f.copied, nil
	}
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	dir, err := f.copyDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "copy.db")
	err = createCopy(path, in)
	for _, b := range f.companions() {
		err = cmp.Or(err, createCopy(path+b.suffix, &storedReader{f: f, in: b.stored()}))
	}
	if err != nil {
		return "", err
	}
	f.copied = path
	return path, nil
}

func (f *File) Document(open func() (io.Closer, error)) (io.Closer, error) {
	if f.document != nil {
		return f.document, nil
	}
	d, err := open()
	if f.copied != "" {
		_ = os.RemoveAll(filepath.Dir(f.copied)) // Windows removes no open files; Close removes them there
		f.copied = ""
	}
	if err != nil {
		return nil, err
	}
	f.document = d
	f.closers = append(f.closers, d.Close)
	return d, nil
}

// Sum returns the SHA-256 hash of the stored bytes, and of the companions. It reads what was not
// read in order before. It fails with herb.CodeUnavailable if the file changed since it was opened.
func (f *File) Sum() (sum [sha256.Size]byte, err error) {
	if f.total != nil {
		return *f.total, f.Changed()
	}
	if _, err := copyAll(io.Discard, f.reader(f.hashed)); err != nil {
		return sum, err
	}
	for _, b := range f.companions() {
		fmt.Fprintf(f.sum, "\n%s %d\n", b.suffix, b.info.Size())
		if _, err := copyAll(f.sum, &storedReader{f: f, in: b.stored()}); err != nil {
			return sum, err
		}
	}
	sum = [sha256.Size]byte(f.sum.Sum(nil))
	f.total = &sum
	return sum, f.Changed()
}

// Cause returns why reading the content failed with err: what is wrong with the stored file takes
// precedence over what a decoder made of it.
func (f *File) Cause(err error) error {
	switch {
	case f.failed != nil:
		return f.failed
	case herb.CodeOf(err) != herb.CodeInvalid:
		return err
	}
	return cmp.Or(f.Changed(), f.findDamage(), err)
}

// findDamage returns why the content of a compressed file is wrong if that is because the stored
// data is damaged, which only its end shows. It reads a bounded amount, and nothing if that much of
// the content was read or copied before.
func (f *File) findDamage() error {
	const limit = 32 << 20
	if f.kind == "" || f.content != nil || f.unpacked >= limit {
		return nil
	}
	in, err := f.Open()
	if err == nil {
		defer in.Close()
		_, err = io.CopyN(io.Discard, in, limit)
	}
	if herb.CodeOf(err) == herb.CodeInvalid {
		return err
	}
	return nil
}

// Changed fails with herb.CodeUnavailable if the file or a companion changed since it was opened.
func (f *File) Changed() error {
	if slices.ContainsFunc(f.disk, diskFile.changed) || f.Replaced() {
		return herb.Errorf(herb.CodeUnavailable,
			"the file changed while it was being read; publish it again when it is complete")
	}
	return nil
}

// Replaced reports whether a library may have opened another file under the path that Path
// returned.
func (f *File) Replaced() bool {
	if !f.byPath {
		return false
	}
	info, err := os.Stat(f.path)
	return err != nil || !os.SameFile(info, f.disk[0].info)
}

// Close releases the file and its temporary copies.
func (f *File) Close() error {
	var errs []error
	for _, release := range slices.Backward(f.closers) {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// storedReader reads the stored file or a companion, at any offset or from one on, until the
// context ends. The stored file is hashed as far as it is read in order.
type storedReader struct {
	f      *File
	in     *io.SectionReader
	at     int64 // of the next Read
	random bool  // reads are in any order and count as progress
}

func (f *File) reader(at int64) *storedReader { return &storedReader{f: f, in: f.stored, at: at} }

func (s *storedReader) ReadAt(p []byte, at int64) (n int, err error) {
	err = context.Cause(s.f.ctx)
	if err == nil {
		n, err = s.in.ReadAt(p, at)
	}
	if err != nil && err != io.EOF {
		s.f.failed = err
	}
	if s.random {
		s.f.random += int64(n)
	}
	if s.in == s.f.stored {
		s.f.observe(at, p[:n])
	}
	return n, err
}

func (s *storedReader) Read(p []byte) (int, error) {
	n, err := s.ReadAt(p, s.at)
	s.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// observe extends the hash by bytes that continue those hashed so far.
func (f *File) observe(at int64, p []byte) {
	if end := at + int64(len(p)); at <= f.hashed && end > f.hashed {
		f.sum.Write(p[f.hashed-at:])
		f.hashed = end
	}
	if n := min(max(f.random, f.hashed), f.stored.Size()); n > f.reported && f.opts.Progress != nil {
		f.reported = n
		f.opts.Progress(n)
	}
}
