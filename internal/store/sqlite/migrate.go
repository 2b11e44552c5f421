package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// migrations upgrade the schema. The n-th file, in name order, upgrades to version n; a released file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the missing schema migrations in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return err
	}
	version, err := versionOf(ctx, db, len(steps))
	if err != nil || version == len(steps) {
		return err // an up-to-date database is not locked
	}
	return inTx(ctx, db, func(tx *sql.Tx) error {
		version, err := versionOf(ctx, tx, len(steps)) // another process may have migrated it meanwhile
		if err != nil {
			return err
		}
		for _, name := range steps[version:] {
			step, err := migrations.ReadFile(name)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(step)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps)))
		return err
	})
}

// versionOf returns the schema version and rejects unknown ones.
func versionOf(ctx context.Context, q store.Tx, latest int) (version int, err error) {
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if version < 0 || version > latest {
		return 0, herb.Invalidf("the database has version %d and this program knows versions up to %d; use a newer herbarium",
			version, latest)
	}
	return version, nil
}

// Inspection describes a database file.
type Inspection struct {
	Version int    // of its schema
	Latest  int    // version of the schema that this program uses
	Damage  string // the first problem that SQLite found; empty if there is none
}

// Inspect reads the schema version of a database and checks its structure. Unlike Open, it neither creates nor migrates it.
// Servers may use the database at the same time.
func Inspect(ctx context.Context, path string) (i Inspection, err error) {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return i, err
	}
	i.Latest = len(steps)
	db, err := connect(path, busyTimeout, url.Values{"mode": {"rw"}, "_pragma": {"query_only(1)"}})
	if err != nil {
		return i, mapError("opening the database "+path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if i.Version, err = versionOf(ctx, db, i.Latest); err != nil {
		return i, mapError("opening the database "+path, err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&i.Damage); err != nil {
		return i, mapError("checking the database "+path, err)
	}
	if i.Damage == "ok" {
		i.Damage = ""
	}
	return i, nil
}
