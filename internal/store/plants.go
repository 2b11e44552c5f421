package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// PlantPage is a range of the log of plants, read from one state of the database.
type PlantPage struct {
	Epoch  string // identifies the database
	Total  int    // number of all plants
	Plants []herb.NewPlant
	// FirstBatch and LastBatch are the batch numbers of the first and the last plant of the page.
	// Each transaction that creates plants stores a random number with them. If a plant still has
	// the same batch number, it and all plants before it are unchanged.
	FirstBatch, LastBatch int64
}

// ReadPlants returns up to limit plants that follow the first n in creation order. It runs one
// statement, so it needs no transaction.
func ReadPlants(ctx context.Context, q querier, n, limit int) (page PlantPage, err error) {
	// Plants are numbered without gaps, so a range of numbers replaces LIMIT. With LIMIT, a
	// database may sort all later plants.
	rows, err := q.QueryContext(ctx, "SELECT t.epoch, t.plants, p.seq, p.id, p.name, p.tag, p.tag_given, p.batch "+
		"FROM totals t LEFT JOIN plants p ON p.seq > ? AND p.seq <= ? ORDER BY p.seq", n, n+limit)
	if err != nil {
		return page, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	var seq, id, batch sql.Null[int64]
	var name, tag sql.Null[string]
	var given sql.Null[bool]
	for rows.Next() {
		if err := rows.Scan(&page.Epoch, &page.Total, &seq, &id, &name, &tag, &given, &batch); err != nil {
			return page, err
		}
		if !seq.Valid { // no plants in the range
			continue
		}
		if want := int64(n + len(page.Plants) + 1); seq.V != want {
			return page, fmt.Errorf("plant %d is missing, the next is %d; the database is damaged", want, seq.V)
		}
		p := herb.NewPlant{ID: id.V, Plant: herb.Plant{Name: name.V}}
		if given.V {
			p.Tag = new(tag.V)
		}
		if len(page.Plants) == 0 {
			page.FirstBatch = batch.V
		}
		page.Plants, page.LastBatch = append(page.Plants, p), batch.V
	}
	if err := rows.Err(); err != nil {
		return page, err
	}
	if page.Epoch == "" {
		return page, sql.ErrNoRows
	}
	if end := min(n+limit, page.Total); n+len(page.Plants) < end {
		return page, fmt.Errorf("plants %d to %d are missing; the database is damaged", n+len(page.Plants)+1, end)
	}
	return page, nil
}

// Batch is a number of creations of which is decided what each creates.
type Batch struct {
	Outcomes []Outcome // one for each creation, in order
	Plants   []herb.NewPlant
	Keys     []BatchKey
	Number   int64 // random, stored with each plant
}

// BatchKey is the idempotency key of a new plant.
type BatchKey struct {
	IdempotencyKey
	Plant int // position in Batch.Plants, from 1
}

// PlanBatch decides what creations create, and deletes expired idempotency keys. A plant that
// cannot be created has an error in its outcome and does not affect the others. Outside of a
// transaction, the IDs and idempotency keys of the batch can be used by others before it is
// inserted, which then fails because they are unique.
func PlanBatch(ctx context.Context, tx Tx, creations []Creation, now time.Time) (b Batch, err error) {
	b.Number = rand.Int64()
	// IDs are read before keys: an ID that a repeated request finds taken was committed together
	// with its key, so the key is found as well.
	taken, err := takenIDs(ctx, tx, creations)
	if err != nil {
		return b, err
	}
	replays, err := readReplays(ctx, tx, creations, now)
	if err != nil {
		return b, err
	}
	for _, c := range creations {
		p, key := c.Plant, c.IdempotencyKey
		if key != nil {
			if r, ok := replays[key.name()]; ok {
				b.Outcomes = append(b.Outcomes, r.outcome(key))
				continue
			}
		}
		if taken[p.ID] {
			b.Outcomes = append(b.Outcomes,
				Outcome{Err: herb.Invalidf("a plant with id %d exists already; choose another id", p.ID)})
			continue
		}
		b.Outcomes = append(b.Outcomes, Outcome{Plant: p.Plant})
		taken[p.ID] = true
		b.Plants = append(b.Plants, p)
		if key != nil {
			replays[key.name()] = replay{key.Body[:], p.Plant}
			b.Keys = append(b.Keys, BatchKey{*key, len(b.Plants)})
		}
	}
	return b, nil
}

// Insert inserts the plants of the batch in the transaction in which it was planned, for databases
// that serialize write transactions.
func (b Batch) Insert(ctx context.Context, tx Tx, now time.Time) error {
	if len(b.Plants) == 0 {
		return nil
	}
	var count int
	if err := tx.QueryRowContext(ctx, "SELECT plants FROM totals").Scan(&count); err != nil {
		return err
	}
	var plants, keys [][]any
	for i, p := range b.Plants {
		tag, given := TagColumns(p.Plant)
		plants = append(plants, []any{count + i + 1, p.ID, p.Name, tag, given, b.Number})
	}
	for _, k := range b.Keys {
		keys = append(keys, []any{k.Credential, k.Key, k.Body[:], count + k.Plant, now.UnixMicro()})
	}
	if err := insert(ctx, tx, "plants (seq, id, name, tag, tag_given, batch)", plants, ""); err != nil {
		return err
	}
	if err := insert(ctx, tx, "retries (credential, key, body, seq, created)", keys, ""); err != nil {
		return err
	}
	return exec(ctx, tx, "UPDATE totals SET plants = ?", count+len(plants))
}

// Committed reports whether the plants of the batch were inserted, for callers that do not know
// whether inserting them has succeeded.
func (b Batch) Committed(ctx context.Context, tx Tx) (yes bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM plants WHERE id = ? AND batch = ?", b.Plants[0].ID,
		b.Number).Scan(&yes)
	return yes, err
}

