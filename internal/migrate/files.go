package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// Objects stores files by name.
type Objects interface {
	Put(ctx context.Context, name, path string, progress func(done, total int64)) error
	Get(ctx context.Context, name string, to io.Writer) error
	Delete(ctx context.Context, name string) error
}

// Files has the segment files of an installation.
type Files struct {
	Objects
	Dir string // the local folder that Objects stores them in; empty for an object store
}

func segmentName(version string) string { return version + ".segment" }

// path returns the path of a file, or "" if it is not in a local folder.
func (f Files) path(name string) string {
	if f.Dir == "" {
		return ""
	}
	return filepath.Join(f.Dir, name)
}

// hash reads a file and returns its size and hash.
func (f Files) hash(ctx context.Context, name string) (herb.File, error) {
	h := hasher{Hash: sha256.New()}
	err := f.Get(ctx, name, &h)
	return h.file(), err
}

// hasher hashes and counts the bytes written to it.
type hasher struct {
	hash.Hash
	size int64
}

// Write implements io.Writer.
func (h *hasher) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	return h.Hash.Write(p)
}

func (h *hasher) file() herb.File {
	return herb.File{Size: h.size, SHA256: hex.EncodeToString(h.Sum(nil))}
}

// compareFile fails if a file is not the expected one.
func compareFile(got, want herb.File, problem string) error {
	if got == want {
		return nil
	}
	return herb.Errorf(herb.CodeRefused, "%s: got %d bytes with SHA-256 %s, want %d bytes with %s",
		problem, got.Size, got.SHA256, want.Size, want.SHA256)
}

// segmentError names the version whose file an error is about, and says what to do if the source has none.
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
func ensureSegment(ctx context.Context, from, to Files, s *Segment, o Options, r *Result) error {
	got, err := to.hash(ctx, segmentName(s.Version))
	switch {
	case err == nil:
		err = compareFile(got, s.File, "the target has a different file")
	case herb.CodeOf(err) == herb.CodeNotFound:
		r.NewFiles++
		err = copySegment(ctx, from, to, s, o.steps.Bytes(PhaseSegments))
	}
	return segmentError(err, s.Version)
}

// copySegment copies a segment file and reads it back. It fails if the file of either side is not the expected one.
func copySegment(ctx context.Context, from, to Files, s *Segment, progress func(done, total int64)) (err error) {
	const damaged = "the file of the source is damaged"
	name := segmentName(s.Version)
	path := from.path(name)
	var got herb.File
	if path != "" {
		got, err = from.hash(ctx, name)
	} else {
		path, got, err = download(ctx, from, name, to.Dir)
		defer func() { err = errors.Join(err, os.RemoveAll(path)) }()
	}
	if err == nil {
		err = compareFile(got, s.File, damaged)
	}
	if err == nil {
		err = to.Put(ctx, name, path, progress)
	}
	if err == nil {
		got, err = to.hash(ctx, name)
	}
	if err != nil {
		return err
	}
	if err := compareFile(got, s.File, "the file read back from the target differs"); err != nil {
		return errors.Join(err, to.Delete(ctx, name))
	}
	return nil
}

// download writes a file to a temporary file in a folder; empty means that of the operating system.
func download(ctx context.Context, from Files, name, dir string) (path string, got herb.File, err error) {
	temp, err := os.CreateTemp(dir, name+".*"+segment.PartSuffix) // servers delete leftovers of this name
	if err != nil {
		return "", got, err
	}
	h := hasher{Hash: sha256.New()}
	err = errors.Join(from.Get(ctx, name, io.MultiWriter(temp, &h)), temp.Close())
	return temp.Name(), h.file(), err
}
