package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"

	"herbarium/internal/herb"
)

// input is the files of a source, read one after the other. It hashes what is read of them, tells how far it got, and
// ends when the context does.
type input struct {
	src      Source
	from     confined
	stamp    string // shows without reading that the files are not what they were
	size     int64  // of all files
	read     int64
	at       int // the file that is open
	file     io.ReadCloser
	sum      hash.Hash           // of that file
	sums     [][sha256.Size]byte // of those before
	unpacked io.Closer           // the content of that file, nil if it is not being read
	packed   bool                // that file is compressed
	body     io.Reader           // its content
	spooled  *os.File            // the same, copied to where any place can be read
	reader   io.Closer           // reads that; nil if it holds nothing
	stop     func() error
	spool    func(r io.Reader) (*os.File, error)
	progress func(read, size int64)
	quiet    bool     // somebody else tells how much of that file was read
	log      *os.File // what is read behind it; nil: nothing is
}

// files are the paths of a source.
func (s Source) files() []string { return append([]string{s.Path}, s.Parts...) }

// name is what messages call a file of the source.
func (s Source) name(i int) string {
	if i == 0 && s.Called != "" {
		return s.Called
	}
	return s.files()[i]
}

// called names a file of the source in an error as messages call it.
func (s Source) called(i int, err error) error {
	if e, ok := errors.AsType[*herb.Error](err); ok && s.name(i) != s.files()[i] {
		return herb.Wrap(e.Code, e.Err, "%s", strings.ReplaceAll(e.Message, s.files()[i], s.name(i)))
	}
	return err
}

func openInput(ctx context.Context, src Source, opts Options) (*input, error) {
	in := &input{
		src: src, at: -1, progress: opts.Progress,
		stop:  func() error { return context.Cause(ctx) },
		spool: func(r io.Reader) (*os.File, error) { return spoolFile(ctx, r) },
	}
	if src.Inline != nil {
		in.size = int64(len(src.Inline))
		return in, nil
	}
	var err error
	if in.from, err = src.confined(); err != nil {
		return nil, err
	}
	var stamps strings.Builder
	for i, path := range src.files() {
		info, err := in.from.stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = cannotRead(src.name(i), errNotRegular)
		}
		if err != nil {
			return nil, errors.Join(src.called(i, err), in.Close())
		}
		in.size += info.Size()
		fmt.Fprintln(&stamps, info.Size(), info.ModTime().UnixNano())
		if info, ok := in.logOf(path); ok {
			in.size += info.Size()
			fmt.Fprintln(&stamps, "log", info.Size(), info.ModTime().UnixNano())
		}
	}
	in.stamp = stamps.String()
	return in, nil
}

// next opens the next file. It returns false behind the last one. Its errors name the file.
func (in *input) next() (bool, error) {
	if err := in.end(); err != nil {
		return false, located(in.src.name(in.at), err)
	}
	last := len(in.src.Parts)
	if in.src.Inline != nil {
		last = 0
	}
	if in.at == last {
		return false, nil
	}
	in.at++
	in.sum, in.quiet = sha256.New(), false
	if in.src.Inline != nil {
		in.file = io.NopCloser(bytes.NewReader(in.src.inline()))
		return true, nil
	}
	path := in.src.files()[in.at]
	f, err := in.from.open(path)
	if err != nil {
		return false, in.src.called(in.at, err)
	}
	in.file = f
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // it was one before
		return false, cannotRead(in.src.name(in.at), cmp.Or(err, errNotRegular))
	}
	if _, ok := in.logOf(path); ok {
		if in.log, err = in.from.open(path + logSuffix); err != nil {
			return false, err
		}
	}
	return true, nil
}

// logSuffix ends the name of a database's write-ahead log. Its content is the database's as much as that of the file, so
// it is hashed as if it stood behind it.
const logSuffix = "-wal"

// logOf returns the write-ahead log of a file, if there is one with something in it.
func (in *input) logOf(path string) (fs.FileInfo, bool) {
	info, err := in.from.stat(path + logSuffix)
	return info, err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// inline returns the records that the source has in place of a file: JSON, or the text that a JSON string holds.
func (s Source) inline() []byte {
	var text string
	if err := json.Unmarshal(s.Inline, &text); err == nil {
		return []byte(text)
	}
	return s.Inline
}

// end reads what is left of the file that is open, so that its hash is that of the whole, and closes it.
func (in *input) end() error {
	if in.file == nil {
		return nil
	}
	if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{in}, make([]byte, windowBytes)); err != nil {
		return err
	}
	in.sums = append(in.sums, [sha256.Size]byte(in.sum.Sum(nil)))
	return in.closeFile()
}

