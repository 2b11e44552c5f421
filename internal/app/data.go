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
}

// Store is a database of plants, keys, the catalogue and troubles.
type Store interface {
	plants.Store
	library.Catalogue
	access.Keys
	AddKey(ctx context.Context, k herb.Key) error
	Keys(ctx context.Context) ([]herb.Key, error)
	RevokeKey(ctx context.Context, id string, at time.Time) error
	SetTrouble(ctx context.Context, t herb.Trouble) error
	ClearTrouble(ctx context.Context, place string) error
	Troubles(ctx context.Context) ([]herb.Trouble, error)
	Ping(ctx context.Context) error
	Close() error
}

// The entries of a data folder.
const (
	databaseFile = "herbarium.db"
	versionsDir  = "versions"
)

// OpenData opens the data folder, and makes it if it is not there. Nobody but its owner can look into it.
func OpenData(ctx context.Context, c Config, log *slog.Logger) (*Data, error) {
	versions := filepath.Join(c.Data, versionsDir)
	if err := os.MkdirAll(versions, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	db, living, err := openStore(ctx, c)
	if err != nil {
		return nil, err
	}
	lib, err := library.Open(db, library.Options{
		Dir:    versions,
		Living: map[herb.Ref]library.Living{herb.PlantsRef: living},
		Keep:   c.Keep,
		Log:    log,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Data{Store: db, Library: lib}, nil
}

// openStore opens the database, and the plants in it as a dataset.
func openStore(ctx context.Context, c Config) (Store, library.Living, error) {
	if c.Database != "" {
		db, err := postgres.Open(ctx, string(c.Database), postgres.Options{})
		if err != nil {
			return nil, nil, err
		}
		return db, db.Plants(), nil
	}
	db, err := sqlite.Open(ctx, filepath.Join(c.Data, databaseFile), sqlite.Options{})
	if err != nil {
		return nil, nil, err
	}
	return db, db.Plants(), nil
}

// Close closes what OpenData has opened.
func (d *Data) Close() error { return errors.Join(d.Library.Close(), d.Store.Close()) }

// PublishOptions of a publish. The zero value publishes what breaks nobody.
type PublishOptions struct {
	AllowBreaking bool // let a version go live that breaks those who use the dataset
	Check         bool // do everything but the switch
	// Progress is told how far the publish is, from one goroutine at a time. nil: nobody is told.
	Progress func(Progress)
}

// Published is what came of a source. It is as complete as it could get before an error.
type Published struct {
	Dataset   herb.Dataset // without a version if it was only checked, or refused
	Unchanged bool         // the live version was made from the same content and settings
	Warnings  []string
	Replaces  string           // the version that was live; empty if there was none
	Changes   []library.Change // to that version, and what was found wrong
}

// Publish reads a source and puts it live, unless it has not changed since it was last published. An error of
// herb.CodeRefused says that it would do harm; Changes then has the reasons.
func (d *Data) Publish(ctx context.Context, s ingest.Source, opts PublishOptions) (Published, error) {
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
		Goldens:       s.Goldens,
		AllowBreaking: opts.AllowBreaking,
		Check:         opts.Check,
		Progress:      steps.build,
	})
	return Published{Dataset: out.Dataset, Warnings: t.Warnings(), Replaces: out.Replaces, Changes: out.Changes}, err
}
