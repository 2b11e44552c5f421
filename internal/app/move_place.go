package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// Place is where everything is kept: in a data folder, or in a database and an object store.
type Place struct {
	Folder   string  // empty: it is the others
	Database Address // PostgreSQL
	Blobs    Address // the object store beside it
}

// IsDatabase reports whether a place is a database and no folder.
func IsDatabase(s string) bool { return Address(s).isPostgres() }

// ParsePlace reads where something is kept. The address of the object store belongs to a database.
func ParsePlace(s string, blobs Address) (Place, error) {
	switch database := IsDatabase(s); {
	case s == "":
		return Place{}, herb.Invalidf("it is empty; write a data folder or postgres://user@host:5432/database")
	case database && blobs == "":
		return Place{}, herb.Invalidf("%s is a database; say where the published files beside it are with --blobs, "+
			"such as s3://bucket or file:///a/shared/folder", Address(s))
	case database:
		return Place{Database: Address(s), Blobs: blobs}, nil
	case blobs != "":
		return Place{}, herb.Invalidf("%s is a data folder, which has its published files in itself; leave the address of the "+
			"object store out", Address(s))
	default:
		return Place{Folder: filepath.Clean(s)}, nil
	}
}

// String names the place, without secrets.
func (p Place) String() string {
	if p.Folder != "" {
		return p.Folder
	}
	return p.Database.String() + " and " + p.Blobs.String()
}

// moveReader is what a move reads in a database.
type moveReader interface {
	CountPlants(ctx context.Context) (int, error)
	PlantsAfter(ctx context.Context, n, limit int) ([]herb.NewPlant, error)
	RetriesAfter(ctx context.Context, span store.RetrySpan, after store.Retry, limit int) ([]store.UsedRetry, error)
	Keys(ctx context.Context) ([]herb.Key, error)
	Chronicles(ctx context.Context) ([]store.Chronicle, error)
	Retired(ctx context.Context) ([]store.Retired, error)
}

// moveStore is a database that something is moved into.
type moveStore interface {
	moveReader
	AddPlants(ctx context.Context, n, count int, plants iter.Seq2[[]herb.NewPlant, error]) error
	AddRetries(ctx context.Context, retries []store.UsedRetry) error
	AddKeys(ctx context.Context, keys []herb.Key) error
	RevokeKey(ctx context.Context, id string, at time.Time) error
	TouchKeys(ctx context.Context, used map[string]time.Time) error
	SetChronicle(ctx context.Context, c store.Chronicle, had []string, at time.Time) error
	ForgetRetired(ctx context.Context, versions []string) error
}

// side is one of the two places of a move.
type side struct {
	store moveStore
	files moveFiles
	close func() error
}

// retireAt is when versions are retired that leave the catalogue of this side now. In a folder nobody needs to know.
func (s side) retireAt(now time.Time) time.Time {
	if _, ok := s.files.(folder); ok {
		return time.Time{}
	}
	return now
}

// openSide opens a place. A folder that is not there is made, unless it must be there.
func openSide(ctx context.Context, p Place, exists bool) (side, error) {
	if p.Folder == "" {
		return openCluster(ctx, p)
	}
	path := filepath.Join(p.Folder, databaseFile)
	if _, err := os.Stat(path); exists && errors.Is(err, fs.ErrNotExist) {
		return side{}, herb.Errorf(herb.CodeNotFound, "%q is no data folder: it has no %s", p.Folder, databaseFile)
	}
	files := folder(filepath.Join(p.Folder, versionsDir))
	if err := os.MkdirAll(string(files), 0o700); err != nil {
		return side{}, fmt.Errorf("making the data folder: %w", err)
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return side{}, err
	}
	return side{store: db, files: files, close: db.Close}, nil
}

func openCluster(ctx context.Context, p Place) (side, error) {
	objects, err := blobs.Open(ctx, string(p.Blobs), blobs.Options{})
	if err != nil {
		return side{}, err
	}
	// Nobody waits for an answer, so the database may take its time.
	db, err := postgres.Open(ctx, string(p.Database), postgres.Options{StatementTimeout: time.Minute, Timeout: 2 * time.Minute})
	if err != nil {
		return side{}, errors.Join(err, objects.Close())
	}
	if err := db.Migrate(ctx); err != nil { // before anything is made elsewhere
		return side{}, errors.Join(err, db.Close(), objects.Close())
	}
	return side{store: db, files: bucket{objects}, close: func() error { return errors.Join(db.Close(), objects.Close()) }}, nil
}
