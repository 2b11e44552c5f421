package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"herbarium/internal/herb"
)

// migrations bring a database from one version to the next. The n-th file, in the order of their names, makes version n;
// a file that was released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the tables up to date, all steps or none.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return err
	}
	version, err := versionOf(ctx, db, len(steps))
	if err != nil || version == len(steps) {
		return err // a database that is up to date is not locked
	}
	return inTx(ctx, db, func(tx *sql.Tx) error {
		version, err := versionOf(ctx, tx, len(steps)) // another process may have been faster
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

// versionOf returns the version of the tables and refuses one that this program does not know.
func versionOf(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, latest int) (version int, err error) {
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if version < 0 || version > latest {
		return 0, herb.Invalidf("the database has version %d and this program knows versions up to %d; use a newer herbarium",
			version, latest)
	}
	return version, nil
}
