package store

import (
	"bytes"
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

// Changes are the datasets that changed since a generation of the catalogue.
type Changes struct {
	Generation int64              // of the catalogue now; increases with every change
	Complete   bool               // Datasets is the complete catalogue
	Datasets   []herb.LiveVersion // ordered by ref if complete
	Withdrawn  []string           // names of versions
}

// Changes returns what changed since a generation. It returns the complete catalogue if that is
// negative, or later than the generation of the catalogue, which then is another one. The database
// maintains the table live_versions.
func (s Tables) Changes(ctx context.Context, since int64) (c Changes, err error) {
	err = s.read(ctx, "reading the catalogue", func(ctx context.Context, tx Tx) error {
		c = Changes{}
		if err := tx.QueryRowContext(ctx, "SELECT generation FROM catalogue").Scan(&c.Generation); err != nil ||
			c.Generation == since {
			return err
		}
		query, args := "WHERE l.generation > ?", []any{since}
		c.Complete = since < 0 || c.Generation < since
		if c.Complete {
			query, args = "WHERE l.version <> '' ORDER BY l.namespace, l.name", nil
		}
		c.Datasets, err = collect(ctx, tx, func(rows *sql.Rows) (v herb.LiveVersion, err error) {
			var summary []byte
			err = rows.Scan(&v.Namespace, &v.Name, &v.Version, &v.Records, (*stamp)(&v.Published), &v.Access, &summary)
			// few have one of them
			if err == nil && (bytes.Contains(summary, []byte(`"expected"`)) ||
				bytes.Contains(summary, []byte(`"fetch"`))) {
				err = json.Unmarshal(summary, &struct {
					Expected *herb.Frequency
					Fetch    *herb.FetchSource
				}{&v.Expected, &v.Fetch})
			}
			return v, err
		}, "SELECT l.namespace, l.name, l.version, l.records, CASE WHEN l.version <> '' THEN l.published END, "+
			"COALESCE(v.access, ''), COALESCE(v.summary, '') FROM live_versions AS l "+
			"LEFT JOIN versions AS v ON v.namespace = l.namespace AND v.name = l.name AND v.version = l.version "+
			query, args...)
		if err != nil {
			return err
		}
		if c.Complete {
			since = -1
		}
		c.Withdrawn, err = collect(ctx, tx, scanValue[string],
			"SELECT version FROM withdrawn WHERE generation > ? ORDER BY version", since)
		return err
	})
	return c, err
}

// The columns of a version. Details are large and only needed to open or describe one dataset.
const (
	summaryColumns = "namespace, name, version, title, description, access, fields, records, published, source"
	versionColumns = summaryColumns + ", details"
)

// Descriptions returns descriptions of versions, in any order: without details, or with order,
// primary key and descriptor. Unknown versions are left out.
func (s Tables) Descriptions(ctx context.Context, versions []herb.LiveVersion, details bool) (all []herb.Dataset,
	err error) {
	columns := summaryColumns + ", '{}'"
	if details {
		columns = versionColumns
	}
	err = s.read(ctx, "reading descriptions", func(ctx context.Context, tx Tx) error {
		all = nil
		for chunk := range slices.Chunk(versions, rowsPerStatement) {
			var args []any
			for _, v := range chunk {
				args = append(args, v.Namespace, v.Name, v.Version)
			}
			found, err := collect(ctx, tx, scanDescription,
				"WITH wanted (namespace, name, version) AS (VALUES (?, ?, ?)"+
					strings.Repeat(", (?, ?, ?)", len(chunk)-1)+") SELECT "+columns+
					" FROM wanted JOIN versions USING (namespace, name, version)", args...)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return nil
	})
	return all, err
}

// Protected returns the live versions with access key.
func (s Tables) Protected(ctx context.Context) ([]herb.Dataset, error) {
	return readRows(ctx, s, "reading protected datasets", scanDataset, "SELECT "+versionColumns+
		" FROM versions JOIN datasets USING (namespace, name) WHERE version = live AND access = 'key' ORDER BY "+
		"namespace, name")
}

// ProtectedRefs returns the datasets whose live version has access key.
func (s Tables) ProtectedRefs(ctx context.Context) ([]herb.Ref, error) {
	return readRows(ctx, s, "reading protected datasets", func(rows *sql.Rows) (ref herb.Ref, err error) {
		err = rows.Scan(&ref.Namespace, &ref.Name)
		return ref, err
	}, "SELECT namespace, name FROM versions JOIN datasets USING (namespace, name) WHERE version = live AND access = "+
		"'key' ORDER BY namespace, name")
}

// scanDataset reads a version.
func scanDataset(rows *sql.Rows) (herb.Dataset, error) {
	return scanVersion(rows, func(content []byte, details *herb.Details) error {
		return json.Unmarshal(content, details)
	})
}

// scanDescription reads a version with the details that are public metadata.
func scanDescription(rows *sql.Rows) (herb.Dataset, error) {
	return scanVersion(rows, func(content []byte, details *herb.Details) error {
		return details.DecodeMetadata(content)
	})
}

// scanVersion reads a version, and its details with a function.
func scanVersion(rows *sql.Rows, decodeDetails func([]byte, *herb.Details) error) (d herb.Dataset, err error) {
	var fields, details []byte
	if err := rows.Scan(&d.Namespace, &d.Name, &d.Version, &d.Title, &d.Description, &d.Access, &fields,
		&d.Records, (*stamp)(&d.Published), &d.SourceHash, &details); err != nil {
		return d, err
	}
	// without this, most of the memory is garbage
	d.Fields = make([]herb.Field, 0, bytes.Count(fields, []byte(`"searchable":`)))
	if err := errors.Join(json.Unmarshal(fields, &d.Fields), decodeDetails(details, &d.Details)); err != nil {
		return d, fmt.Errorf("decode version %s of dataset %s: %w", d.Version, d.Ref, err)
	}
	return d, nil
}

// DatasetVersions is a dataset with all its versions.
type DatasetVersions struct {
	herb.Ref
	Live      string           `json:"live"`                // the live version
	Versions  []herb.Dataset   `json:"versions"`            // oldest first, with their labels
	Withdrawn []herb.Withdrawn `json:"withdrawn,omitempty"` // oldest first
}

// VersionNames returns the names of the versions, oldest first.
func (d DatasetVersions) VersionNames() []string {
	var names []string
	for _, v := range d.Versions {
		names = append(names, v.Version)
	}
	return names
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
	if err != nil {
		return nil, err
	}
	versions, err := collect(ctx, tx, scanDataset, "SELECT "+versionColumns+" FROM versions "+where+
		" ORDER BY added", args...)
	if err != nil {
		return nil, err
	}
	labels, err := selectLabels(ctx, tx, where, args...)
	if err != nil {
		return nil, err
	}
	ofDataset := map[herb.Ref][]herb.Dataset{}
	for _, v := range versions {
		v.Labels = labels[versionKey{v.Ref, v.Version}]
		ofDataset[v.Ref] = append(ofDataset[v.Ref], v)
	}
	withdrawn, err := selectWithdrawn(ctx, tx, where, args...)
	for i, d := range all {
		all[i].Versions, all[i].Withdrawn = ofDataset[d.Ref], withdrawn[d.Ref]
	}
	return all, err
}

// liveVersion returns the name of the live version of a dataset. The error has herb.CodeNotFound if
// there is no such dataset.
func liveVersion(ctx context.Context, tx Tx, ref herb.Ref) (live string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT live FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace,
		ref.Name).Scan(&live)
	if errors.Is(err, sql.ErrNoRows) {
		err = herb.Errorf(herb.CodeNotFound, "no such dataset %q", ref)
	}
	return live, err
}

// versionNames returns the names of the live version and of all versions of a dataset, oldest
// first. The error has herb.CodeNotFound if there is no such dataset.
func versionNames(ctx context.Context, tx Tx, ref herb.Ref) (live string, names []string, err error) {
	live, err = liveVersion(ctx, tx, ref)
	if err != nil {
		return "", nil, err
	}
	names, err = collect(ctx, tx, scanValue[string],
		"SELECT version FROM versions WHERE namespace = ? AND name = ? ORDER BY added",
		ref.Namespace, ref.Name)
	return live, names, err
}

// noVersion returns the error for a version or a label that a dataset does not have, or not any
// more. It names the versions and labels that every reader of the live version may know of.
func noVersion(ctx context.Context, tx Tx, ref herb.Ref, version string) error {
	withdrawn, err := selectWithdrawn(ctx, tx, ofRef+" AND version = ?", ref.Namespace, ref.Name, version)
	if err != nil {
		return err
	}
	for _, w := range withdrawn[ref] {
		return &herb.Error{Code: herb.CodeGone, Withdrawn: &w,
			Message: fmt.Sprintf("version %q of dataset %q was withdrawn on %s and cannot be read any more",
				version, ref, w.Since.Format(time.DateOnly))}
	}
	var access herb.Access
	err = tx.QueryRowContext(ctx, "SELECT access FROM versions JOIN datasets USING (namespace, name) "+ofRef+
		" AND version = live", ref.Namespace, ref.Name).Scan(&access)
	if errors.Is(err, sql.ErrNoRows) {
		return herb.Errorf(herb.CodeNotFound, "no such dataset %q", ref)
	}
	if err != nil {
		return err
	}
	visible := ofRef
	if !access.NeedsKey() {
		visible += " AND access <> 'key'"
	}
	names, err := collect(ctx, tx, scanValue[string], "SELECT version FROM versions "+visible+
		" ORDER BY added DESC LIMIT ?", ref.Namespace, ref.Name, maxNamed)
	if err != nil {
		return err
	}
	labels, err := collect(ctx, tx, scanValue[string],
		"SELECT label FROM labels JOIN versions USING (namespace, name, version) "+visible+" ORDER BY label LIMIT ?",
		ref.Namespace, ref.Name, maxNamed)
	if err != nil {
		return err
	}
	known := "; versions: " + strings.Join(names, ", ")
	if len(labels) > 0 {
		known += "; labels: " + strings.Join(labels, ", ")
	}
	if herb.IsLabel(version) && !herb.IsVersion(version) {
		return herb.Errorf(herb.CodeGone, "dataset %q has no version or label %q%s", ref, version, known)
	}
	return herb.Errorf(herb.CodeGone, "dataset %q has no version %q%s", ref, version, known)
}

// maxNamed is how many versions, and how many labels, an error names.
const maxNamed = 20

// Version returns one version of a dataset; an empty name means the live one.
func (s Tables) Version(ctx context.Context, ref herb.Ref, version string) (d herb.Dataset, err error) {
	err = s.read(ctx, "reading a version of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		found, err := collect(ctx, tx, scanDataset, "SELECT "+versionColumns+
			" FROM versions JOIN datasets USING (namespace, name) "+
			"WHERE namespace = ? AND name = ? AND version = coalesce(nullif(?, ''), live)", ref.Namespace,
			ref.Name, version)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return noVersion(ctx, tx, ref, version)
		}
		d = found[0]
		return nil
	})
	return d, err
}

