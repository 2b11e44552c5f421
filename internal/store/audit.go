package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Limits of the audit log. Older entries are removed when a new one is added.
const (
	auditRetention  = 365 * 24 * time.Hour
	maxAuditEntries = 100_000
)

// AddAuditEntry adds an entry that is not part of another change. A zero time means now. The actor
// is taken from the context.
func (s Tables) AddAuditEntry(ctx context.Context, e herb.AuditEntry) error {
	return s.write(ctx, "adding an audit entry", func(ctx context.Context, tx Tx) error { return addAudit(ctx, tx, e) })
}

// AddUnpublished adds the entry and the event of a publish that was rejected or failed.
func (s Tables) AddUnpublished(ctx context.Context, ref herb.Ref, result herb.AuditResult, detail string) error {
	event := herb.EventFailed
	if result == herb.AuditRejected {
		event = herb.EventRejected
	}
	return s.write(ctx, "recording a publish", func(ctx context.Context, tx Tx) error {
		live, err := liveVersion(ctx, tx, ref)
		if err != nil && herb.CodeOf(err) != herb.CodeNotFound {
			return err
		}
		return errors.Join(
			addUnpublished(ctx, tx, event, ref, live),
			addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditPublished, Subject: ref.String(), Result: result,
				Detail: detail}),
		)
	})
}

// addAudit adds an entry in the transaction of the change, so that neither exists without the
// other.
func addAudit(ctx context.Context, tx Tx, e herb.AuditEntry) error {
	actor := herb.ActorOf(ctx)
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if actor.Note != "" {
		e.Detail = strings.TrimPrefix(e.Detail+", "+actor.Note, ", ")
	}
	if err := exec(ctx, tx, "INSERT INTO audit (time, action, subject, actor, origin, result, detail) VALUES (?, ?, "+
		"?, ?, ?, ?, ?)",
		e.Time.UnixMicro(), string(e.Action), e.Subject, actor.ID, actor.Origin, string(cmp.Or(e.Result, herb.AuditOK)),
		e.Detail); err != nil {
		return err
	}
	return exec(ctx, tx, "DELETE FROM audit WHERE time < ? OR id <= (SELECT max(id) FROM audit) - ?",
		e.Time.Add(-auditRetention).UnixMicro(), maxAuditEntries)
}

// AddAuditEntries stores entries of another database in one transaction.
func (s Tables) AddAuditEntries(ctx context.Context, entries []herb.AuditEntry) error {
	rows := make([][]any, len(entries))
	for i, e := range entries {
		rows[i] = []any{e.Time.UnixMicro(), string(e.Action), e.Subject, e.Actor, e.Origin, string(e.Result), e.Detail}
	}
	return s.write(ctx, "adding audit entries", func(ctx context.Context, tx Tx) error {
		return insert(ctx, tx, "audit (time, action, subject, actor, origin, result, detail)", rows, "")
	})
}

// AuditEntries returns the selected entries, newest last.
func (s Tables) AuditEntries(ctx context.Context, q herb.AuditQuery) (entries []herb.AuditEntry, err error) {
	where, args := "1 = 1", []any{}
	if !q.Since.IsZero() {
		where, args = where+" AND time >= ?", append(args, q.Since.UnixMicro())
	}
	if q.Subject != "" {
		where, args = where+" AND subject = ?", append(args, q.Subject)
	}
	entries, err = readRows(ctx, s, "reading the audit log", func(rows *sql.Rows) (e herb.AuditEntry, err error) {
		err = rows.Scan((*stamp)(&e.Time), &e.Action, &e.Subject, &e.Actor, &e.Origin, &e.Result, &e.Detail)
		return e, err
	}, "SELECT time, action, subject, actor, origin, result, detail FROM audit WHERE "+where+
		" ORDER BY time DESC, id DESC LIMIT ?", append(args, cmp.Or(max(q.Limit, 0), maxAuditEntries))...)
	slices.Reverse(entries)
	return entries, err
}

// SetSourceError records why a source is not published. It replaces the previous error of the
// source, but not since when there is one.
func (s Tables) SetSourceError(ctx context.Context, e herb.SourceError) error {
	return s.writeOne(ctx, "recording the error of source "+e.Path,
		"INSERT INTO source_errors (path, namespace, name, message, skipped, since) VALUES (?, ?, ?, ?, ?, ?) "+
			"ON CONFLICT (path) DO UPDATE SET namespace = excluded.namespace, name = excluded.name, "+
			"message = excluded.message, skipped = excluded.skipped",
		e.Path, e.Ref.Namespace, e.Ref.Name, e.Message, e.Skipped, e.Since.UnixMicro())
}

// ClearSourceError removes the error of a source.
func (s Tables) ClearSourceError(ctx context.Context, path string) error {
	return s.writeOne(ctx, "clearing the error of source "+path, "DELETE FROM source_errors WHERE path = ?", path)
}

// SourceErrors returns all recorded errors, ordered by path.
func (s Tables) SourceErrors(ctx context.Context) ([]herb.SourceError, error) {
	return readRows(ctx, s, "reading source errors", func(rows *sql.Rows) (e herb.SourceError, err error) {
		err = rows.Scan(&e.Path, &e.Ref.Namespace, &e.Ref.Name, &e.Message, &e.Skipped, (*stamp)(&e.Since))
		return e, err
	}, "SELECT path, namespace, name, message, skipped, since FROM source_errors ORDER BY path")
}
