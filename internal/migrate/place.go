package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// Place is where an installation keeps its data: in a data folder, or in a database and an object
// store.
type Place struct {
	// has the database and the segment files, unless there are addresses for them; else it is not
	// used
	Folder   string
	Database herb.Address // PostgreSQL
	Blobs    herb.Address // object store
}

// ParsePlace parses a data folder or the address of a database, which needs the address of an
// object store.
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
		return Place{}, herb.Invalidf("%s is a data folder, which contains the published files; omit the object store",
			herb.Address(s))
	default:
		return Place{Folder: filepath.Clean(s)}, nil
	}
}

// Migrate copies everything from one place to an empty one; see load for its guarantees.
func Migrate(ctx context.Context, from, to Place, o Options) (_ Result, err error) {
	var source, target Installation
	defer func() { err = errors.Join(err, source.close(), target.close()) }()
	if err := source.openPlace(ctx, from, true, o); err != nil {
		return Result{}, fmt.Errorf("source: %w", err)
	}
	if err := target.openPlace(ctx, to, o.Check, o); err != nil {
		return Result{}, fmt.Errorf("target: %w", err)
	}
	return copyAll(ctx, source, target, o)
}

// copyAll loads everything of one installation into another.
func copyAll(ctx context.Context, from, to Installation, o Options) (Result, error) {
	o.begin(PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify)
	o.report(PhaseCompare, 0, 0)
	source, omitted, err := readSource(ctx, from, func(versionFile, int64) error { return nil }, func(*Snapshot) {})
	if err != nil {
		return Result{}, fmt.Errorf("source: %w", err)
	}
	r, err := load(ctx, Source{source.plants, source.Entries, from, omitted}, to, o)
	if err == nil {
		r.Changed, err = source.Changed(ctx)
	}
	if err == nil {
		r.LeftOut, err = countLeftOut(ctx, from.Store)
	}
	return r, err
}

// Installation is where one installation keeps its data. A backup in a folder has only files.
type Installation struct {
	Store   Store
	Objects        // files of versions
	Dir     string // the local folder of Objects; empty for an object store
	closers []io.Closer
}

// close closes what openPlace and openFiles have opened.
func (in *Installation) close() (err error) {
	for _, c := range in.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// openPlace opens a place. A folder that does not exist is created, unless it must exist; otherwise
// it is locked, so that no server removes files that are not in its catalogue yet. A comparison or
// a backup does not upgrade the schema of its database.
func (in *Installation) openPlace(ctx context.Context, p Place, exists bool, o Options) error {
	path := filepath.Join(p.Folder, store.DatabaseFile)
	if _, err := os.Stat(path); p.Database == "" && exists && errors.Is(err, fs.ErrNotExist) {
		return herb.Errorf(herb.CodeNotFound, "%q is not a data folder: it has no %s", p.Folder, store.DatabaseFile)
	}
	if err := in.openFiles(p.Blobs, filepath.Join(p.Folder, store.VersionsDir)); err != nil {
		return err
	}
	if p.Database != "" {
		// Batches are larger than those of a server.
		db, err := postgres.Open(ctx, string(p.Database), postgres.Options{
			StatementTimeout: time.Minute, Timeout: 2 * time.Minute, KeepSchema: o.keepSchema(), Upgraded: o.Upgraded,
		})
		if err != nil {
			return err
		}
		in.Store, in.closers = db, append(in.closers, db)
		return db.Migrate(ctx)
	}
	if !exists {
		lock, err := store.LockVersions(in.Dir)
		if err != nil {
			return err
		}
		in.closers = append(in.closers, lock)
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{KeepSchema: o.keepSchema(), Upgraded: o.Upgraded})
	if err == nil {
		in.Store, in.closers = db, append(in.closers, db)
	}
	return err
}

// openFiles opens the object store at an address. If there is none, it opens a folder, which it
// creates.
func (in *Installation) openFiles(address herb.Address, dir string) (err error) {
	var objects *blobs.Bucket
	if address != "" {
		objects, err = blobs.Open(string(address), blobs.Options{})
	} else if in.Dir, err = filepath.Abs(dir); err == nil {
		objects, err = blobs.OpenFolder(in.Dir)
	}
	if err == nil {
		in.Objects, in.closers = objects, append(in.closers, objects)
	}
	return err
}
