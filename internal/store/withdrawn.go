package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// Withdraw removes a version from the catalogue for good, with the records of the publishes that
// name it. Only what tells clients that it was withdrawn remains. The live version is rejected. A
// version that was withdrawn before is not an error. since is the time from which it counts as
// retired.
func (s Tables) Withdraw(ctx context.Context, ref herb.Ref, version string, at, since time.Time) error {
	return s.write(ctx, "withdrawing a version of dataset "+ref.String(), func(ctx context.Context, tx Tx) error {
		live, names, err := versionNames(ctx, tx, ref)
		switch {
		case err != nil:
			return err
		case version == live:
			return herb.Errorf(herb.CodeRejected,
				"version %s of %s is live; publish another version or roll back first", version, ref)
		case !slices.Contains(names, version):
			withdrawn, err := selectWithdrawn(ctx, tx, ofRef+" AND version = ?", ref.Namespace, ref.Name, version)
			if err != nil || len(withdrawn) > 0 {
				return err
			}
			return noVersion(ctx, tx, ref, version)
		}
		if err := errors.Join(
			nextGeneration(ctx, tx),
			exec(ctx, tx, "INSERT INTO withdrawn (namespace, name, version, access, published, since, generation) "+
				"SELECT namespace, name, version, access, published, ?, (SELECT generation FROM catalogue) FROM "+
				"versions "+ofRef+" AND version = ?",
				at.UnixMicro(), ref.Namespace, ref.Name, version),
			deleteVersions(ctx, tx, ref, version),
			retire(ctx, tx, since, version),
			deletePublishesOf(ctx, tx, version),
		); err != nil {
			return err
		}
		return addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditWithdrawn, Subject: ref.String(),
			Detail: "version " + version})
	})
}

// addWithdrawn records versions that were withdrawn in another database.
func addWithdrawn(ctx context.Context, tx Tx, ref herb.Ref, withdrawn []herb.Withdrawn) error {
	for _, w := range withdrawn {
		if err := exec(ctx, tx, "INSERT INTO withdrawn (namespace, name, version, access, published, since, "+
			"generation) "+
			"VALUES (?, ?, ?, ?, ?, ?, (SELECT generation FROM catalogue)) ON CONFLICT (namespace, name, version) DO "+
			"NOTHING",
			ref.Namespace, ref.Name, w.Version, string(w.Access), w.Published.UnixMicro(),
			w.Since.UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}

// rejectWithdrawn fails for a withdrawn version.
func rejectWithdrawn(ctx context.Context, tx Tx, version string) error {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM withdrawn WHERE version = ?", version).Scan(&n)
	if err == nil && n > 0 {
		err = herb.Errorf(herb.CodeRejected, "version %q was withdrawn and cannot be published again", version)
	}
	return err
}

// WithdrawnVersions returns the withdrawn versions of all datasets.
func (s Tables) WithdrawnVersions(ctx context.Context) (withdrawn map[herb.Ref][]herb.Withdrawn, err error) {
	err = s.read(ctx, "reading withdrawn versions", func(ctx context.Context, tx Tx) error {
		withdrawn, err = selectWithdrawn(ctx, tx, "")
		return err
	})
	return withdrawn, err
}

// selectWithdrawn returns the withdrawn versions of datasets, oldest first.
func selectWithdrawn(ctx context.Context, tx Tx, where string, args ...any) (map[herb.Ref][]herb.Withdrawn, error) {
	withdrawn := map[herb.Ref][]herb.Withdrawn{}
	_, err := collect(ctx, tx, func(rows *sql.Rows) (w herb.Withdrawn, err error) {
		var ref herb.Ref
		err = rows.Scan(&ref.Namespace, &ref.Name, &w.Version, &w.Access, (*stamp)(&w.Published), (*stamp)(&w.Since))
		if err == nil {
			withdrawn[ref] = append(withdrawn[ref], w)
		}
		return w, err
	}, "SELECT namespace, name, version, access, published, since FROM withdrawn "+where+
		" ORDER BY namespace, name, published, version", args...)
	return withdrawn, err
}
