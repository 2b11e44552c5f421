package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/store/sqlite"
)

// Data is an opened data folder. Several processes may have the same folder open.
type Data struct {
	Store   *sqlite.Store
	Library *library.Library
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
	db, err := sqlite.Open(ctx, filepath.Join(c.Data, databaseFile), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	lib, err := library.Open(db, library.Options{
		Dir:    versions,
		Living: map[herb.Ref]library.Living{herb.PlantsRef: db.Plants()},
		Keep:   c.Keep,
		Log:    log,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Data{Store: db, Library: lib}, nil
}

// Close closes the folder.
func (d *Data) Close() error { return errors.Join(d.Library.Close(), d.Store.Close()) }

// Published is what came of a source.
type Published struct {
	Dataset   herb.Dataset
	Unchanged bool // the live version was made from the same content and settings
	Warnings  []string
}

// Publish reads a source and puts it live, unless it has not changed since it was last published.
func (d *Data) Publish(ctx context.Context, s ingest.Source) (Published, error) {
	live, err := d.Library.Describe(ctx, s.Ref)
	switch {
	case err == nil:
		hash, err := ingest.Hash(ctx, s, ingest.Options{})
		if err != nil {
			return Published{}, err
		}
		if live.Source == hash {
			return Published{Dataset: live, Unchanged: true}, nil
		}
	case herb.CodeOf(err) != herb.CodeNotFound: // what is not there yet need not be compared
		return Published{}, err
	}
	t, err := ingest.Inspect(ctx, s, ingest.Options{})
	if err != nil {
		return Published{}, err
	}
	ds, err := d.Library.Publish(ctx, t.Dataset(), t.Records(ctx))
	return Published{Dataset: ds, Warnings: t.Warnings()}, err
}
