package postgres

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// forgetAtOnce limits what one batch spends on forgetting.
const forgetAtOnce = 1000

// retryKey is what tells retries apart.
type retryKey struct{ credential, key string }

// found is what was created under a retry key.
type found struct {
	body  []byte
	plant herb.Plant
}

// queueRetries drops some of the retry keys that are too old, of which there mostly are none, and then reads what was
// created under those of the batch. A batch without any has nothing to do with either.
func (b *batch) queueRetries(q *pgx.Batch) {
	var credentials, keys []string
	for _, c := range b.creations {
		if c.Retry != nil {
			credentials, keys = append(credentials, c.Retry.Credential), append(keys, c.Retry.Key)
		}
	}
	if len(keys) == 0 {
		return
	}
	q.Queue("DELETE FROM retries WHERE (credential, key) IN "+
		"(SELECT credential, key FROM retries WHERE created < $1 ORDER BY created LIMIT $2)",
		b.now.Add(-store.RetryRetention).UnixMicro(), forgetAtOnce)
	q.Queue("SELECT r.credential, r.key, r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = r.seq "+
		"WHERE (r.credential, r.key) IN (SELECT * FROM unnest($1::text[], $2::text[]))", credentials, keys).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var k retryKey
				var f found
				var tag string
				var given bool
				if err := rows.Scan(&k.credential, &k.key, &f.body, &f.plant.Name, &tag, &given); err != nil {
					return err
				}
				if given {
					f.plant.Tag = &tag
				}
				b.retries[k] = f
			}
			return rows.Err()
		})
}

// findRetry returns the outcome of a creation whose retry key was used before.
func (b *batch) findRetry(r store.Retry) (o store.Outcome, yes bool) {
	f, yes := b.retries[retryKey{r.Credential, r.Key}]
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

// rememberRetry notes what is created under a retry key.
func (b *batch) rememberRetry(r store.Retry, seq int64, p herb.Plant) {
	b.retries[retryKey{r.Credential, r.Key}] = found{body: r.Body[:], plant: p}
	c := &b.created
	c.credentials = append(c.credentials, r.Credential)
	c.keys = append(c.keys, r.Key)
	c.bodies = append(c.bodies, r.Body[:])
	c.retrySeqs = append(c.retrySeqs, seq)
}
