package store

import (
	"cmp"
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

const versionColumns = "namespace, name, version, title, description, access, fields, records, published, source, details"

// Datasets returns the live version of every dataset, ordered by ref.
func (s Tables) Datasets(ctx context.Context) ([]herb.Dataset, error) {
	return readRows(ctx, s, "reading the catalogue", scanDataset, "SELECT "+versionColumns+
		" FROM versions JOIN datasets USING (namespace, name) WHERE version = live ORDER BY namespace, name")
}

func scanDataset(rows *sql.Rows) (d herb.Dataset, err error) {
	var fields, details []byte
	if err := rows.Scan(&d.Namespace, &d.Name, &d.Version, &d.Title, &d.Description, &d.Access, &fields,
		&d.Records, (*stamp)(&d.Published), &d.Source, &details); err != nil {
		return herb.Dataset{}, err
	}
	if err := errors.Join(json.Unmarshal(fields, &d.Fields), json.Unmarshal(details, &d.Details)); err != nil {
		return herb.Dataset{}, fmt.Errorf("decode version %s of dataset %s: %w", d.Version, d.Ref, err)
	}
	return d, nil
}

// Generation returns a number that increases with every change of the catalogue.
func (s Tables) Generation(ctx context.Context) (n int64, err error) {
	err = s.read(ctx, "reading the catalogue's generation", func(ctx context.Context, tx Tx) error {
		return tx.QueryRowContext(ctx, "SELECT generation FROM catalogue").Scan(&n)
	})
	return n, err
}

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

// version returns the version with a name.
func (d DatasetVersions) version(name string) (herb.Dataset, error) {
	names := d.VersionNames()
	if i := slices.Index(names, name); i >= 0 {
		return d.Versions[i], nil
	}
	slices.Reverse(names)
	return herb.Dataset{}, herb.Errorf(herb.CodeNotFound, "dataset %q has no version %q; versions: %s", d.Ref, name, strings.Join(names, ", "))
}

// AllVersions returns the complete catalogue, ordered by ref.
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

// versionsOf returns the versions of a dataset. If there is no such dataset, they are empty and the error has
// herb.CodeNotFound.
func versionsOf(ctx context.Context, tx Tx, ref herb.Ref) (DatasetVersions, error) {
	all, err := selectVersions(ctx, tx, "WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name)
	if err == nil && len(all) == 0 {
		err = herb.Errorf(herb.CodeNotFound, "no such dataset %q", ref)
	}
	if err != nil {
		return DatasetVersions{}, err
	}
	return all[0], nil
}

// Version returns one version of a dataset; an empty name means the live one.
func (s Tables) Version(ctx context.Context, ref herb.Ref, version string) (d herb.Dataset, err error) {
	err = s.read(ctx, "reading a version of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		versions, err := versionsOf(ctx, tx, ref)
		if err != nil {
			return err
		}
		d, err = versions.version(cmp.Or(version, versions.Live))
		return err
	})
	return d, err
}

// History returns the versions of a dataset, newest first.
func (s Tables) History(ctx context.Context, ref herb.Ref) (history []Version, err error) {
	err = s.read(ctx, "reading the history of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		history = nil
		versions, err := versionsOf(ctx, tx, ref)
		for _, v := range slices.Backward(versions.Versions) {
			history = append(history, Version{v, v.Version == versions.Live})
		}
		return err
	})
	return history, err
}

// AddVersion stores a version of a dataset and makes it live, provided that live is the current live version; otherwise the
// error is ErrSuperseded. An empty live means that the dataset does not exist. An existing version is replaced and becomes
// the newest. A retired version is rejected: its file may be deleted.
func (s Tables) AddVersion(ctx context.Context, d herb.Dataset, live string) error {
	return s.write(ctx, "adding a version to dataset "+d.Ref.String(), func(ctx context.Context, tx Tx) error {
		switch now, err := versionsOf(ctx, tx, d.Ref); {
		case err != nil && herb.CodeOf(err) != herb.CodeNotFound:
			return err
		case now.Live != live:
			return ErrSuperseded
		}
		if err := rejectRetired(ctx, tx, d.Version); err != nil {
			return err
		}
		generation, err := nextGeneration(ctx, tx)
		if err != nil {
			return err
		}
		if err := errors.Join(
			setLive(ctx, tx, d.Ref, d.Version),
			deleteVersion(ctx, tx, d.Ref, d.Version),
			exec(ctx, tx, "DELETE FROM troubles WHERE namespace = ? AND name = ?", d.Namespace, d.Name),
			insertVersion(ctx, tx, d, generation),
		); err != nil {
			return err
		}
		return addAudit(ctx, tx, herb.AuditEntry{
			Action: herb.AuditPublished, Subject: d.Ref.String(),
			Detail: fmt.Sprintf("version %s, %d records, access %s", d.Version, d.Records, d.Access),
		})
	})
}

