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

// Data is the open data of an installation, on one machine or shared by several. Several processes may have it open.
type Data struct {
	Store   Store
	Library *library.Library
	shared  *postgres.Store // Store, if it is shared with other machines and may be down
	dir     string          // the data folder, which is never published
	blobs   *blobs.Bucket   // nil if published files are in the data folder only
}

// Store is a database of plants, keys, the catalogue, source errors and the audit log.
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

// OpenData opens the data folder, and creates it if it does not exist, and what it shares with other machines. Only its
// owner can access the folder.
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

// openData is OpenData for callers that tolerate a database that is down. wait is how long a look-up waits for a fetch, as
// in library.Options.
func openData(ctx context.Context, c Config, log *slog.Logger, wait time.Duration) (_ *Data, err error) {
	versions := filepath.Join(c.Data, versionsDir)
	if err := os.MkdirAll(versions, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
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
	var mutable library.Mutable
	if mutable, err = d.openStore(ctx, c); err != nil {
		return nil, err
	}
	opts.Mutable = map[herb.Ref]library.Mutable{herb.PlantsRef: mutable}
	d.Library, err = library.Open(d.Store, opts)
	return d, err
}

// migrate applies schema migrations to a shared database, or explains why it cannot be used. Calling it is optional.
func (d *Data) migrate(ctx context.Context) error {
	if d.shared == nil {
		return nil
	}
	return d.shared.Migrate(ctx)
}

// openStore opens the database and returns its plants as a dataset.
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

// Close closes everything that OpenData opened.
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

// PublishOptions configure a publish. The zero value rejects breaking changes.
type PublishOptions struct {
	AllowBreaking bool // accept breaking changes
	Check         bool // do everything except making the version live
	// KeepRolledBack skips a source that was published last and rolled back, until it changes.
	KeepRolledBack bool
	// Progress is called by one goroutine at a time. nil disables it.
	Progress func(Progress)
}

// Published is the result of publishing a source. After an error, it is as complete as possible.
type Published struct {
	Dataset   herb.Dataset // without a version if it was only checked, or rejected
	Unchanged bool         // the live version, or RolledBack, was built from the same content and settings
	// RolledBack is the version that was built from the same content and settings and rolled back; empty if there is none.
	RolledBack string
	Warnings   []string
	Replaces   string           // the previous live version; empty if there was none
	Changes    []library.Change // relative to that version, and problems of the new one
}

// Publish reads a source and makes it live, unless it has not changed since it was last published. An error with
// herb.CodeRefused means that it was rejected; Changes then contains the reasons.
//
// A panic becomes a *herb.PanicError; nothing has changed then.
func (d *Data) Publish(ctx context.Context, s ingest.Source, opts PublishOptions) (_ Published, err error) {
	if !opts.Check {
		defer func() { d.AuditFailure(ctx, herb.AuditPublished, s.Ref, err) }()
	}
	defer herb.Recover(&err)
	steps := newSteps(opts.Progress, d.Library.Phases())
	pass := steps.bytes(phaseRead)
	t, err := ingest.Inspect(ctx, s, ingest.Options{Temp: d.dir, Progress: func(read, size int64) { pass(read, size) }})
	if err != nil {
		return Published{}, err
	}
	defer t.Close()
	if p, err := d.unchanged(ctx, s.Ref, t.Dataset().Source, opts); err != nil || p.Unchanged {
		return p, err
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

// unchanged reports whether the live version, or the one that was rolled back, was built from a source with this hash.
func (d *Data) unchanged(ctx context.Context, ref herb.Ref, hash string, opts PublishOptions) (Published, error) {
	live, err := d.Library.Describe(ctx, ref)
	switch {
	case herb.CodeOf(err) == herb.CodeNotFound:
		return Published{}, nil
	case err != nil:
		return Published{}, err
	case live.Source == hash:
		return Published{Dataset: live, Unchanged: true}, nil
	case !opts.KeepRolledBack:
		return Published{}, nil
	}
	newest, err := d.Library.Newest(ctx, ref)
	if err != nil || newest.Source != hash {
		return Published{}, err
	}
	return Published{Dataset: live, Unchanged: true, RolledBack: newest.Version}, nil
}
