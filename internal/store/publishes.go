package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// Publish is a publish over HTTP as it is stored.
type Publish struct {
	ID      string
	Running bool
	Updated time.Time // last write; the program that runs it renews it
	Content []byte    // JSON
}

// AddPublish stores a publish and removes those that were last updated before a time.
func (s Tables) AddPublish(ctx context.Context, p Publish, expired time.Time) error {
	return s.write(ctx, "recording a publish", func(ctx context.Context, tx Tx) error {
		if err := exec(ctx, tx, "DELETE FROM publishes WHERE updated < ?", expired.UnixMicro()); err != nil {
			return err
		}
		return exec(ctx, tx, "INSERT INTO publishes (id, running, updated, content) VALUES (?, ?, ?, ?)",
			p.ID, p.Running, p.Updated.UnixMicro(), p.Content)
	})
}

// UpdatePublish replaces a publish. The program that runs the publish has the last word, also about
// one that another program has given up. A result that names a withdrawn version deletes the
// publish: it may quote values of that version.
func (s Tables) UpdatePublish(ctx context.Context, p Publish) error {
	return s.write(ctx, "recording a publish", func(ctx context.Context, tx Tx) error {
		withdrawn, err := collect(ctx, tx, scanValue[string], "SELECT version FROM withdrawn WHERE NOT ?", p.Running)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(withdrawn, p.names) {
			return exec(ctx, tx, "DELETE FROM publishes WHERE id = ?", p.ID)
		}
		return exec(ctx, tx, "UPDATE publishes SET running = ?, updated = ?, content = ? WHERE id = ?",
			p.Running, p.Updated.UnixMicro(), p.Content, p.ID)
	})
}

// names reports whether the content names a version.
func (p Publish) names(version string) bool { return bytes.Contains(p.Content, []byte(version)) }

// publishContent is what this package reads of the content of a publish.
type publishContent struct {
	SHA256 string `json:"sha256"` // of the file
	Result struct {
		Version string `json:"version"` // that went live
	} `json:"result"`
}

// EndPublish ends a running publish that was not renewed since it was read, and adds an
// audit entry if entry is not nil. It reports false, and does nothing, if it was renewed:
// of all programs that try, one succeeds.
func (s Tables) EndPublish(ctx context.Context, p Publish, read time.Time, entry *herb.AuditEntry) (ended bool,
	err error) {
	err = s.write(ctx, "ending an abandoned publish", func(ctx context.Context, tx Tx) error {
		result, err := tx.ExecContext(ctx,
			"UPDATE publishes SET running = ?, updated = ?, content = ? WHERE id = ? AND running = ? AND updated = ?",
			false, p.Updated.UnixMicro(), p.Content, p.ID, true, read.UnixMicro())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		ended = n > 0
		if ended && err == nil && entry != nil {
			err = addAudit(ctx, tx, *entry)
		}
		return err
	})
	return ended && err == nil, err
}

// AbandonedPublishes returns running publishes that were last updated before a time.
func (s Tables) AbandonedPublishes(ctx context.Context, before time.Time) ([]Publish, error) {
	return readRows(ctx, s, "reading publishes", scanPublish,
		"SELECT id, running, updated, content FROM publishes WHERE running = ? AND updated < ? AND id NOT LIKE ?", true,
		before.UnixMicro(), formerDrafts)
}

func scanPublish(rows *sql.Rows) (p Publish, err error) {
	err = rows.Scan(&p.ID, &p.Running, (*stamp)(&p.Updated), &p.Content)
	return p, err
}

// Publish returns a publish. The error has herb.CodeNotFound if there is none.
func (s Tables) Publish(ctx context.Context, id string) (Publish, error) {
	found, err := readRows(ctx, s, "reading a publish", scanPublish,
		"SELECT id, running, updated, content FROM publishes WHERE id = ? AND id NOT LIKE ?", id, formerDrafts)
	if err == nil && len(found) == 0 {
		err = herb.Errorf(herb.CodeNotFound, "no such publish; they are kept for 24 hours")
	}
	if err != nil {
		return Publish{}, err
	}
	return found[0], nil
}

// deletePublishesOf deletes the publishes that have ended and name a version: those
// that have published it, and those that have compared another version with it. It also deletes
// those of the same file, which quote its values without naming a version: checks and rejections.
func deletePublishesOf(ctx context.Context, tx Tx, version string) error {
	ended, err := collect(ctx, tx, scanPublish,
		"SELECT id, running, updated, content FROM publishes WHERE running = ? AND id NOT LIKE ?", false, formerDrafts)
	if err != nil {
		return err
	}
	contents, files := make([]publishContent, len(ended)), map[string]bool{}
	for i, p := range ended {
		if err := json.Unmarshal(p.Content, &contents[i]); err != nil {
			return fmt.Errorf("decode publish %s: %w", p.ID, err)
		}
		if c := contents[i]; c.Result.Version == version && c.SHA256 != "" {
			files[c.SHA256] = true
		}
	}
	for i, p := range ended {
		if !p.names(version) && !files[contents[i].SHA256] {
			continue
		}
		if err := exec(ctx, tx, "DELETE FROM publishes WHERE id = ?", p.ID); err != nil {
			return err
		}
	}
	return nil
}
