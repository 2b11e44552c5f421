package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"regexp"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Draft is a file that waits to be published, as it is stored.
type Draft struct {
	ID      string
	Owner   string    // ID of the key that sent the file
	Stored  bool      // the file is complete
	Updated time.Time // last write
	Content []byte    // JSON
}

// formerDrafts is the pattern of the IDs of drafts that earlier releases store as publishes. Their
// nodes may use the database during an upgrade: the nodes of this release leave these records and
// the files of these drafts alone.
const formerDrafts = "draft-%"

// NewDraftID returns a random ID. Nodes of earlier releases remove the files of drafts that they do
// not know; they recognize them by a prefix that the IDs of this release do not have.
func NewDraftID() string { return strings.ToLower(rand.Text()) }

var draftID = regexp.MustCompile(`^(draft-[0-9a-f]{8}-)?[a-z2-7]{26}$`)

// IsDraftID reports whether a text has the form of the ID of a draft, of this or an earlier
// release.
func IsDraftID(id string) bool { return draftID.MatchString(id) }

// AddDraft stores a draft, unless check rejects it, and removes those that were last updated before
// a time. check is called with the number of other drafts of the same owner, and of all.
// Transactions are serialized, so that drafts that are added at the same time, by any node, count
// each other.
func (s Tables) AddDraft(ctx context.Context, d Draft, expired time.Time, check func(own, all int) error) error {
	return s.write(ctx, "recording a draft", func(ctx context.Context, tx Tx) error {
		if err := exec(ctx, tx, "DELETE FROM drafts WHERE updated < ?", expired.UnixMicro()); err != nil {
			return err
		}
		err := exec(ctx, tx, "INSERT INTO drafts (id, owner, stored, updated, content) VALUES (?, ?, ?, ?, ?)",
			d.ID, d.Owner, d.Stored, d.Updated.UnixMicro(), d.Content)
		if err != nil {
			return err
		}
		var own, all int // with the new one
		err = tx.QueryRowContext(ctx, "SELECT COUNT(CASE WHEN owner = ? THEN 1 END), COUNT(*) FROM drafts",
			d.Owner).Scan(&own, &all)
		if err != nil {
			return err
		}
		return check(own-1, all-1)
	})
}

// ReplaceDraft replaces a draft that was not written since it was read. It reports false, and does
// nothing, if it was, or is gone.
func (s Tables) ReplaceDraft(ctx context.Context, d Draft, read time.Time) (replaced bool, err error) {
	err = s.write(ctx, "recording a draft", func(ctx context.Context, tx Tx) error {
		result, err := tx.ExecContext(ctx,
			"UPDATE drafts SET stored = ?, updated = ?, content = ? WHERE id = ? AND updated = ?",
			d.Stored, d.Updated.UnixMicro(), d.Content, d.ID, read.UnixMicro())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		replaced = n > 0
		return err
	})
	return replaced && err == nil, err
}

// RemoveDraft removes a draft. Removing an unknown draft is not an error.
func (s Tables) RemoveDraft(ctx context.Context, id string) error {
	return s.writeOne(ctx, "removing a draft", "DELETE FROM drafts WHERE id = ?", id)
}

// Draft returns a draft. The error has herb.CodeNotFound if there is none.
func (s Tables) Draft(ctx context.Context, id string) (Draft, error) {
	found, err := readRows(ctx, s, "reading a draft", scanDraft,
		"SELECT id, owner, stored, updated, content FROM drafts WHERE id = ?", id)
	if err == nil && len(found) == 0 {
		err = herb.Errorf(herb.CodeNotFound, "no such draft")
	}
	if err != nil {
		return Draft{}, err
	}
	return found[0], nil
}

// Drafts returns the drafts of an owner that were written since a time, last written first.
func (s Tables) Drafts(ctx context.Context, owner string, since time.Time) ([]Draft, error) {
	return readRows(ctx, s, "reading drafts", scanDraft,
		"SELECT id, owner, stored, updated, content FROM drafts WHERE owner = ? AND updated >= ? ORDER BY updated "+
			"DESC, id", owner, since.UnixMicro())
}

func scanDraft(rows *sql.Rows) (d Draft, err error) {
	err = rows.Scan(&d.ID, &d.Owner, &d.Stored, (*stamp)(&d.Updated), &d.Content)
	return d, err
}

// DraftIDs returns the IDs of all drafts that were written since a time, also those of nodes of
// earlier releases.
func (s Tables) DraftIDs(ctx context.Context, since time.Time) ([]string, error) {
	return readRows(ctx, s, "reading drafts", func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	}, "SELECT id FROM drafts WHERE updated >= ? UNION SELECT id FROM publishes WHERE id LIKE ? AND updated >= ?",
		since.UnixMicro(), formerDrafts, since.UnixMicro())
}