// Read reads the file that is open, as it is stored.
func (in *input) Read(p []byte) (int, error) {
	if err := in.stop(); err != nil {
		return 0, err
	}
	n, err := in.file.Read(p)
	if err == io.EOF && n == 0 && in.log != nil {
		n, err = in.log.Read(p)
	}
	in.sum.Write(p[:n])
	in.read += int64(n)
	if in.progress != nil && n > 0 && !in.quiet {
		in.progress(in.read, max(in.read, in.size))
	}
	return n, err
}

// content returns the unpacked content of the file that is open, and its beginning.
func (in *input) content() (content *bufio.Reader, head []byte, err error) {
	content, kind, closer, err := unpack(bufio.NewReaderSize(in, windowBytes))
	if err != nil {
		return nil, nil, err
	}
	in.unpacked, in.packed, in.body = closer, kind != "", content
	if head, err = content.Peek(headBytes); err == io.EOF {
		err = nil
	}
	return content, head, err
}

// whole returns the content of the file that is open in a form in which any place can be read, copied if need be. It is
// read with ReadAt or opened by its name, and not closed: that is done when the next one is opened, or all is closed. The
// file is hashed behind its last record, so that what changes in it meanwhile changes the hash.
func (in *input) whole(content io.Reader) (*os.File, error) {
	f, ok := in.file.(*os.File)
	if ok && !in.packed {
		return f, nil
	}
	var err error
	in.spooled, err = in.spool(content)
	return in.spooled, err
}

// rewind begins to read and to hash the file that is open, and its log, once more.
func (in *input) rewind() error {
	in.sum.Reset()
	for _, f := range []io.Reader{in.file, in.log} {
		if f, ok := f.(*os.File); ok && f != nil {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
	}
	return nil
}

// damage looks, when the content of a compressed file is wrong, whether that is because the file is damaged, which shows
// at the end of the data alone. It does not look forever.
func (in *input) damage() error {
	if !in.packed || in.body == nil {
		return nil
	}
	_, err := io.CopyN(io.Discard, in.body, 256<<20)
	if herb.CodeOf(err) == herb.CodeInvalid {
		return err
	}
	return nil
}

// hash returns the hash of all files, each of which has been read to its end.
func (in *input) hash() [sha256.Size]byte {
	if len(in.sums) == 1 {
		return in.sums[0]
	}
	h := sha256.New()
	for _, s := range in.sums {
		h.Write(s[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Close closes what is open.
func (in *input) Close() error { return errors.Join(in.closeFile(), in.from.Close()) }

func (in *input) closeFile() error {
	var errs []error
	if in.reader != nil {
		errs = append(errs, in.reader.Close())
	}
	if in.unpacked != nil {
		errs = append(errs, in.unpacked.Close())
	}
	if in.spooled != nil {
		errs = append(errs, discard(in.spooled))
	}
	if in.log != nil {
		errs = append(errs, in.log.Close())
	}
	if in.file != nil {
		errs = append(errs, in.file.Close())
	}
	in.reader, in.unpacked, in.body, in.spooled, in.log, in.file = nil, nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

// errNotRegular says why a pipe or device is refused.
var errNotRegular = errors.New("it is not a regular file, which is needed because it is read twice")

// cannotRead tells about a path that cannot be opened. What the system says of it repeats the path, so only the cause
// is kept.
func cannotRead(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return herb.Errorf(herb.CodeNotFound, "there is no file or folder %s", path)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return herb.Wrap(herb.CodeInvalid, err, "cannot read %s", path)
}

// Hash returns the hash that Inspect would find (herb.Dataset.Source) without looking at the records, so that a file
// that is already published can be told at the speed of reading it.
func Hash(ctx context.Context, src Source, opts Options) (string, error) {
	src, err := src.settled()
	if err != nil {
		return "", located(src.name(0), err)
	}
	in, err := openInput(ctx, src, opts)
	if err != nil {
		return "", err
	}
	defer in.Close()
	for more := true; more; {
		if more, err = in.next(); err != nil {
			return "", err
		}
	}
	return src.hash(in.hash())
}
