package postgres

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// expireBatch limits how many expired keys one batch deletes.
const expireBatch = 1000

// idempotencyID identifies an idempotency key.
type idempotencyID struct{ credential, key string }

// replay is the plant that was created with an idempotency key.
type replay struct {
	body  []byte
	plant herb.Plant
}

// queueIdempotencyKeys deletes some of the expired idempotency keys, of which there are usually none, and reads the plants
// created with the keys of the batch. It does nothing for a batch without keys.
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

// findReplay returns the outcome of a creation whose idempotency key was used before.
func (b *batch) findReplay(k store.IdempotencyKey) (o store.Outcome, yes bool) {
	f, yes := b.replays[idempotencyID{k.Credential, k.Key}]
	switch {
	case !yes:
		return store.Outcome{}, false
	case !bytes.Equal(f.body, k.Body[:]):
		return store.Outcome{Err: herb.Invalidf("the idempotency key %q was used before with another body; "+
			"repeat the body exactly, or use a new key for a new plant", k.Key)}, true
	default:
		return store.Outcome{Plant: f.plant, Replayed: true}, true
	}
}

// addIdempotencyKey adds the idempotency key of a created plant.
func (b *batch) addIdempotencyKey(k store.IdempotencyKey, seq int64, p herb.Plant) {
	b.replays[idempotencyID{k.Credential, k.Key}] = replay{body: k.Body[:], plant: p}
	c := &b.created
	c.credentials = append(c.credentials, k.Credential)
	c.keys = append(c.keys, k.Key)
	c.bodies = append(c.bodies, k.Body[:])
	c.keySeqs = append(c.keySeqs, seq)
}