// setLive sets the live version of a dataset, which may be new.
func setLive(ctx context.Context, tx Tx, ref herb.Ref, version string) error {
	return exec(ctx, tx, "INSERT INTO datasets (namespace, name, live) VALUES (?, ?, ?) "+
		"ON CONFLICT (namespace, name) DO UPDATE SET live = excluded.live", ref.Namespace, ref.Name, version)
}

func deleteVersion(ctx context.Context, tx Tx, ref herb.Ref, version string) error {
	return exec(ctx, tx, "DELETE FROM versions WHERE namespace = ? AND name = ? AND version = ?", ref.Namespace, ref.Name, version)
}

// insertVersion inserts a version with its generation.
func insertVersion(ctx context.Context, tx Tx, d herb.Dataset, generation int64) error {
	fields, err1 := json.Marshal(d.Fields)
	details, err2 := json.Marshal(d.Details)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("encode version %s of dataset %s: %w", d.Version, d.Ref, err)
	}
	return exec(ctx, tx, "INSERT INTO versions ("+versionColumns+", added) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		d.Namespace, d.Name, d.Version, d.Title, d.Description, string(d.Access), string(fields),
		d.Records, d.Published.UnixMicro(), d.Source, string(details), generation)
}

// nextGeneration increments and returns the generation of the catalogue.
func nextGeneration(ctx context.Context, tx Tx) (n int64, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE catalogue SET generation = generation + 1 RETURNING generation").Scan(&n)
	return n, err
}

// SetLive makes another version of a dataset live, older or newer, provided that live is the current live version; otherwise
// the error is ErrSuperseded. It does nothing if the version is already live.
func (s Tables) SetLive(ctx context.Context, ref herb.Ref, version, live string) error {
	return s.write(ctx, "switching dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		versions, err := versionsOf(ctx, tx, ref)
		if err == nil {
			_, err = versions.version(version)
		}
		switch {
		case err != nil || versions.Live == version:
			return err
		case versions.Live != live:
			return ErrSuperseded
		}
		if _, err := nextGeneration(ctx, tx); err != nil {
			return err
		}
		if err := setLive(ctx, tx, ref, version); err != nil {
			return err
		}
		return addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditRolledBack, Subject: ref.String(), Detail: "version " + version})
	})
}

// RemoveDataset removes a dataset with all its versions and retires them at a time; the zero time retires none.
func (s Tables) RemoveDataset(ctx context.Context, ref herb.Ref, at time.Time) error {
	return s.write(ctx, "removing dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		versions, err := versionsOf(ctx, tx, ref)
		if err != nil {
			return err
		}
		if _, err := nextGeneration(ctx, tx); err != nil {
			return err
		}
		names := versions.VersionNames()
		if err := retire(ctx, tx, at, names...); err != nil {
			return err
		}
		if err := exec(ctx, tx, "DELETE FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name); err != nil {
			return err
		}
		return addAudit(ctx, tx, herb.AuditEntry{
			Action: herb.AuditRemoved, Subject: ref.String(), Detail: fmt.Sprintf("%d versions", len(names)),
		})
	})
}

// PruneVersions removes all but the newest versions of a dataset, never the live one, and returns their names. It retires
// them at a time; the zero time retires none.
func (s Tables) PruneVersions(ctx context.Context, ref herb.Ref, keep int, at time.Time) (dropped []string, err error) {
	err = s.write(ctx, "pruning dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		versions, err := versionsOf(ctx, tx, ref)
		if err != nil {
			return err
		}
		dropped = versions.VersionNames()
		slices.Reverse(dropped)
		dropped = slices.DeleteFunc(dropped[min(keep, len(dropped)):], func(v string) bool { return v == versions.Live })
		for _, v := range dropped {
			if err := deleteVersion(ctx, tx, ref, v); err != nil {
				return err
			}
		}
		if len(dropped) > 0 {
			_, err = nextGeneration(ctx, tx)
		}
		return errors.Join(err, retire(ctx, tx, at, dropped...))
	})
	if err != nil {
		return nil, err
	}
	return dropped, nil
}

// Versions returns the names of all versions of all datasets.
func (s Tables) Versions(ctx context.Context) ([]string, error) {
	return readRows(ctx, s, "reading versions", scanValue[string], "SELECT DISTINCT version FROM versions ORDER BY version")
}
