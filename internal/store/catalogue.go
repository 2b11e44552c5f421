package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Datasets returns the live version of every dataset, ordered by ref.
func (s Tables) Datasets(ctx context.Context) (datasets []herb.Dataset, err error) {
	err = s.read(ctx, "reading the catalogue", func(ctx context.Context, tx Tx) error {
		datasets = nil
		rows, err := tx.QueryContext(ctx, "SELECT v.namespace, v.name, v.version, v.title, v.description, v.access, v.fields, "+
			"v.records, v.published, v.source, v.details FROM datasets d JOIN versions v "+
			"ON v.namespace = d.namespace AND v.name = d.name AND v.version = d.live ORDER BY d.namespace, d.name")
		if err != nil {
			return err
		}
		return eachRow(rows, func() error {
			d, err := scanDataset(rows)
			datasets = append(datasets, d)
			return err
		})
	})
	return datasets, err
}

func scanDataset(rows *sql.Rows) (d herb.Dataset, err error) {
	var fields, details []byte
	var published sql.Null[int64]
	if err := rows.Scan(&d.Namespace, &d.Name, &d.Version, &d.Title, &d.Description, &d.Access, &fields,
		&d.Records, &published, &d.Source, &details); err != nil {
		return herb.Dataset{}, err
	}
	if err := json.Unmarshal(fields, &d.Fields); err != nil {
		return herb.Dataset{}, fmt.Errorf("the fields of version %s of dataset %s: %w", d.Version, d.Ref, err)
	}
	if err := json.Unmarshal(details, &d.Details); err != nil {
		return herb.Dataset{}, fmt.Errorf("the details of version %s of dataset %s: %w", d.Version, d.Ref, err)
	}
	d.Published = timeOf(published)
	return d, nil
}

// Generation returns a number that increases with every change of the catalogue.
func (s Tables) Generation(ctx context.Context) (n int64, err error) {
	err = s.read(ctx, "reading the catalogue's generation", func(ctx context.Context, tx Tx) error {
		return tx.QueryRowContext(ctx, "SELECT generation FROM catalogue").Scan(&n)
	})
	return n, err
}

// Version returns one version of a dataset; an empty name means the live one.
func (s Tables) Version(ctx context.Context, ref herb.Ref, version string) (d herb.Dataset, err error) {
	err = s.read(ctx, "reading a version of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		name := version
		live, err := liveVersion(ctx, tx, ref)
		if err != nil {
			return err
		}
		if name == "" {
			name = live
		}
		rows, err := tx.QueryContext(ctx, "SELECT namespace, name, version, title, description, access, fields, "+
			"records, published, source, details FROM versions WHERE namespace = ? AND name = ? AND version = ?",
			ref.Namespace, ref.Name, name)
		if err != nil {
			return err
		}
		found := false
		if err := eachRow(rows, func() (err error) {
			found = true
			d, err = scanDataset(rows)
			return err
		}); err != nil || found {
			return err
		}
		versions, err := history(ctx, tx, ref)
		if err != nil {
			return err
		}
		return noVersion(ref, name, versions)
	})
	return d, err
}

func noVersion(ref herb.Ref, version string, versions []Version) error {
	names := make([]string, len(versions))
	for i, v := range versions {
		names[i] = v.Version
	}
	return herb.Errorf(herb.CodeNotFound, "dataset %q has no version %q; versions: %s", ref, version, strings.Join(names, ", "))
}

// AddVersion stores a version of a dataset and makes it live, provided that live is the current live version; otherwise the
// error is ErrSuperseded. An empty live means that the dataset does not exist. An existing version is replaced and becomes
// the newest. A retired version is rejected: its file may be deleted.
func (s Tables) AddVersion(ctx context.Context, d herb.Dataset, live string) error {
	return s.write(ctx, "adding a version to dataset "+d.Ref.String(), func(ctx context.Context, tx Tx) error {
		switch now, err := liveVersion(ctx, tx, d.Ref); {
		case err != nil && herb.CodeOf(err) != herb.CodeNotFound:
			return err
		case now != live:
			return ErrSuperseded
		}
		if err := rejectRetired(ctx, tx, d.Version); err != nil {
			return err
		}
		generation, err := nextGeneration(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO datasets (namespace, name, live) VALUES (?, ?, ?) "+
			"ON CONFLICT (namespace, name) DO UPDATE SET live = excluded.live", d.Namespace, d.Name, d.Version); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE namespace = ? AND name = ? AND version = ?",
			d.Namespace, d.Name, d.Version); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM troubles WHERE namespace = ? AND name = ?", d.Namespace, d.Name); err != nil {
			return err
		}
		if err := insertVersion(ctx, tx, d, generation); err != nil {
			return err
		}
		return addAudit(ctx, tx, herb.AuditEntry{
			Action: herb.AuditPublished, Subject: d.Ref.String(),
			Detail: fmt.Sprintf("version %s, %d records, access %s", d.Version, d.Records, d.Access),
		})
	})
}

