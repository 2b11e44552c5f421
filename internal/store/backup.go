package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"herbarium/internal/herb"
)

// The methods in this file read and write what a backup contains beyond keys and the catalogue.

// IdempotencyRecord is an idempotency key and the plant that was created with it.
type IdempotencyRecord struct {
	IdempotencyKey
	Plant   int       `json:"plant"` // the number of the plant in creation order, from 1
	Created time.Time `json:"created"`
}

// IdempotencyRange selects idempotency keys. A range is stable once its plants exist, because a key is stored together
// with its plant.
type IdempotencyRange struct {
	Plants int       // keys of the first Plants plants
	Since  time.Time // keys used at this time or later
}

// IdempotencyKeysAfter returns up to limit idempotency keys of a range that follow another one in the order of credential
// and key. The zero key precedes all keys.
func (s Tables) IdempotencyKeysAfter(
	ctx context.Context, in IdempotencyRange, after IdempotencyKey, limit int,
) ([]IdempotencyRecord, error) {
	return readRows(ctx, s, "reading idempotency keys", func(rows *sql.Rows) (r IdempotencyRecord, err error) {
		var body []byte
		if err := rows.Scan(&r.Credential, &r.Key, &body, &r.Plant, (*stamp)(&r.Created)); err != nil {
			return r, err
		}
		if copy(r.Body[:], body) != len(r.Body) {
			return r, fmt.Errorf("the body hash of idempotency key %q has %d bytes instead of %d", r.Key, len(body), len(r.Body))
		}
		return r, nil
	}, "SELECT credential, key, body, seq, created FROM retries "+
		"WHERE (credential, key) > (?, ?) AND seq <= ? AND created >= ? ORDER BY credential, key LIMIT ?",
		after.Credential, after.Key, in.Plants, in.Since.UnixMicro(), limit)
}

// AddIdempotencyKeys stores idempotency keys of existing plants in one transaction. A key that exists is left unchanged.
func (s Tables) AddIdempotencyKeys(ctx context.Context, records []IdempotencyRecord) error {
	rows := make([][]any, len(records))
	for i, r := range records {
		rows[i] = []any{r.Credential, r.Key, r.Body[:], r.Plant, r.Created.UnixMicro()}
	}
	return s.write(ctx, "adding idempotency keys", func(ctx context.Context, tx Tx) error {
		return insert(ctx, tx, "retries (credential, key, body, seq, created)", rows, "ON CONFLICT (credential, key) DO NOTHING")
	})
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
