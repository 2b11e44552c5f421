package store

import (
	"context"
	"database/sql"
	"time"

	"herbarium/internal/herb"
)

// DraftPrefix begins the ID of a record that is not of a publish but of a draft: a file that waits
// to be published.
const DraftPrefix = "draft-"

// Publish is the record of a publish over HTTP, or of a draft.
type Publish struct {
	ID      string
	Running bool
	Updated time.Time // last write; the program that runs it renews it
	Content []byte    // JSON
}

// AddPublish stores a record and removes those that were last updated before a time.
func (s Tables) AddPublish(ctx context.Context, p Publish, expired time.Time) error {
	return s.write(ctx, "recording a publish", func(ctx context.Context, tx Tx) error { return addPublish(ctx, tx, p, expired) })
}

func addPublish(ctx context.Context, tx Tx, p Publish, expired time.Time) error {
	if err := exec(ctx, tx, "DELETE FROM publishes WHERE updated < ?", expired.UnixMicro()); err != nil {
		return err
	}
	return exec(ctx, tx, "INSERT INTO publishes (id, running, updated, content) VALUES (?, ?, ?, ?)",
		p.ID, p.Running, p.Updated.UnixMicro(), p.Content)
}

// AddDraft is AddPublish for a draft, unless check rejects it. check is called with the number of
// drafts whose IDs have a prefix, and of all. Transactions are serialized, so that drafts that are
// added at the same time, by any node, count each other.
func (s Tables) AddDraft(ctx context.Context, p Publish, prefix string, expired time.Time, check func(own, all int) error) error {
	return s.write(ctx, "recording a draft", func(ctx context.Context, tx Tx) error {
		if err := addPublish(ctx, tx, p, expired); err != nil {
			return err
		}
		var own, all int // with the new one
		err := tx.QueryRowContext(ctx, "SELECT COUNT(CASE WHEN id LIKE ? THEN 1 END), COUNT(*) FROM publishes WHERE id LIKE ?",
			prefix+"%", DraftPrefix+"%").Scan(&own, &all)
		if err != nil {
			return err
		}
		return check(own-1, all-1)
	})
}

// UpdatePublish replaces a record. The program that runs the publish has the last word, also about
// one that another program has given up.
func (s Tables) UpdatePublish(ctx context.Context, p Publish) error {
	return s.writeOne(ctx, "recording a publish", "UPDATE publishes SET running = ?, updated = ?, content = ? WHERE id = ?",
		p.Running, p.Updated.UnixMicro(), p.Content, p.ID)
}

// EndPublish ends a running publish whose record was not renewed since it was read, and adds an
// audit entry if entry is not nil. It reports false, and does nothing, if the record was renewed:
// of all programs that try, one succeeds.
func (s Tables) EndPublish(ctx context.Context, p Publish, read time.Time, entry *herb.AuditEntry) (ended bool, err error) {
	err = s.write(ctx, "ending an abandoned publish", func(ctx context.Context, tx Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE publishes SET running = ?, updated = ?, content = ? WHERE id = ? AND running = ? AND updated = ?",
			false, p.Updated.UnixMicro(), p.Content, p.ID, true, read.UnixMicro())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if ended = n > 0; ended && err == nil && entry != nil {
			err = addAudit(ctx, tx, *entry)
		}
		return err
	})
	return ended && err == nil, err
}

// AbandonedPublishes returns running publishes, without drafts, that were last updated before a
// time.
func (s Tables) AbandonedPublishes(ctx context.Context, before time.Time) ([]Publish, error) {
	return readRows(ctx, s, "reading publishes", scanPublish,
		"SELECT id, running, updated, content FROM publishes WHERE running = ? AND updated < ? AND id NOT LIKE ?", true, before.UnixMicro(), DraftPrefix+"%")
}

func scanPublish(rows *sql.Rows) (p Publish, err error) {
	err = rows.Scan(&p.ID, &p.Running, (*stamp)(&p.Updated), &p.Content)
	return p, err
}

// ReplacePublish replaces a record that was not written since it was read. It reports false, and
// does nothing, if it was, or is gone.
func (s Tables) ReplacePublish(ctx context.Context, p Publish, read time.Time) (replaced bool, err error) {
	err = s.write(ctx, "recording a draft", func(ctx context.Context, tx Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE publishes SET running = ?, updated = ?, content = ? WHERE id = ? AND updated = ?",
			p.Running, p.Updated.UnixMicro(), p.Content, p.ID, read.UnixMicro())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		replaced = n > 0
		return err
	})
	return replaced && err == nil, err
}

// RemovePublish removes a record. It is no error if there is none.
func (s Tables) RemovePublish(ctx context.Context, id string) error {
	return s.writeOne(ctx, "removing a draft", "DELETE FROM publishes WHERE id = ?", id)
}

// Drafts returns the drafts whose IDs have a prefix, if they were written since a time.
func (s Tables) Drafts(ctx context.Context, prefix string, since time.Time) ([]Publish, error) {
	return readRows(ctx, s, "reading drafts", scanPublish,
		"SELECT id, running, updated, content FROM publishes WHERE id LIKE ? AND updated >= ? ORDER BY updated DESC, id", prefix+"%", since.UnixMicro())
}

// DraftIDs returns the IDs of all drafts that were written since a time.
func (s Tables) DraftIDs(ctx context.Context, since time.Time) ([]string, error) {
	return readRows(ctx, s, "reading drafts", func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	}, "SELECT id FROM publishes WHERE id LIKE ? AND updated >= ?", DraftPrefix+"%", since.UnixMicro())
}

// Publish returns a record. The error has herb.CodeNotFound if there is none.
func (s Tables) Publish(ctx context.Context, id string) (Publish, error) {
	found, err := readRows(ctx, s, "reading a publish", scanPublish,
		"SELECT id, running, updated, content FROM publishes WHERE id = ?", id)
	if err == nil && len(found) == 0 {
		err = herb.Errorf(herb.CodeNotFound, "no such publish; they are kept for 24 hours")
	}
	if err != nil {
		return Publish{}, err
	}
	return found[0], nil
}
