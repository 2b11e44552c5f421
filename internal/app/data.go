package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/plants"
	"herbarium/internal/segment"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// Data is all that a program keeps, on one machine or on many. Several processes may have the same data open.
type Data struct {
	Store   Store
	Library *library.Library
	shared  *postgres.Store // Store, if other machines use it too and it may be away for a while
	dir     string          // the data folder, which is never published
	blobs   *blobs.Bucket   // nil: published files are in the data folder alone
}

// Store is a database of plants, keys, the catalogue and troubles.
type Store interface {
	plants.Store
	library.Catalogue
	access.Keys
	AddKey(ctx context.Context, k herb.Key) error
	RevokeKey(ctx context.Context, id string, at time.Time) error
	AddAuditEntry(ctx context.Context, e herb.AuditEntry) error
	AuditEntries(ctx context.Context, q herb.AuditQuery) ([]herb.AuditEntry, error)
	SetSourceError(ctx context.Context, t herb.SourceError) error
	ClearSourceError(ctx context.Context, place string) error
	SourceErrors(ctx context.Context) ([]herb.SourceError, error)
	Ping(ctx context.Context) error
	Close() error
}

// The entries of a data folder.
const (
	databaseFile = "herbarium.db"
	versionsDir  = "versions"
)

// OpenData opens the data folder, and makes it if it is not there, and what it shares with other machines. Nobody but its
// owner can look into the folder.
func OpenData(ctx context.Context, c Config, log *slog.Logger) (*Data, error) {
	d, err := openData(ctx, c, log, -1)
	if err != nil {
		return nil, err
	}
	if err := d.migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// openData is OpenData for those who can do without a database that does not answer. wait is how long a look-up waits for
// what must be fetched, as in library.Options.
func openData(ctx context.Context, c Config, log *slog.Logger, wait time.Duration) (_ *Data, err error) {
	versions := filepath.Join(c.Data, versionsDir)
	if err := os.MkdirAll(versions, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	d := &Data{dir: c.Data}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	opts := library.Options{Dir: versions, Keep: c.Keep, Log: log, CacheSize: c.CacheSize, Retention: c.Retention, Wait: wait}
	if c.Blobs != "" {
		if d.blobs, err = blobs.Open(ctx, string(c.Blobs), blobs.Options{}); err != nil {
			return nil, err
		}
		opts.Blobs = d.blobs
	}
	var living library.Mutable
	if living, err = d.openStore(ctx, c); err != nil {
		return nil, err
	}
	opts.Mutable = map[herb.Ref]library.Mutable{herb.PlantsRef: living}
	d.Library, err = library.Open(d.Store, opts)
	return d, err
}

// migrate brings the tables of a shared database up to date, or says why it cannot be used. It need not be called.
func (d *Data) migrate(ctx context.Context) error {
	if d.shared == nil {
		return nil
	}
	return d.shared.Migrate(ctx)
}

// openStore opens the database, and returns the plants in it as a dataset.
func (d *Data) openStore(ctx context.Context, c Config) (library.Mutable, error) {
	if c.Database != "" {
		db, err := postgres.Open(ctx, string(c.Database), postgres.Options{})
		if err != nil {
			return nil, err
		}
		d.Store, d.shared = db, db
		return db.Plants(), nil
	}
	db, err := sqlite.Open(ctx, filepath.Join(c.Data, databaseFile), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	d.Store = db
	return db.Plants(), nil
}

// Close closes what OpenData has opened.
func (d *Data) Close() error {
	var errs []error
	if d.Library != nil {
		errs = append(errs, d.Library.Close())
	}
	if d.Store != nil {
		errs = append(errs, d.Store.Close())
	}
	if d.blobs != nil {
		errs = append(errs, d.blobs.Close())
	}
	return errors.Join(errs...)
}

// PublishOptions of a publish. The zero value publishes what breaks nobody.
type PublishOptions struct {
	AllowBreaking bool // let a version go live that breaks those who use the dataset
	Check         bool // do everything but the switch
	// KeepRolledBack leaves a source alone that was published last and then rolled back, until it changes.
	KeepRolledBack bool
	// Progress is told how far the publish is, from one goroutine at a time. nil: nobody is told.
	Progress func(Progress)
}

// Published is what came of a source. It is as complete as it could get before an error.
type Published struct {
	Dataset   herb.Dataset // without a version if it was only checked, or refused
	Unchanged bool         // the live version was made from the same content and settings, or RolledBack
	// RolledBack is the version that was made from the same content and settings and rolled back; empty: there is none.
	RolledBack string
	Warnings   []string
	Replaces   string           // the version that was live; empty if there was none
	Changes    []library.Change // to that version, and what was found wrong
}

// Publish reads a source and puts it live, unless it has not changed since it was last published. An error of
// herb.CodeRefused says that it would do harm; Changes then has the reasons.
//
// A panic becomes a *herb.PanicError; nothing has changed then.
func (d *Data) Publish(ctx context.Context, s ingest.Source, opts PublishOptions) (_ Published, err error) {
	if !opts.Check {
		defer func() { d.AuditFailure(ctx, herb.AuditPublished, s.Ref, err) }()
	}
	defer herb.Recover(&err)
	steps := newSteps(opts.Progress, d.Library.Phases())
	live, err := d.Library.Describe(ctx, s.Ref)
	switch {
	case err == nil:
		hash, err := ingest.Hash(ctx, s, ingest.Options{Progress: steps.bytes(phaseHash)})
		if err != nil {
			return Published{}, err
		}
		if live.Source == hash {
			return Published{Dataset: live, Unchanged: true}, nil
		}
		if opts.KeepRolledBack {
			newest, err := d.Library.Newest(ctx, s.Ref)
			if err != nil {
				return Published{}, err
			}
			if newest.Source == hash {
				return Published{Dataset: live, Unchanged: true, RolledBack: newest.Version}, nil
			}
		}
	case herb.CodeOf(err) != herb.CodeNotFound: // what is not there yet need not be compared
		return Published{}, err
	}
	pass := steps.bytes(phaseInspect)
	t, err := ingest.Inspect(ctx, s, ingest.Options{Progress: func(read, size int64) { pass(read, size) }})
	if err != nil {
		return Published{}, err
	}
	pass = steps.bytes(segment.PhaseReading)
	out, err := d.Library.Publish(ctx, library.Publication{
		Dataset:       t.Dataset(),
		Records:       t.Records(ctx),
		Expectations:  s.Expectations,
		AccessSet:     s.AccessSet,
		Origins:       originsOf(s),
		AllowBreaking: opts.AllowBreaking,
		Check:         opts.Check,
		Progress:      steps.build,
	})
	return Published{Dataset: out.Dataset, Warnings: t.Warnings(), Replaces: out.Replaces, Changes: out.Changes}, err
}
