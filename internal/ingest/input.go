package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"herbarium/internal/herb"
)

// input is an open file that hashes what is read of it, tells how far it got, and ends when the context does.
type input struct {
	file     *os.File
	sum      hash.Hash
	stamp    stamp
	read     int64
	stop     func() error
	progress func(read, size int64)
	rows     io.Closer // what reads the file here and there; nil: nothing does
	log      *os.File  // what is read behind the file; nil: nothing is
}

// stamp is what shows without reading that a file is not what it was.
type stamp struct {
	size     int64
	modified time.Time
}

func openInput(ctx context.Context, path string, opts Options) (*input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, errors.Join(cannotRead(path, err), f.Close())
	}
	return &input{
		file:     f,
		sum:      sha256.New(),
		stamp:    stamp{info.Size(), info.ModTime()},
		stop:     func() error { return context.Cause(ctx) },
		progress: opts.Progress,
	}, nil
}

// Read implements io.Reader.
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
	if in.progress != nil && n > 0 {
		in.progress(in.read, max(in.read, in.stamp.size))
	}
	return n, err
}

// content returns the hash of what was read.
func (in *input) content() (sum [sha256.Size]byte) {
	in.sum.Sum(sum[:0])
	return sum
}

func (in *input) Close() error {
	var errs []error
	if in.rows != nil {
		errs = append(errs, in.rows.Close())
	}
	if in.log != nil {
		errs = append(errs, in.log.Close())
	}
	return errors.Join(append(errs, in.file.Close())...)
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
		return "", located(src.Path, err)
	}
	in, err := openInput(ctx, src.Path, opts)
	if err != nil {
		return "", err
	}
	defer in.Close()
	if err := in.withLog(src.Format); err != nil {
		return "", located(src.Path, err)
	}
	if err := in.discard(); err != nil {
		return "", located(src.Path, err)
	}
	return src.hash(in.content())
}