// History returns a dataset with all its versions.
func (s Tables) History(ctx context.Context, ref herb.Ref) (d DatasetVersions, err error) {
	err = s.read(ctx, "reading the history of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		all, err := selectVersions(ctx, tx, "WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name)
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			return herb.Errorf(herb.CodeNotFound, "no such dataset %q", ref)
		}
		d = all[0]
		return nil
	})
	return d, err
}

// AddVersion stores a version of a dataset and makes it live, provided that live is the current
// live version; otherwise the error is ErrSuperseded. An empty live means that the dataset does not
// exist. An existing version is replaced and becomes the newest. A retired version is rejected: its
// file may be deleted. AddVersion retires the versions that need not be kept at the time at, and
// returns their names. The version that was live counts as the newest of them, whenever it was
// published: it is the last one that was good after a rollback.
func (s Tables) AddVersion(ctx context.Context, d herb.Dataset, live string, keep herb.Keep,
	at time.Time) (dropped []string, err error) {
	err = s.write(ctx, "adding a version to dataset "+d.Ref.String(), func(ctx context.Context, tx Tx) error {
		now, names, err := versionNames(ctx, tx, d.Ref)
		switch {
		case err != nil && herb.CodeOf(err) != herb.CodeNotFound:
			return err
		case now != live:
			return ErrSuperseded
		}
		if err := rejectWithdrawn(ctx, tx, d.Version); err != nil {
			return err
		}
		if err := rejectRetired(ctx, tx, d.Version); err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(v string) bool { return v == d.Version || v == live })
		if live != "" && live != d.Version {
			names = append(names, live)
		}
		labels, err := selectLabels(ctx, tx, ofRef, d.Namespace, d.Name)
		if err != nil {
			return err
		}
		recent, err := collect(ctx, tx, scanValue[string], "SELECT version FROM versions "+ofRef+" AND published > ?",
			d.Namespace, d.Name, at.Add(-keep.For).UnixMicro())
		if err != nil {
			return err
		}
		dropped = slices.DeleteFunc(names[:max(0, len(names)+1-keep.Versions)], func(v string) bool {
			return labels[versionKey{d.Ref, v}] != nil || keep.For > 0 && slices.Contains(recent, v)
		})
		return errors.Join(
			addPublished(ctx, tx, d, live),
			nextGeneration(ctx, tx),
			setLive(ctx, tx, d.Ref, d.Version),
			deleteVersions(ctx, tx, d.Ref, append(dropped, d.Version)...),
			retire(ctx, tx, at, dropped...),
			exec(ctx, tx, "DELETE FROM source_errors WHERE namespace = ? AND name = ?", d.Namespace, d.Name),
			insertVersion(ctx, tx, d),
			addAudit(ctx, tx, herb.AuditEntry{
				Action: herb.AuditPublished, Subject: d.Ref.String(),
				Detail: fmt.Sprintf("version %s, %d records, access %s", d.Version, d.Records, d.Access),
			}),
		)
	})
	return dropped, err
}

