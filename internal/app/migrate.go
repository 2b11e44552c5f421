package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/migrate"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// Place is where an installation keeps its data: in a data folder, or in a database and an object store.
type Place struct {
	Folder   string  // has the database and the segment files, unless there are addresses for them
	Database Address // PostgreSQL
	Blobs    Address // object store
}

// IsDatabase reports whether a place is a database and not a folder.
func IsDatabase(s string) bool { return Address(s).isPostgres() }

// ParsePlace parses a data folder or the address of a database, which needs the address of an object store.
func ParsePlace(s string, blobs Address) (Place, error) {
	switch database := IsDatabase(s); {
	case s == "":
		return Place{}, herb.Invalidf("it is empty; write a data folder or postgres://user@host:5432/database")
	case database && blobs == "":
		return Place{}, herb.Invalidf("%s is a database and needs an object store; add --blobs with an address "+
			"such as s3://bucket or file:///a/shared/folder", Address(s))
	case database:
		return Place{Database: Address(s), Blobs: blobs}, nil
	case blobs != "":
		return Place{}, herb.Invalidf("%s is a data folder, which contains the published files; omit the object store", Address(s))
	default:
		return Place{Folder: filepath.Clean(s)}, nil
	}
}

// PlaceOf returns the place that a configuration names.
func PlaceOf(c Config) Place {
	if c.Database != "" {
		return Place{Database: c.Database, Blobs: c.Blobs}
	}
	return Place{Folder: c.Data, Blobs: c.Blobs}
}

// MigrateOptions of Migrate, Dump and Load. The zero value copies everything and disables progress reports.
type MigrateOptions struct {
	Check bool // only compare
	// Progress is called by one goroutine at a time.
	Progress func(Progress)
}

func (o MigrateOptions) options() migrate.Options {
	out := migrate.Options{Check: o.Check}
	if o.Progress != nil {
		s := &steps{tell: o.Progress, all: migrate.Phases()}
		out.Progress = func(p migrate.Progress) {
			s.update(p.Phase, func(to *Progress) {
				to.Done, to.Total, to.Bytes = p.Done, p.Total, p.Bytes
				if to.Records = 0; !p.Bytes {
					to.Records = int(p.Done)
				}
			})
		}
	}
	return out
}

// Migrate copies everything from one place to another; see migrate.Load for its guarantees.
func Migrate(ctx context.Context, from, to Place, o MigrateOptions) (_ migrate.Result, err error) {
	source, err := openPlace(ctx, from, true)
	if err != nil {
		return migrate.Result{}, fmt.Errorf("source: %w", err)
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openPlace(ctx, to, o.Check)
	if err != nil {
		return migrate.Result{}, fmt.Errorf("target: %w", err)
	}
	defer func() { err = errors.Join(err, target.close()) }()
	return migrate.Copy(ctx, source.Installation, target.Installation, o.options())
}

// The entries of the folder of a dump.
const (
	dumpFile     = "dump.ndjson"
	dumpSegments = "segments"
)

// Dump writes everything of a place to a folder, which it creates. program is the version of the program.
func Dump(ctx context.Context, from Place, dir, program string, o MigrateOptions) (_ migrate.Result, err error) {
	source, err := openPlace(ctx, from, true)
	if err != nil {
		return migrate.Result{}, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	var files opened
	defer func() { err = errors.Join(err, files.close()) }()
	if err := files.openFolder(ctx, filepath.Join(dir, dumpSegments)); err != nil {
		return migrate.Result{}, err
	}
	header := migrate.Header{Format: migrate.FormatVersion, Created: time.Now().UTC(), Program: program}
	return migrate.Save(ctx, source.Installation, filepath.Join(dir, dumpFile), files.Files, header, o.options())
}

// Load loads a dump into a place; see migrate.Load for its guarantees.
func Load(ctx context.Context, dir string, to Place, o MigrateOptions) (_ migrate.Result, err error) {
	dump, err := migrate.OpenDump(ctx, filepath.Join(dir, dumpFile))
	if err != nil {
		return migrate.Result{}, err
	}
	var files opened
	defer func() { err = errors.Join(err, files.close()) }()
	if err := files.openFolder(ctx, filepath.Join(dir, dumpSegments)); err != nil {
		return migrate.Result{}, err
	}
	target, err := openPlace(ctx, to, o.Check)
	if err != nil {
		return migrate.Result{}, err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	return migrate.Load(ctx, dump, files.Files, target.Installation, o.options())
}

// opened is an installation, or only its files, that must be closed.
type opened struct {
	migrate.Installation
	closers []io.Closer
}

func (o *opened) close() error {
	var errs []error
	for _, c := range o.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// openPlace opens a place. A folder that does not exist is created, unless it must exist.
func openPlace(ctx context.Context, p Place, exists bool) (o *opened, err error) {
	path := filepath.Join(p.Folder, databaseFile)
	if _, err := os.Stat(path); p.Database == "" && exists && errors.Is(err, fs.ErrNotExist) {
		return nil, herb.Errorf(herb.CodeNotFound, "%q is not a data folder: it has no %s", p.Folder, databaseFile)
	}
	o = &opened{}
	if p.Blobs != "" {
		err = o.openBlobs(ctx, string(p.Blobs))
	} else {
		err = o.openFolder(ctx, filepath.Join(p.Folder, versionsDir))
	}
	if err == nil {
		err = o.openStore(ctx, path, p.Database)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *opened) openBlobs(ctx context.Context, address string) error {
	objects, err := blobs.Open(ctx, address, blobs.Options{})
	if err == nil {
		o.Files.Objects, o.closers = objects, append(o.closers, objects)
	}
	return err
}

// openFolder opens a folder of segment files and creates it if it does not exist.
func (o *opened) openFolder(ctx context.Context, dir string) (err error) {
	if o.Files.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Files.Dir, 0o700); err != nil {
		return err
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(o.Files.Dir)}
	return o.openBlobs(ctx, address.String())
}

func (o *opened) openStore(ctx context.Context, path string, database Address) error {
	if database == "" {
		db, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err == nil {
			o.Store, o.closers = db, append(o.closers, db)
		}
		return err
	}
	// Batches are larger than those of a server.
	db, err := postgres.Open(ctx, string(database), postgres.Options{StatementTimeout: time.Minute, Timeout: 2 * time.Minute})
	if err != nil {
		return err
	}
	o.Store, o.closers = db, append(o.closers, db)
	return db.Migrate(ctx)
}