// TagColumns returns the values of the columns tag and tag_given: an empty tag may have been given
// or not.
func TagColumns(p herb.Plant) (tag string, given bool) {
	if p.Tag == nil {
		return "", false
	}
	return *p.Tag, true
}

// takenIDs returns those IDs of the creations that exist already.
func takenIDs(ctx context.Context, tx Tx, creations []Creation) (map[int64]bool, error) {
	taken := map[int64]bool{}
	for chunk := range slices.Chunk(creations, rowsPerStatement) {
		var ids []any
		for _, c := range chunk {
			ids = append(ids, c.Plant.ID)
		}
		found, err := collect(ctx, tx, scanValue[int64], "SELECT id FROM plants WHERE id IN (?"+
			strings.Repeat(", ?", len(ids)-1)+")", ids...)
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

// replay is the plant that was created with an idempotency key, and the hash of the request body
// that created it.
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

// maxExpired is the maximum number of expired idempotency keys that one batch deletes. Usually
// there are none, and finding that out takes one index lookup.
const maxExpired = 1000

// readReplays deletes expired idempotency keys, and returns those of the creations that were used
// before.
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
		}, "SELECT r.credential, r.key, r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = "+
			"r.seq "+
			"WHERE (r.credential, r.key) IN (VALUES (?, ?)"+strings.Repeat(", (?, ?)", len(chunk)-1)+")",
			names...); err != nil {
			return nil, err
		}
	}
	return replays, nil
}

// IdempotencyRecord is an idempotency key and the plant that was created with it.
type IdempotencyRecord struct {
	IdempotencyKey
	Plant   int       `json:"plant"` // the number of the plant in creation order, from 1
	Created time.Time `json:"created"`
}

// IdempotencyRange selects idempotency keys. A range is stable once its plants exist, because a key
// is stored together with its plant.
type IdempotencyRange struct {
	Plants int       // keys of the first Plants plants
	Since  time.Time // keys used at this time or later
}

// IdempotencyKeysAfter returns up to limit idempotency keys of a range that follow another one in
// the order of credential and key. The zero key precedes all keys.
func (s Tables) IdempotencyKeysAfter(
	ctx context.Context, in IdempotencyRange, after IdempotencyKey, limit int,
) ([]IdempotencyRecord, error) {
	return readRows(ctx, s, "reading idempotency keys", func(rows *sql.Rows) (r IdempotencyRecord, err error) {
		var body []byte
		if err := rows.Scan(&r.Credential, &r.Key, &body, &r.Plant, (*stamp)(&r.Created)); err != nil {
			return r, err
		}
		if copy(r.Body[:], body) != len(r.Body) {
			return r, fmt.Errorf("the body hash of idempotency key %q has %d bytes instead of %d", r.Key, len(body),
				len(r.Body))
		}
		return r, nil
	}, "SELECT credential, key, body, seq, created FROM retries "+
		"WHERE (credential, key) > (?, ?) AND seq <= ? AND created >= ? ORDER BY credential, key LIMIT ?",
		after.Credential, after.Key, in.Plants, in.Since.UnixMicro(), limit)
}

// AddIdempotencyKeys stores idempotency keys of existing plants in one transaction. A key that
// exists is left unchanged.
func (s Tables) AddIdempotencyKeys(ctx context.Context, records []IdempotencyRecord) error {
	rows := make([][]any, len(records))
	for i, r := range records {
		rows[i] = []any{r.Credential, r.Key, r.Body[:], r.Plant, r.Created.UnixMicro()}
	}
	return s.write(ctx, "adding idempotency keys", func(ctx context.Context, tx Tx) error {
		return insert(ctx, tx, "retries (credential, key, body, seq, created)", rows,
			"ON CONFLICT (credential, key) DO NOTHING")
	})
}