// insertVersion inserts a version with its generation.
func insertVersion(ctx context.Context, tx Tx, d herb.Dataset, generation int64) error {
	fields, err := json.Marshal(d.Fields)
	if err != nil {
		return fmt.Errorf("the fields of dataset %s: %w", d.Ref, err)
	}
	details, err := json.Marshal(d.Details)
	if err != nil {
		return fmt.Errorf("the details of dataset %s: %w", d.Ref, err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO versions (namespace, name, version, title, description, access, fields, "+
		"records, published, source, details, added) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		d.Namespace, d.Name, d.Version, d.Title, d.Description, string(d.Access), string(fields),
		d.Records, d.Published.UnixMicro(), d.Source, string(details), generation)
	return err
}

// nextGeneration increments and returns the generation of the catalogue.
func nextGeneration(ctx context.Context, tx Tx) (n int64, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE catalogue SET generation = generation + 1 RETURNING generation").Scan(&n)
	return n, err
}

// History returns the versions of a dataset, newest first.
func (s Tables) History(ctx context.Context, ref herb.Ref) (versions []Version, err error) {
	err = s.read(ctx, "reading the history of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		versions, err = history(ctx, tx, ref)
		return err
	})
	return versions, err
}

func history(ctx context.Context, tx Tx, ref herb.Ref) (versions []Version, err error) {
	live, err := liveVersion(ctx, tx, ref)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT version, published, records FROM versions "+
		"WHERE namespace = ? AND name = ? ORDER BY added DESC", ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var v Version
		var published sql.Null[int64]
		err := rows.Scan(&v.Version, &published, &v.Records)
		v.Published, v.Live = timeOf(published), v.Version == live
		versions = append(versions, v)
		return err
	})
	return versions, err
}

// liveVersion returns the name of a dataset's live version.
func liveVersion(ctx context.Context, tx Tx, ref herb.Ref) (live string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT live FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name).Scan(&live)
	if errors.Is(err, sql.ErrNoRows) {
		err = noDataset(ref)
	}
	return live, err
}

func noDataset(ref herb.Ref) error {
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q", ref)
}

// SetLive makes another version of a dataset live, older or newer, provided that live is the current live version; otherwise
// the error is ErrSuperseded. It does nothing if the version is already live.
func (s Tables) SetLive(ctx context.Context, ref herb.Ref, version, live string) error {
	return s.write(ctx, "switching dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		versions, err := history(ctx, tx, ref)
		if err != nil {
			return err
		}
		for _, v := range versions {
			switch {
			case v.Version != version:
				continue
			case v.Live:
				return nil
			case !slices.ContainsFunc(versions, func(v Version) bool { return v.Live && v.Version == live }):
				return ErrSuperseded
			}
			if _, err := nextGeneration(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE datasets SET live = ? WHERE namespace = ? AND name = ?",
				version, ref.Namespace, ref.Name); err != nil {
				return err
			}
			return addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditRolledBack, Subject: ref.String(), Detail: "version " + version})
		}
		return noVersion(ref, version, versions)
	})
}

// RemoveDataset removes a dataset with all its versions and retires them at a time; the zero time retires none.
func (s Tables) RemoveDataset(ctx context.Context, ref herb.Ref, at time.Time) error {
	return s.write(ctx, "removing dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		if _, err := liveVersion(ctx, tx, ref); err != nil {
			return err
		}
		if _, err := nextGeneration(ctx, tx); err != nil {
			return err
		}
		versions, err := history(ctx, tx, ref)
		if err != nil {
			return err
		}
		for _, v := range versions {
			if err := retire(ctx, tx, v.Version, at); err != nil {
				return err
			}
		}
		if _, err = tx.ExecContext(ctx, "DELETE FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name); err != nil {
			return err
		}
		return addAudit(ctx, tx, herb.AuditEntry{
			Action: herb.AuditRemoved, Subject: ref.String(), Detail: fmt.Sprintf("%d versions", len(versions)),
		})
	})
}

// PruneVersions removes all but the newest versions of a dataset, never the live one, and returns their names. It retires
// them at a time; the zero time retires none.
func (s Tables) PruneVersions(ctx context.Context, ref herb.Ref, keep int, at time.Time) (dropped []string, err error) {
	err = s.write(ctx, "pruning dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		dropped = nil
		versions, err := history(ctx, tx, ref)
		if err != nil {
			return err
		}
		for i, v := range versions {
			if i < keep || v.Live {
				continue
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE namespace = ? AND name = ? AND version = ?",
				ref.Namespace, ref.Name, v.Version); err != nil {
				return err
			}
			if err := retire(ctx, tx, v.Version, at); err != nil {
				return err
			}
			dropped = append(dropped, v.Version)
		}
		if len(dropped) > 0 {
			_, err = nextGeneration(ctx, tx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return dropped, nil
}

// Versions returns the names of all versions of all datasets.
func (s Tables) Versions(ctx context.Context) (names []string, err error) {
	err = s.read(ctx, "reading versions", func(ctx context.Context, tx Tx) error {
		names = nil
		rows, err := tx.QueryContext(ctx, "SELECT DISTINCT version FROM versions ORDER BY version")
		if err != nil {
			return err
		}
		return eachRow(rows, func() error {
			var name string
			err := rows.Scan(&name)
			names = append(names, name)
			return err
		})
	})
	return names, err
}
