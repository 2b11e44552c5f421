package ingest

import (
	"context"
	"errors"
	"io"
	"os"

	"herbarium/internal/herb"
)

// Spool keeps what a reader yields, such as standard input, in a temporary file, because a source is read more than once.
// Its format is told by its content if the caller does not set one. remove deletes the file; after an error there is
// none. When ctx ends, the reader is left alone, even in the middle of a call. opts.Progress is told no size.
func Spool(ctx context.Context, r io.Reader, ref herb.Ref, opts Options) (src Source, remove func() error, err error) {
	if err := checkReserved(standardInput, ref); err != nil {
		return Source{}, nil, err
	}
	pr, pw := io.Pipe()
	defer pr.Close()
	go func() {
		_, err := io.CopyBuffer(pw, struct{ io.Reader }{r}, make([]byte, windowBytes))
		pw.CloseWithError(err)
	}()
	// A pipe or a terminal may have nothing to say for hours. The end of ctx is not to wait for it.
	defer context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })()
	read := int64(0)
	f, err := spoolFile(ctx, readerFunc(func(p []byte) (int, error) {
		n, err := pr.Read(p)
		if read += int64(n); opts.Progress != nil && n > 0 {
			opts.Progress(read, 0)
		}
		return n, err
	}))
	if err != nil {
		return Source{}, nil, located(standardInput, err)
	}
	if err := f.Close(); err != nil {
		return Source{}, nil, errors.Join(err, os.Remove(f.Name()))
	}
	return Source{Ref: ref, Path: f.Name(), Called: standardInput}, func() error { return os.Remove(f.Name()) }, nil
}

// standardInput is what messages call a file that has no name.
const standardInput = "standard input"

// spoolFile copies what a reader yields to a temporary file and returns it, read from its beginning. discard removes it;
// after an error there is none.
func spoolFile(ctx context.Context, r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "herbarium-*")
	if err != nil {
		return nil, err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, readerFunc(func(p []byte) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return r.Read(p)
	}), make([]byte, windowBytes))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, discard(f))
	}
	return f, nil
}

// readerFunc is a function that is a reader.
type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// discard closes a temporary file and removes it.
func discard(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }
