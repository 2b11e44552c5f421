package store

import (
	"bytes"
	"context"
	"database/sql"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Batch is the result of CreatePlants.
type Batch struct {
	Outcomes []Outcome // of each creation, in order
	Created  int       // number of new plants
	last     int64     // number of the last plant
	number   int64     // random, stored with each plant
}

// Committed reports whether the transaction that created the plants was committed. It waits for the end of that transaction,
// which has the lock; see CreatePlants.
func (b Batch) Committed(ctx context.Context, tx Tx, lock string) (yes bool, err error) {
	if _, err := countPlants(ctx, tx, lock); err != nil {
		return false, err
	}
	err = tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM plants WHERE seq = ? AND batch = ?", b.last, b.number).Scan(&yes)
	return yes, err
}

// countPlants returns the number of plants.
func countPlants(ctx context.Context, tx Tx, lock string) (n int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT plants FROM totals "+lock).Scan(&n)
	return n, err
}

// CreatePlants creates plants in a transaction. A plant that cannot be created has an error in its outcome and does not affect
// the others. lock is the clause that locks the number of plants, so that batches are serialized: "FOR UPDATE", or empty if
// all write transactions are.
func CreatePlants(ctx context.Context, tx Tx, creations []Creation, now time.Time, lock string) (b Batch, err error) {
	b.number = rand.Int64()
	if b.last, err = countPlants(ctx, tx, lock); err != nil {
		return b, err
	}
	taken, err := takenIDs(ctx, tx, creations)
	if err != nil {
		return b, err
	}
	replays, err := readReplays(ctx, tx, creations, now)
	if err != nil {
		return b, err
	}
	var plants, keys [][]any
	for _, c := range creations {
		p, key := c.Plant, c.IdempotencyKey
		if key != nil {
			if r, ok := replays[key.name()]; ok {
				b.Outcomes = append(b.Outcomes, r.outcome(key))
				continue
			}
		}
		if taken[p.ID] {
			b.Outcomes = append(b.Outcomes, Outcome{Err: herb.Invalidf("a plant with id %d exists already; choose another id", p.ID)})
			continue
		}
		b.Outcomes = append(b.Outcomes, Outcome{Plant: p.Plant})
		b.last++
		taken[p.ID] = true
		tag, given := TagColumns(p.Plant)
		plants = append(plants, []any{b.last, p.ID, p.Name, tag, given, b.number})
		if key != nil {
			replays[key.name()] = replay{key.Body[:], p.Plant}
			keys = append(keys, []any{key.Credential, key.Key, key.Body[:], b.last, now.UnixMicro()})
		}
	}
	if b.Created = len(plants); b.Created == 0 {
		return b, nil
	}
	if err := insert(ctx, tx, "plants (seq, id, name, tag, tag_given, batch)", plants, ""); err != nil {
		return b, err
	}
	if err := insert(ctx, tx, "retries (credential, key, body, seq, created)", keys, ""); err != nil {
		return b, err
	}
	return b, exec(ctx, tx, "UPDATE totals SET plants = ?", b.last)
}

// TagColumns returns the columns for the tag of a plant: the tag, which is also empty if none was given, and whether it was.
func TagColumns(p herb.Plant) (tag string, given bool) {
	if p.Tag == nil {
		return "", false
	}
	return *p.Tag, true
}

// takenIDs returns the IDs of creations that exist.
func takenIDs(ctx context.Context, tx Tx, creations []Creation) (map[int64]bool, error) {
	taken := map[int64]bool{}
	for chunk := range slices.Chunk(creations, rowsPerStatement) {
		var ids []any
		for _, c := range chunk {
			ids = append(ids, c.Plant.ID)
		}
		found, err := collect(ctx, tx, scanValue[int64], "SELECT id FROM plants WHERE id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", ids...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			taken[id] = true
		}
	}
	return taken, nil
}

// keyName identifies an idempotency key.
type keyName struct{ credential, key string }

func (k *IdempotencyKey) name() keyName { return keyName{k.Credential, k.Key} }

// replay is the plant that was created with an idempotency key, and the hash of the request body.
type replay struct {
	body  []byte
	plant herb.Plant
}

// outcome returns the outcome of a creation with a key that was used before.
func (r replay) outcome(k *IdempotencyKey) Outcome {
	if !bytes.Equal(r.body, k.Body[:]) {
		return Outcome{Err: herb.Invalidf("the idempotency key %q was used before with another body; "+
			"repeat the body exactly, or use a new key for a new plant", k.Key)}
	}
	return Outcome{Plant: r.plant, Replayed: true}
}

// maxExpired is how many expired idempotency keys one batch deletes. Usually there are none, which one index lookup shows.
const maxExpired = 1000

// readReplays returns the idempotency keys of creations that were used before. It deletes expired ones first.
func readReplays(ctx context.Context, tx Tx, creations []Creation, now time.Time) (map[keyName]replay, error) {
	replays := map[keyName]replay{}
	keyed := slices.DeleteFunc(slices.Clone(creations), func(c Creation) bool { return c.IdempotencyKey == nil })
	if len(keyed) == 0 {
		return replays, nil
	}
	if err := exec(ctx, tx, "DELETE FROM retries WHERE (credential, key) IN "+
		"(SELECT credential, key FROM retries WHERE created < ? ORDER BY created LIMIT ?)",
		now.Add(-IdempotencyRetention).UnixMicro(), maxExpired); err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(keyed, rowsPerStatement) {
		var names []any
		for _, c := range chunk {
			names = append(names, c.IdempotencyKey.Credential, c.IdempotencyKey.Key)
		}
		if _, err := collect(ctx, tx, func(rows *sql.Rows) (_ struct{}, err error) {
			var name keyName
			var r replay
			var tag string
			var given bool
			err = rows.Scan(&name.credential, &name.key, &r.body, &r.plant.Name, &tag, &given)
			if given {
				r.plant.Tag = &tag
			}
			replays[name] = r
			return struct{}{}, err
		}, "SELECT r.credential, r.key, r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = r.seq "+
			"WHERE (r.credential, r.key) IN (VALUES (?, ?)"+strings.Repeat(", (?, ?)", len(chunk)-1)+")", names...); err != nil {
			return nil, err
		}
	}
	return replays, nil
}
