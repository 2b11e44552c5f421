package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Objects stores files by name.
type Objects interface {
	Put(ctx context.Context, name, path string, progress func(done, total int64)) error
	Get(ctx context.Context, name string, to io.Writer) error
	Delete(ctx context.Context, name string) error
}

// hash reads a file of a version, copies it to a writer and returns what a versionFile states about
// it.
func (in Installation) hash(ctx context.Context, name string, to io.Writer) (herb.File, error) {
	sum := newContentHash(name)
	err := in.Get(ctx, name, io.MultiWriter(to, sum))
	got, failed := sum.File()
	if err == nil {
		err = failed
	}
	return got, err
}

// contentHash computes what a versionFile states about the content that is written to it. File must
// be called.
type contentHash interface {
	io.Writer
	File() (herb.File, error)
}

// newContentHash returns the hash of a file with a name, or of the original bytes of a source.
func newContentHash(name string) contentHash {
	if f, ok := store.ParseVersionFile(filepath.Base(name)); !ok || f.Kind != store.SourceKind {
		return plainHash{herb.NewFileHash()}
	}
	r, w := io.Pipe()
	h := &sourceHash{PipeWriter: w, done: make(chan error, 1), sum: herb.NewFileHash()}
	go func() {
		err := h.read(r)
		r.CloseWithError(err) // a damaged file must not block its writer
		h.done <- err
	}()
	return h
}

type plainHash struct{ *herb.FileHash }

// File implements contentHash.
func (h plainHash) File() (herb.File, error) { return h.FileHash.File(), nil }

// sourceHash decompresses what is written to it.
type sourceHash struct {
	*io.PipeWriter
	done chan error
	sum  *herb.FileHash
}

func (h *sourceHash) read(compressed io.Reader) error {
	r, err := store.NewSourceReader(compressed)
	if err != nil {
		return err
	}
	_, err = io.Copy(h.sum, r)
	err = errors.Join(err, r.Close())
	if err != nil {
		return herb.Wrap(herb.CodeRejected, err, "the file is damaged: it cannot be decompressed")
	}
	return nil
}

// File implements contentHash.
func (h *sourceHash) File() (herb.File, error) {
	_ = h.Close() // a pipe does not fail
	err := <-h.done
	return h.sum.File(), err
}

// identify reads a file and fails if it is not as the catalogue states. Only segments that were
// never in an object store have no hash there: identify verifies their checksums and completes f.
func (in Installation) identify(ctx context.Context, f versionFile, to io.Writer) error {
	got, err := in.hash(ctx, f.name(), to)
	if err == nil && isKnown(f) {
		return compareFile(got, *f.file(), "the file is damaged")
	}
	if err == nil && in.Dir != "" {
		err = openSegment(filepath.Join(in.Dir, f.name()), (*segment.Core).Verify)
	}
	if err == nil {
		*f.file() = got
	}
	return err
}

// openSegment opens the core of a segment file, whose index may be one of any release, checks it
// and closes it.
func openSegment(path string, check func(*segment.Core) error) error {
	core, err := segment.OpenCore(path)
	if err != nil {
		return err
	}
	return errors.Join(check(core), core.Close())
}

// compareFile fails if a file is not the expected one.
func compareFile(got, want herb.File, problem string) error {
	if got == want {
		return nil
	}
	return herb.Errorf(herb.CodeRejected, "%s: got %d bytes with SHA-256 %s, want %d bytes with %s",
		problem, got.Size, got.SHA256, want.Size, want.SHA256)
}

// fileError names the file that an error is about, with advice if the source has none.
func fileError(err error, f versionFile) error {
	switch {
	case err == nil:
		return nil
	case herb.CodeOf(err) == herb.CodeNotFound:
		return herb.Wrap(herb.CodeNotFound, err,
			"%s: the source has no such file; run the command again if the version "+
				"was replaced meanwhile, otherwise publish the dataset again or remove it", f)
	}
	return fmt.Errorf("%s: %w", f, err)
}

// ensureFile copies a file, or compares the one that the target has.
func ensureFile(ctx context.Context, from, to Installation, f versionFile, progress func(done, total int64),
	r *Result) error {
	got, err := to.hash(ctx, f.name(), io.Discard)
	switch {
	case err == nil:
		err = compareFile(got, *f.file(), "the target has a different file")
	case herb.CodeOf(err) == herb.CodeNotFound:
		r.NewFiles++
		err = copyFile(ctx, from, to, f, func(done, total int64) {
			if done < total { // it is read back afterwards
				progress(done, total)
			}
		})
	}
	progress(1, 1)
	return fileError(err, f)
}

// copyFile copies a file and reads it back. It fails if the file of either side is not the expected
// one.
func copyFile(ctx context.Context, from, to Installation, f versionFile, progress func(done, total int64)) (err error) {
	path, temp := filepath.Join(from.Dir, f.name()), io.Discard
	if from.Dir == "" {
		file, failed := os.CreateTemp(to.Dir, f.name()+".*"+segment.PartSuffix) // servers delete leftovers of this name
		if failed != nil {
			return failed
		}
		path, temp = file.Name(), file
		defer func() { err = errors.Join(err, file.Close(), os.Remove(path)) }()
	}
	got, err := from.hash(ctx, f.name(), temp)
	if err == nil {
		err = compareFile(got, *f.file(), "the file of the source is damaged")
	}
	if err == nil {
		err = to.Put(ctx, f.name(), path, progress)
	}
	if err == nil {
		got, err = to.hash(ctx, f.name(), io.Discard)
	}
	if err != nil {
		return err
	}
	if err := compareFile(got, *f.file(), "the file read back from the target differs"); err != nil {
		return errors.Join(err, to.Delete(ctx, f.name()))
	}
	return nil
}
