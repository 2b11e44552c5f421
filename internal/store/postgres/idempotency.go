package postgres

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// forgetAtOnce limits what one batch spends on forgetting.
const expireBatch = 1000

// retryKey is what tells retries apart.
type idempotencyID struct{ credential, key string }

// found is what was created under a idempotency key.
type replay struct {
	body  []byte
	plant herb.Plant
}

// queueRetries drops some of the idempotency keys that are too old, of which there mostly are none, and then reads what was
// created under those of the batch. A batch without any has nothing to do with either.
func (b *batch) queueIdempotencyKeys(q *pgx.Batch) {
	var credentials, keys []string
	for _, c := range b.creations {
		if c.IdempotencyKey != nil {
			credentials, keys = append(credentials, c.IdempotencyKey.Credential), append(keys, c.IdempotencyKey.Key)
		}
	}
	if len(keys) == 0 {
		return
	}
	q.Queue("DELETE FROM retries WHERE (credential, key) IN "+
		"(SELECT credential, key FROM retries WHERE created < $1 ORDER BY created LIMIT $2)",
		b.now.Add(-store.IdempotencyRetention).UnixMicro(), expireBatch)
	q.Queue("SELECT r.credential, r.key, r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = r.seq "+
		"WHERE (r.credential, r.key) IN (SELECT * FROM unnest($1::text[], $2::text[]))", credentials, keys).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var k idempotencyID
				var f replay
				var tag string
				var given bool
				if err := rows.Scan(&k.credential, &k.key, &f.body, &f.plant.Name, &tag, &given); err != nil {
					return err
				}
				if given {
					f.plant.Tag = &tag
				}
				b.replays[k] = f
			}
			return rows.Err()
		})
}

// findRetry returns the outcome of a creation whose idempotency key was used before.
func (b *batch) findReplay(r store.IdempotencyKey) (o store.Outcome, yes bool) {
	f, yes := b.replays[idempotencyID{r.Credential, r.Key}]
	switch {
	case !yes:
		return store.Outcome{}, false
	case !bytes.Equal(f.body, r.Body[:]):
		return store.Outcome{Err: herb.Invalidf("the idempotency key %q was used before with another body; "+
			"repeat the body exactly, or use a new key for a new plant", r.Key)}, true
	default:
		return store.Outcome{Plant: f.plant, Replayed: true}, true
	}
}

// rememberRetry notes what is created under a idempotency key.
func (b *batch) addIdempotencyKey(r store.IdempotencyKey, seq int64, p herb.Plant) {
	b.replays[idempotencyID{r.Credential, r.Key}] = replay{body: r.Body[:], plant: p}
	c := &b.created
	c.credentials = append(c.credentials, r.Credential)
	c.keys = append(c.keys, r.Key)
	c.bodies = append(c.bodies, r.Body[:])
	c.keySeqs = append(c.keySeqs, seq)
}
