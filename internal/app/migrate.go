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
		s := &steps{report: o.Progress, all: migrate.Phases()}
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
	var source, target opened
	defer func() { err = errors.Join(err, source.close(), target.close()) }()
	if err := source.openPlace(ctx, from, true); err != nil {
		return migrate.Result{}, fmt.Errorf("source: %w", err)
	}
	if err := target.openPlace(ctx, to, o.Check); err != nil {
		return migrate.Result{}, fmt.Errorf("target: %w", err)
	}
	return migrate.Copy(ctx, source.Installation, target.Installation, o.options())
}

// The entries of the folder of a dump.
const (
	dumpFile     = "dump.ndjson"
	dumpSegments = "segments"
)

// Dump writes everything of a place to a folder, which it creates. program is the version of the program.
func Dump(ctx context.Context, from Place, dir, program string, o MigrateOptions) (_ migrate.Result, err error) {
	var source, dump opened
	defer func() { err = errors.Join(err, source.close(), dump.close()) }()
	if err := source.openPlace(ctx, from, true); err != nil {
		return migrate.Result{}, err
	}
	if err := dump.openFiles(ctx, "", filepath.Join(dir, dumpSegments)); err != nil {
		return migrate.Result{}, err
	}
	header := migrate.Header{Format: migrate.FormatVersion, Created: time.Now().UTC(), Program: program}
	return migrate.Save(ctx, source.Installation, filepath.Join(dir, dumpFile), dump.Files, header, o.options())
}

// Load loads a dump into a place; see migrate.Load for its guarantees.
func Load(ctx context.Context, dir string, to Place, o MigrateOptions) (_ migrate.Result, err error) {
	source, err := migrate.OpenDump(ctx, filepath.Join(dir, dumpFile))
	if err != nil {
		return migrate.Result{}, err
	}
	var dump, target opened
	defer func() { err = errors.Join(err, dump.close(), target.close()) }()
	if err := dump.openFiles(ctx, "", filepath.Join(dir, dumpSegments)); err != nil {
		return migrate.Result{}, err
	}
	if err := target.openPlace(ctx, to, o.Check); err != nil {
		return migrate.Result{}, err
	}
	return migrate.Load(ctx, source, dump.Files, target.Installation, o.options())
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
func (o *opened) openPlace(ctx context.Context, p Place, exists bool) error {
	path := filepath.Join(p.Folder, databaseFile)
	if _, err := os.Stat(path); p.Database == "" && exists && errors.Is(err, fs.ErrNotExist) {
		return herb.Errorf(herb.CodeNotFound, "%q is not a data folder: it has no %s", p.Folder, databaseFile)
	}
	if err := o.openFiles(ctx, p.Blobs, filepath.Join(p.Folder, versionsDir)); err != nil {
		return err
	}
	if p.Database == "" {
		db, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err == nil {
			o.Store, o.closers = db, append(o.closers, db)
		}
		return err
	}
	// Batches are larger than those of a server.
	db, err := postgres.Open(ctx, string(p.Database), postgres.Options{StatementTimeout: time.Minute, Timeout: 2 * time.Minute})
	if err != nil {
		return err
	}
	o.Store, o.closers = db, append(o.closers, db)
	return db.Migrate(ctx)
}

// openFiles opens the object store at an address. If there is none, it opens a folder, which it creates.
func (o *opened) openFiles(ctx context.Context, address Address, dir string) (err error) {
	if address == "" {
		if o.Files.Dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(o.Files.Dir, 0o700); err != nil {
			return err
		}
		folder := url.URL{Scheme: "file", Path: filepath.ToSlash(o.Files.Dir)}
		address = Address(folder.String())
	}
	objects, err := blobs.Open(ctx, string(address), blobs.Options{})
	if err == nil {
		o.Files.Objects, o.closers = objects, append(o.closers, objects)
	}
	return err
}
