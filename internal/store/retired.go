package store

import (
	"context"
	"database/sql"
	"time"

	"herbarium/internal/herb"
)

// RetireVersion prevents a version that is not in the catalogue from ever entering it. It reports false, and does nothing,
// if the version is in the catalogue. A retired version keeps its time.
func (s Tables) RetireVersion(ctx context.Context, version string, at time.Time) (retired bool, err error) {
	err = s.write(ctx, "retiring version "+version, func(ctx context.Context, tx Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM versions WHERE version = ?", version).Scan(&n); err != nil {
			return err
		}
		if retired = n == 0; !retired {
			return nil
		}
		return retire(ctx, tx, version, at)
	})
	return retired && err == nil, err
}

// retire records a version as retired, unless the time is zero.
func retire(ctx context.Context, tx Tx, version string, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	return exec(ctx, tx, "INSERT INTO retired (version, since) VALUES (?, ?) ON CONFLICT (version) DO NOTHING", version, at.UnixMicro())
}

// rejectRetired fails for a retired version.
func rejectRetired(ctx context.Context, tx Tx, version string) error {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM retired WHERE version = ?", version).Scan(&n)
	if err == nil && n > 0 {
		err = herb.Errorf(herb.CodeUnavailable, "version %q was retired because it did not go live in time; publish again", version)
	}
	return err
}

// Retired returns all retired versions, ordered by name.
func (s Tables) Retired(ctx context.Context) ([]Retired, error) {
	return readRows(ctx, s, "reading retired versions", func(rows *sql.Rows) (r Retired, err error) {
		err = rows.Scan(&r.Version, (*stamp)(&r.Since))
		return r, err
	}, "SELECT version, since FROM retired ORDER BY version")
}

// ForgetRetired deletes the records of retired versions.
func (s Tables) ForgetRetired(ctx context.Context, versions []string) error {
	return s.write(ctx, "deleting records of retired versions", func(ctx context.Context, tx Tx) error {
		for _, v := range versions {
			if err := exec(ctx, tx, "DELETE FROM retired WHERE version = ?", v); err != nil {
				return err
			}
		}
		return nil
	})
}
