package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// Place is where an installation keeps its data: in a data folder, or in a database and an object store.
type Place struct {
	Folder   string       // has the database and the segment files, unless there are addresses for them
	Database herb.Address // PostgreSQL
	Blobs    herb.Address // object store
}

// ParsePlace parses a data folder or the address of a database, which needs the address of an object store.
func ParsePlace(s string, blobs herb.Address) (Place, error) {
	switch database := herb.Address(s).IsPostgres(); {
	case s == "":
		return Place{}, herb.Invalidf("it is empty; write a data folder or postgres://user@host:5432/database")
	case database && blobs == "":
		return Place{}, herb.Invalidf("%s is a database and needs an object store; add --blobs with an address "+
			"such as s3://bucket or file:///a/shared/folder", herb.Address(s))
	case database:
		return Place{Database: herb.Address(s), Blobs: blobs}, nil
	case blobs != "":
		return Place{}, herb.Invalidf("%s is a data folder, which contains the published files; omit the object store", herb.Address(s))
	default:
		return Place{Folder: filepath.Clean(s)}, nil
	}
}

// NewPlace returns the place that a configuration names.
func NewPlace(folder string, database, blobs herb.Address) Place {
	if database != "" {
		folder = ""
	}
	return Place{Folder: folder, Database: database, Blobs: blobs}
}

// Migrate copies everything from one place to another; see load for its guarantees.
func Migrate(ctx context.Context, from, to Place, o Options) (_ Result, err error) {
	var source, target Installation
	defer func() { err = errors.Join(err, source.close(), target.close()) }()
	if err := source.openPlace(ctx, from, true); err != nil {
		return Result{}, fmt.Errorf("source: %w", err)
	}
	if err := target.openPlace(ctx, to, o.Check); err != nil {
		return Result{}, fmt.Errorf("target: %w", err)
	}
	return copyAll(ctx, source, target, o.start(loadPhases()...))
}

// close closes what openPlace and openFiles have opened.
func (in *Installation) close() error {
	var errs []error
	for _, c := range in.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// openPlace opens a place. A folder that does not exist is created, unless it must exist; otherwise it is locked, so that no
// server removes files that are not in its catalogue yet.
func (in *Installation) openPlace(ctx context.Context, p Place, exists bool) error {
	path := filepath.Join(p.Folder, store.DatabaseFile)
	if _, err := os.Stat(path); p.Database == "" && exists && errors.Is(err, fs.ErrNotExist) {
		return herb.Errorf(herb.CodeNotFound, "%q is not a data folder: it has no %s", p.Folder, store.DatabaseFile)
	}
	if err := in.openFiles(ctx, p.Blobs, filepath.Join(p.Folder, store.VersionsDir)); err != nil {
		return err
	}
	if p.Database == "" {
		if !exists {
			lock, err := store.LockVersions(in.Files.Dir)
			if err != nil {
				return err
			}
			in.closers = append(in.closers, lock)
		}
		db, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err == nil {
			in.Store, in.closers = db, append(in.closers, db)
		}
		return err
	}
	// Batches are larger than those of a server.
	db, err := postgres.Open(ctx, string(p.Database), postgres.Options{StatementTimeout: time.Minute, Timeout: 2 * time.Minute})
	if err != nil {
		return err
	}
	in.Store, in.closers = db, append(in.closers, db)
	return db.Migrate(ctx)
}

// openFiles opens the object store at an address. If there is none, it opens a folder, which it creates.
func (in *Installation) openFiles(ctx context.Context, address herb.Address, dir string) (err error) {
	if address == "" {
		if in.Files.Dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(in.Files.Dir, 0o700); err != nil {
			return err
		}
		folder := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(in.Files.Dir), "/")}
		address = herb.Address(folder.String())
	}
	objects, err := blobs.Open(ctx, string(address), blobs.Options{})
	if err == nil {
		in.Files.Objects, in.closers = objects, append(in.closers, objects)
	}
	return err
}

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

// hash reads a file, copies it to a writer and returns its size and hash.
func (f Files) hash(ctx context.Context, name string, to io.Writer) (herb.File, error) {
	sum := newDigest()
	err := f.Get(ctx, name, io.MultiWriter(to, sum))
	return sum.file(), err
}

// digest computes the size and the hash of what is written to it.
type digest struct {
	hash.Hash
	size int64
}

func newDigest() *digest { return &digest{Hash: sha256.New()} }

// Write implements io.Writer.
func (d *digest) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	return d.Hash.Write(p)
}

func (d *digest) file() herb.File {
	return herb.File{Size: d.size, SHA256: hex.EncodeToString(d.Sum(nil))}
}

// compareFile fails if a file is not the expected one.
func compareFile(got, want herb.File, problem string) error {
	if got == want {
		return nil
	}
	return herb.Errorf(herb.CodeRefused, "%s: got %d bytes with SHA-256 %s, want %d bytes with %s",
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
func ensureSegment(ctx context.Context, from, to Files, s *Segment, o Options, r *Result) error {
	got, err := to.hash(ctx, segmentName(s.Version), io.Discard)
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
	name := segmentName(s.Version)
	path, temp := from.path(name), io.Discard
	if path == "" {
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
