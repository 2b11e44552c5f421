package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// ReplaceVersions replaces the versions of a dataset, provided that it has the versions named had,
// oldest first; otherwise the error is ErrSuperseded. Versions that are dropped are retired. A
// version that is retired is rejected, because its file may have been deleted, and so is one that
// was withdrawn. Withdrawn versions are added to those of the database.
func (s Tables) ReplaceVersions(ctx context.Context, d DatasetVersions, had []string, at time.Time) error {
	return s.write(ctx, "writing the versions of dataset "+d.Ref.String(), func(ctx context.Context, tx Tx) error {
		_, dropped, err := versionNames(ctx, tx, d.Ref)
		if err != nil && herb.CodeOf(err) != herb.CodeNotFound {
			return err
		}
		if !slices.Equal(dropped, had) {
			return ErrSuperseded
		}
		dropped = slices.DeleteFunc(dropped, func(v string) bool { return slices.Contains(d.VersionNames(), v) })
		if err := errors.Join(
			exec(ctx, tx, "DELETE FROM versions WHERE namespace = ? AND name = ?", d.Ref.Namespace, d.Ref.Name),
			setLive(ctx, tx, d.Ref, d.Live),
			retire(ctx, tx, at, dropped...),
		); err != nil {
			return err
		}
		for _, v := range d.Versions {
			if err := errors.Join(
				rejectWithdrawn(ctx, tx, v.Version), rejectRetired(ctx, tx, v.Version), nextGeneration(ctx, tx),
				insertVersion(ctx, tx, v),
			); err != nil {
				return err
			}
			for _, label := range v.Labels {
				if err := exec(ctx, tx, "INSERT INTO labels (namespace, name, label, version) VALUES (?, ?, ?, ?)",
					v.Namespace, v.Name, label, v.Version); err != nil {
					return err
				}
			}
		}
		return addWithdrawn(ctx, tx, d.Ref, d.Withdrawn)
	})
}

// RetireVersion prevents a version that is not in the catalogue from ever entering it. It reports
// false, and does nothing, if the version is in the catalogue. A retired version keeps its time.
func (s Tables) RetireVersion(ctx context.Context, version string, at time.Time) (retired bool, err error) {
	err = s.write(ctx, "retiring version "+version, func(ctx context.Context, tx Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM versions WHERE version = ?",
			version).Scan(&n); err != nil {
			return err
		}
		retired = n == 0
		if !retired {
			return nil
		}
		return retire(ctx, tx, at, version)
	})
	return retired && err == nil, err
}

// retire records that versions left the catalogue at a time.
func retire(ctx context.Context, tx Tx, at time.Time, versions ...string) error {
	var rows [][]any
	for _, v := range versions {
		rows = append(rows, []any{v, at.UnixMicro()})
	}
	return insert(ctx, tx, "retired (version, since)", rows, "ON CONFLICT (version) DO NOTHING")
}

// rejectRetired fails for a retired version.
func rejectRetired(ctx context.Context, tx Tx, version string) error {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM retired WHERE version = ?", version).Scan(&n)
	if err == nil && n > 0 {
		err = herb.Errorf(herb.CodeUnavailable,
			"version %q was retired because it did not go live in time; publish again", version)
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