// setLive sets the live version of a dataset, which may be new.
func setLive(ctx context.Context, tx Tx, ref herb.Ref, version string) error {
	return exec(ctx, tx, "INSERT INTO datasets (namespace, name, live) VALUES (?, ?, ?) "+
		"ON CONFLICT (namespace, name) DO UPDATE SET live = excluded.live", ref.Namespace, ref.Name, version)
}

func deleteVersions(ctx context.Context, tx Tx, ref herb.Ref, versions ...string) error {
	for _, v := range versions {
		if err := exec(ctx, tx, "DELETE FROM versions WHERE namespace = ? AND name = ? AND version = ?", ref.Namespace,
			ref.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// insertVersion inserts a version with the current generation.
func insertVersion(ctx context.Context, tx Tx, d herb.Dataset) error {
	fields, err1 := json.Marshal(d.Fields)
	details, err2 := json.Marshal(d.Details)
	summary, err3 := json.Marshal(d.Summary())
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("encode version %s of dataset %s: %w", d.Version, d.Ref, err)
	}
	if err := exec(ctx, tx, "INSERT INTO versions ("+versionColumns+", summary, added) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT generation FROM catalogue))",
		d.Namespace, d.Name, d.Version, d.Title, d.Description, string(d.Access), string(fields),
		d.Records, d.Published.UnixMicro(), d.SourceHash, string(details), string(summary)); err != nil {
		return err
	}
	return exec(ctx, tx, "INSERT INTO version_words (namespace, name, version, words) VALUES (?, ?, ?, ?)",
		d.Namespace, d.Name, d.Version, string(NewSearchWords(d)))
}

// nextGeneration increments the generation of the catalogue.
func nextGeneration(ctx context.Context, tx Tx) error {
	return exec(ctx, tx, "UPDATE catalogue SET generation = generation + 1")
}

// SetLive makes another version of a dataset live, older or newer, provided that live is the
// current live version; otherwise the error is ErrSuperseded. It does nothing if the version is
// already live.
func (s Tables) SetLive(ctx context.Context, ref herb.Ref, version, live string) error {
	return s.write(ctx, "switching dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		now, names, err := versionNames(ctx, tx, ref)
		switch {
		case err != nil:
			return err
		case now != live:
			return ErrSuperseded
		case !slices.Contains(names, version):
			return noVersion(ctx, tx, ref, version)
		case now == version:
			return nil
		}
		return errors.Join(
			nextGeneration(ctx, tx),
			setLive(ctx, tx, ref, version),
			addRolledBack(ctx, tx, ref, version, live),
			addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditRolledBack, Subject: ref.String(),
				Detail: "version " + version}),
		)
	})
}

