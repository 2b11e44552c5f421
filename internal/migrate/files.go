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

// hash reads a file, copies it to a writer and returns its size and hash.
func (in Installation) hash(ctx context.Context, name string, to io.Writer) (herb.File, error) {
	sum := herb.NewFileHash()
	err := in.Get(ctx, name, io.MultiWriter(to, sum))
	return sum.File(), err
}

// identify reads the file of a version and returns its size and hash. It fails if they differ from
// those in the catalogue. Only files that were never in an object store have none there; their
// checksums are verified.
func (in Installation) identify(ctx context.Context, v herb.Dataset) (herb.File, error) {
	name := store.SegmentFile(v.Version)
	got, err := in.hash(ctx, name, io.Discard)
	switch {
	case err == nil && v.File != nil:
		err = compareFile(got, *v.File, "the file is damaged")
	case err == nil && in.Dir != "":
		err = openSegment(filepath.Join(in.Dir, name), (*segment.Reader).Verify)
	}
	return got, err
}

// openSegment opens a segment file, checks it and closes it.
func openSegment(path string, check func(*segment.Reader) error) error {
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(check(r), r.Release())
}

// compareFile fails if a file is not the expected one.
func compareFile(got, want herb.File, problem string) error {
	if got == want {
		return nil
	}
	return herb.Errorf(herb.CodeRejected, "%s: got %d bytes with SHA-256 %s, want %d bytes with %s",
		problem, got.Size, got.SHA256, want.Size, want.SHA256)
}

// segmentError names the version whose file an error is about, with advice if the source has none.
func segmentError(err error, version string) error {
	switch {
	case err == nil:
		return nil
	case herb.CodeOf(err) == herb.CodeNotFound:
		return herb.Wrap(herb.CodeNotFound, err, "segment %s: the source has no such file; run the command again if the version "+
			"was replaced meanwhile, otherwise publish the dataset again or remove it", version)
	}
	return fmt.Errorf("segment %s: %w", version, err)
}

// ensureSegment copies a segment file, or compares the one that the target has.
func ensureSegment(ctx context.Context, from, to Installation, s *Segment, o Options, r *Result) error {
	got, err := to.hash(ctx, store.SegmentFile(s.Version), io.Discard)
	switch {
	case err == nil:
		err = compareFile(got, s.File, "the target has a different file")
	case herb.CodeOf(err) == herb.CodeNotFound:
		r.NewFiles++
		err = copySegment(ctx, from, to, s, o.steps.Bytes(PhaseSegments))
	}
	return segmentError(err, s.Version)
}

// copySegment copies a segment file and reads it back. It fails if the file of either side is not
// the expected one.
func copySegment(ctx context.Context, from, to Installation, s *Segment, progress func(done, total int64)) (err error) {
	name := store.SegmentFile(s.Version)
	path, temp := filepath.Join(from.Dir, name), io.Discard
	if from.Dir == "" {
		f, failed := os.CreateTemp(to.Dir, name+".*"+segment.PartSuffix) // servers delete leftovers of this name
		if failed != nil {
			return failed
		}
		path, temp = f.Name(), f
		defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	}
	got, err := from.hash(ctx, name, temp)
	if err == nil {
		err = compareFile(got, s.File, "the file of the source is damaged")
	}
	if err == nil {
		err = to.Put(ctx, name, path, progress)
	}
	if err == nil {
		got, err = to.hash(ctx, name, io.Discard)
	}
	if err != nil {
		return err
	}
	if err := compareFile(got, s.File, "the file read back from the target differs"); err != nil {
		return errors.Join(err, to.Delete(ctx, name))
	}
	return nil
}
