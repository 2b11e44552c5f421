package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// DatasetVersions is a dataset with all its versions.
type DatasetVersions struct {
	herb.Ref
	Live     string         `json:"live"`     // the live version
	Versions []herb.Dataset `json:"versions"` // oldest first
}

// VersionNames returns the names of the versions, oldest first.
func (d DatasetVersions) VersionNames() []string {
	var names []string
	for _, v := range d.Versions {
		names = append(names, v.Version)
	}
	return names
}

// AllVersions returns the whole catalogue, ordered by ref.
func (s Tables) AllVersions(ctx context.Context) (all []DatasetVersions, err error) {
	err = s.read(ctx, "reading the catalogue", func(ctx context.Context, tx Tx) error {
		all, err = selectVersions(ctx, tx, "")
		return err
	})
	return all, err
}

func selectVersions(ctx context.Context, tx Tx, where string, args ...any) ([]DatasetVersions, error) {
	all, err := collect(ctx, tx, func(rows *sql.Rows) (d DatasetVersions, err error) {
		err = rows.Scan(&d.Ref.Namespace, &d.Ref.Name, &d.Live)
		return d, err
	}, "SELECT namespace, name, live FROM datasets "+where+" ORDER BY namespace, name", args...)
	for i := range all {
		d := &all[i]
		if d.Versions, err = collect(ctx, tx, scanDataset, "SELECT "+versionColumns+
			" FROM versions WHERE namespace = ? AND name = ? ORDER BY added", d.Ref.Namespace, d.Ref.Name); err != nil {
			return nil, err
		}
	}
	return all, err
}

// ReplaceVersions replaces the versions of a dataset, provided that it has the versions named had, oldest first; otherwise
// the error is ErrSuperseded. Versions that are dropped are retired at retireAt, unless that is zero. A version that is
// retired is rejected, because its file may have been deleted.
func (s Tables) ReplaceVersions(ctx context.Context, d DatasetVersions, had []string, retireAt time.Time) error {
	return s.write(ctx, "writing the versions of dataset "+d.Ref.String(), func(ctx context.Context, tx Tx) error {
		before, err := selectVersions(ctx, tx, "WHERE namespace = ? AND name = ?", d.Ref.Namespace, d.Ref.Name)
		if err != nil {
			return err
		}
		var names []string
		if len(before) > 0 {
			names = before[0].VersionNames()
		}
		if !slices.Equal(names, had) {
			return ErrSuperseded
		}
		for _, name := range names {
			if slices.Contains(d.VersionNames(), name) {
				continue
			}
			if err := retire(ctx, tx, name, retireAt); err != nil {
				return err
			}
		}
		if err := errors.Join(
			exec(ctx, tx, "DELETE FROM versions WHERE namespace = ? AND name = ?", d.Ref.Namespace, d.Ref.Name),
			setLive(ctx, tx, d.Ref, d.Live),
		); err != nil {
			return err
		}
		for _, v := range d.Versions {
			if err := rejectRetired(ctx, tx, v.Version); err != nil {
				return err
			}
			generation, err := nextGeneration(ctx, tx)
			if err != nil {
				return err
			}
			if err := insertVersion(ctx, tx, v, generation); err != nil {
				return err
			}
		}
		return nil
	})
}