// RemoveDataset removes a dataset with all its versions, retires them and returns their names. If
// live is not empty and another version is live, the error is ErrSuperseded.
func (s Tables) RemoveDataset(ctx context.Context, ref herb.Ref, live string, at time.Time) (names []string,
	err error) {
	err = s.write(ctx, "removing dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		var now string
		now, names, err = versionNames(ctx, tx, ref)
		if err != nil {
			return err
		}
		if live != "" && now != live {
			return ErrSuperseded
		}
		return errors.Join(
			nextGeneration(ctx, tx),
			addUnpublished(ctx, tx, herb.EventRemoved, ref, now),
			retire(ctx, tx, at, names...),
			exec(ctx, tx, "DELETE FROM datasets WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name),
			exec(ctx, tx, "DELETE FROM source_errors WHERE namespace = ? AND name = ?", ref.Namespace, ref.Name),
			addAudit(ctx, tx, herb.AuditEntry{
				Action: herb.AuditRemoved, Subject: ref.String(), Detail: fmt.Sprintf("%d versions", len(names)),
			}),
		)
	})
	return names, err
}

// Versions returns the names of all versions of all datasets.
func (s Tables) Versions(ctx context.Context) ([]string, error) {
	return readRows(ctx, s, "reading versions", scanValue[string],
		"SELECT DISTINCT version FROM versions ORDER BY version")
}
