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
		found, err := collect(ctx, tx, scanDataset, "SELECT "+versionColumns+
			" FROM versions WHERE namespace = ? AND name = ? AND version = ?", ref.Namespace, ref.Name, name)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			d = found[0]
			return nil
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
	return collect(ctx, tx, func(rows *sql.Rows) (v Version, err error) {
		v.Dataset, err = scanDataset(rows)
		v.Live = v.Version == live
		return v, err
	}, "SELECT "+versionColumns+" FROM versions WHERE namespace = ? AND name = ? ORDER BY added DESC", ref.Namespace, ref.Name)
}

// liveVersion returns the name of a dataset's live version.
func liveVersion(ctx context.Context, tx Tx, ref herb.Ref) (live string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT live FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name).Scan(&live)
	if errors.Is(err, sql.ErrNoRows) {
		err = herb.Errorf(herb.CodeNotFound, "no such dataset %q", ref)
	}
	return live, err
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
			if err := setLive(ctx, tx, ref, version); err != nil {
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
		versions, err := history(ctx, tx, ref)
		if err != nil {
			return err
		}
		if _, err := nextGeneration(ctx, tx); err != nil {
			return err
		}
		for _, v := range versions {
			if err := retire(ctx, tx, v.Version, at); err != nil {
				return err
			}
		}
		if err := exec(ctx, tx, "DELETE FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name); err != nil {
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
			if err := errors.Join(deleteVersion(ctx, tx, ref, v.Version), retire(ctx, tx, v.Version, at)); err != nil {
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
func (s Tables) Versions(ctx context.Context) ([]string, error) {
	return readRows(ctx, s, "reading versions", scanValue[string], "SELECT DISTINCT version FROM versions ORDER BY version")
}
