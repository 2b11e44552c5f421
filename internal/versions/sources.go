package versions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// KeptSource is the file that a version is published from and that is kept with it.
type KeptSource struct {
	Content *io.SectionReader
	Name    string // of the file; may be empty
	SHA256  string // of the content, hexadecimal
	Merged  bool   // the file was made from records, so that its columns are the fields
}

func (s *Service) sourceFile(version string) string {
	return filepath.Join(s.opts.Dir, store.SourceFile(version))
}

// keepSource writes the compressed source of a version beside its segment and describes it.
func (s *Service) keepSource(ctx context.Context, d *herb.Dataset, source KeptSource) error {
	kept := herb.Kept{Name: source.Name, Size: source.Content.Size(), SHA256: source.SHA256, Merged: source.Merged}
	settings := herb.Settings{}
	if d.Settings != nil {
		settings = *d.Settings
	}
	settings.Kept = &kept
	d.Settings = &settings
	if err := s.writeCompressed(ctx, s.sourceFile(d.Version), source.Content); err != nil {
		return fmt.Errorf("keeping the source: %w", err)
	}
	return nil
}

// writeCompressed writes a compressed file in Dir. The caller holds the lock of the folder.
func (s *Service) writeCompressed(ctx context.Context, path string, content io.Reader) error {
	part := path + segment.PartSuffix
	if err := filesystem.WriteFile(s.opts.FS, part, path, 0o600, func(file io.Writer) error {
		w, err := store.NewSourceWriter(completeWriter{file})
		if err != nil {
			return err
		}
		_, err = io.Copy(w, readerFunc(func(p []byte) (int, error) {
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			return content.Read(p)
		}))
		return errors.Join(err, w.Close())
	}); err != nil {
		return errors.Join(err, s.opts.FS.RemoveAll(part))
	}
	return nil
}

// completeWriter reports a write that was cut short, which the encoder does not.
type completeWriter struct{ io.Writer }

func (w completeWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// uploadSource stores the source of a version for all nodes, instead of in the folder of this one.
func (s *Service) uploadSource(ctx context.Context, d herb.Dataset) error {
	if d.Settings == nil || d.Settings.Kept == nil {
		return nil
	}
	if err := s.opts.Blobs.Put(ctx, store.SourceFile(d.Version), s.sourceFile(d.Version), nil); err != nil {
		return fmt.Errorf("uploading the source: %w", err)
	}
	return s.opts.FS.RemoveAll(s.sourceFile(d.Version))
}

// OpenSource returns the source that is kept with a version of a dataset; an empty version means
// the live one. The error has herb.CodeNotFound if none is kept. The caller closes the reader.
func (s *Service) OpenSource(ctx context.Context, ref herb.Ref, version string) (io.ReadCloser, herb.Dataset, error) {
	d, err := s.Version(ctx, ref, version)
	if err != nil {
		return nil, d, err
	}
	if d.Settings == nil || d.Settings.Kept == nil {
		return nil, d, noSource(d)
	}
	r, err := s.openCompressed(ctx, store.SourceFile(d.Version), noSource(d)) // removed meanwhile, or copied without it
	return r, d, err
}

func noSource(d herb.Dataset) error {
	return herb.Errorf(herb.CodeNotFound,
		"the source of version %s of %s is not kept; only files that are sent to the server are", d.Version, d.Ref)
}

// openCompressed opens a compressed file that is stored for all nodes. If there is none, it or the
// first read fails with the error missing.
func (s *Service) openCompressed(ctx context.Context, name string, missing error) (io.ReadCloser, error) {
	stored, err := s.openStored(ctx, name, missing)
	if err != nil {
		return nil, err
	}
	r, err := store.NewSourceReader(stored)
	if err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	return keptReader{r, stored}, nil
}

func (s *Service) openStored(ctx context.Context, name string, missing error) (io.ReadCloser, error) {
	if !s.shared() {
		f, err := os.Open(filepath.Join(s.opts.Dir, name))
		if errors.Is(err, os.ErrNotExist) {
			err = missing
		}
		return f, err
	}
	r, w := io.Pipe()
	go func() {
		err := s.opts.Blobs.Get(ctx, name, w)
		if herb.CodeOf(err) == herb.CodeNotFound {
			err = missing
		}
		w.CloseWithError(err)
	}()
	return r, nil
}

// keptReader reads a compressed source.
type keptReader struct {
	io.ReadCloser
	stored io.Closer
}

// Close implements io.Closer.
func (r keptReader) Close() error {
	return errors.Join(r.stored.Close(), r.ReadCloser.Close()) // the first ends a transfer
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
