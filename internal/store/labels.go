package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"herbarium/internal/herb"
)

// ListVersions returns what lists show of the versions of a dataset. It reads neither fields nor
// reports.
func (s Tables) ListVersions(ctx context.Context, ref herb.Ref) (list herb.VersionList, err error) {
	err = s.read(ctx, "listing the versions of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		list = herb.VersionList{}
		list.Live, err = liveVersion(ctx, tx, ref)
		if err != nil {
			return err
		}
		list.Versions, err = collect(ctx, tx,
			func(rows *sql.Rows) (herb.ListedVersion, error) { return scanListed(ref, rows) },
			"SELECT "+listedColumns+" FROM versions "+ofRef+" ORDER BY added", ref.Namespace, ref.Name)
		if err != nil {
			return err
		}
		labels, err := selectLabels(ctx, tx, ofRef, ref.Namespace, ref.Name)
		if err != nil {
			return err
		}
		for i := range list.Versions {
			list.Versions[i].Labels = labels[versionKey{ref, list.Versions[i].Version}]
		}
		withdrawn, err := selectWithdrawn(ctx, tx, ofRef, ref.Namespace, ref.Name)
		list.Withdrawn = withdrawn[ref]
		return err
	})
	return list, err
}

const ofRef = "WHERE namespace = ? AND name = ?"

// listedColumns are the columns that scanListed reads. An earlier release writes no summary.
const listedColumns = "version, access, published, records, summary, CASE WHEN summary = '' THEN details ELSE '' END"

func scanListed(ref herb.Ref, rows *sql.Rows) (herb.ListedVersion, error) {
	v := herb.ListedVersion{Ref: ref}
	var summary, details []byte
	err := rows.Scan(&v.Version, &v.Access, (*stamp)(&v.Published), &v.Records, &summary, &details)
	if err != nil {
		return v, err
	}
	if len(summary) > 0 {
		err = json.Unmarshal(summary, &v.VersionSummary)
	} else { // an earlier release has added it
		var complete herb.Details
		err = json.Unmarshal(details, &complete)
		v.VersionSummary = complete.Summary()
	}
	if err != nil {
		err = fmt.Errorf("decode version %s of dataset %s: %w", v.Version, ref, err)
	}
	return v, err
}

// versionKey identifies a version.
type versionKey struct {
	ref     herb.Ref
	version string
}

// selectLabels returns the labels of versions, sorted.
func selectLabels(ctx context.Context, tx Tx, where string, args ...any) (map[versionKey][]string, error) {
	labels := map[versionKey][]string{}
	_, err := collect(ctx, tx, func(rows *sql.Rows) (label string, err error) {
		var of versionKey
		err = rows.Scan(&of.ref.Namespace, &of.ref.Name, &of.version, &label)
		if err == nil {
			labels[of] = append(labels[of], label)
		}
		return label, err
	}, "SELECT namespace, name, version, label FROM labels "+where+" ORDER BY namespace, name, label", args...)
	return labels, err
}

// LabeledVersion returns the version of a dataset with a label. The error has herb.CodeGone if
// there is none, and herb.CodeNotFound if there is no such dataset.
func (s Tables) LabeledVersion(ctx context.Context, ref herb.Ref, label string) (version string, err error) {
	err = s.read(ctx, "reading a label of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT version FROM labels WHERE namespace = ? AND name = ? AND label = ?",
			ref.Namespace, ref.Name, label).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return noVersion(ctx, tx, ref, label)
		}
		return err
	})
	return version, err
}

// LabelsSchema is the schema version from which on programs keep versions with labels.
const LabelsSchema = 4

// ErrLabelsUnknown returns the error of a label while a program before LabelsSchema uses the
// database.
func ErrLabelsUnknown() error {
	return herb.Errorf(herb.CodeRejected,
		"a program of an earlier release, which would delete versions with labels, uses the database; stop or "+
			"upgrade it first")
}

// AddLabel gives a label to a version, if it has not got it yet. A label that another version has
// is rejected.
func (s Tables) AddLabel(ctx context.Context, ref herb.Ref, version, label string) error {
	return s.write(ctx, "labeling a version of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		_, names, err := versionNames(ctx, tx, ref)
		if err != nil {
			return err
		}
		if !slices.Contains(names, version) {
			return noVersion(ctx, tx, ref, version)
		}
		labels, err := collect(ctx, tx, func(rows *sql.Rows) (l [2]string, err error) {
			err = rows.Scan(&l[0], &l[1])
			return l, err
		}, "SELECT label, version FROM labels "+ofRef, ref.Namespace, ref.Name)
		if err != nil {
			return err
		}
		for _, l := range labels {
			switch {
			case l[0] == label && l[1] == version:
				return nil
			case l[0] == label:
				return herb.Errorf(herb.CodeRejected,
					"version %s of %s has the label %q; remove it there first, or choose another label",
					l[1], ref, label)
			}
		}
		if len(labels) >= herb.MaxLabels {
			return herb.Errorf(herb.CodeRejected, "%s has %d labels, and may not have more; remove one first", ref,
				len(labels))
		}
		return errors.Join(
			nextGeneration(ctx, tx),
			exec(ctx, tx, "INSERT INTO labels (namespace, name, label, version) VALUES (?, ?, ?, ?)", ref.Namespace,
				ref.Name, label, version),
			addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditLabeled, Subject: ref.String(), Detail: "version " +
				version + ", label " + label}),
		)
	})
}

// RemoveLabel removes a label from a version. It does nothing if the version has no such label.
func (s Tables) RemoveLabel(ctx context.Context, ref herb.Ref, version, label string) error {
	return s.write(ctx, "removing a label of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		_, names, err := versionNames(ctx, tx, ref)
		if err != nil {
			return err
		}
		if !slices.Contains(names, version) {
			return noVersion(ctx, tx, ref, version)
		}
		labels, err := selectLabels(ctx, tx, ofRef+" AND version = ?", ref.Namespace, ref.Name, version)
		if err != nil || !slices.Contains(labels[versionKey{ref, version}], label) {
			return err
		}
		return errors.Join(
			nextGeneration(ctx, tx),
			exec(ctx, tx, "DELETE FROM labels WHERE namespace = ? AND name = ? AND label = ?", ref.Namespace,
				ref.Name, label),
			addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditUnlabeled, Subject: ref.String(), Detail: "version " +
				version + ", label " + label}),
		)
	})
}
