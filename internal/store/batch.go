package store

import (
	"bytes"
	"math/rand/v2"

	"herbarium/internal/herb"
)

// Batch determines the outcomes of creations in memory. A database sets Plants, TakenIDs and Replays while it holds the
// lock of the plants, calls Decide, and stores Created.
type Batch struct {
	Creations []Creation
	Plants    int64                      // number of plants before
	TakenIDs  map[int64]bool             // IDs of the batch that exist
	Replays   map[IdempotencyName]Replay // idempotency keys of the batch that were used before
	Created   []CreatedPlant
	Number    int64 // random, stored with each plant
}

// CreatedPlant is a plant to be stored.
type CreatedPlant struct {
	herb.NewPlant
	Seq            int64
	IdempotencyKey *IdempotencyKey // nil if there is none
}

// IdempotencyName identifies an idempotency key.
type IdempotencyName struct{ Credential, Key string }

// Replay is the plant that was created with an idempotency key, and the hash of the request body.
type Replay struct {
	Body  []byte
	Plant herb.Plant
}

// TagColumns returns the columns for the tag of a plant: the tag, which is also empty if none was given, and whether it was.
func TagColumns(p herb.Plant) (tag string, given bool) {
	if p.Tag == nil {
		return "", false
	}
	return *p.Tag, true
}

// NewBatch returns a batch of creations.
func NewBatch(creations []Creation) *Batch {
	b := &Batch{Creations: creations}
	b.Reset()
	return b
}

// Reset discards everything but the creations, for another attempt to store them.
func (b *Batch) Reset() {
	b.TakenIDs, b.Replays, b.Created = map[int64]bool{}, map[IdempotencyName]Replay{}, nil
	b.Number = rand.Int64()
}

// IDs returns the IDs of the creations.
func (b *Batch) IDs() []int64 {
	ids := make([]int64, len(b.Creations))
	for i, c := range b.Creations {
		ids[i] = c.Plant.ID
	}
	return ids
}

// IdempotencyNames returns the credentials and keys of the creations with an idempotency key.
func (b *Batch) IdempotencyNames() (credentials, keys []string) {
	for _, c := range b.Creations {
		if k := c.IdempotencyKey; k != nil {
			credentials, keys = append(credentials, k.Credential), append(keys, k.Key)
		}
	}
	return credentials, keys
}

// AddReplay records an idempotency key that was used before.
func (b *Batch) AddReplay(credential, key string, body []byte, name, tag string, tagGiven bool) {
	plant := herb.Plant{Name: name}
	if tagGiven {
		plant.Tag = &tag
	}
	b.Replays[IdempotencyName{credential, key}] = Replay{body, plant}
}

// Decide returns the outcome of each creation, in order, and sets Created.
func (b *Batch) Decide() []Outcome {
	outcomes := make([]Outcome, len(b.Creations))
	for i, c := range b.Creations {
		o, key, id := &outcomes[i], c.IdempotencyKey, c.Plant.ID
		if key != nil {
			if replay, ok := b.Replays[IdempotencyName{key.Credential, key.Key}]; ok {
				*o = replay.outcome(key)
				continue
			}
		}
		if b.TakenIDs[id] {
			o.Err = herb.Invalidf("a plant with id %d exists already; choose another id", id)
			continue
		}
		o.Plant = c.Plant.Plant
		b.TakenIDs[id] = true
		if key != nil {
			b.Replays[IdempotencyName{key.Credential, key.Key}] = Replay{key.Body[:], o.Plant}
		}
		b.Created = append(b.Created, CreatedPlant{NewPlant: c.Plant, Seq: b.Plants + int64(len(b.Created)) + 1, IdempotencyKey: key})
	}
	return outcomes
}

// outcome returns the outcome of a creation with a key that was used before.
func (r Replay) outcome(k *IdempotencyKey) Outcome {
	if !bytes.Equal(r.Body, k.Body[:]) {
		return Outcome{Err: herb.Invalidf("the idempotency key %q was used before with another body; "+
			"repeat the body exactly, or use a new key for a new plant", k.Key)}
	}
	return Outcome{Plant: r.Plant, Replayed: true}
}

// ExpireIdempotencyKeys is the statement that deletes expired idempotency keys: up to its second parameter of those
// created before its first. Usually there are none, which one index lookup shows.
const ExpireIdempotencyKeys = "DELETE FROM retries WHERE (credential, key) IN " +
	"(SELECT credential, key FROM retries WHERE created < ? ORDER BY created LIMIT ?)"

// SelectReplays is the start of a query for the columns of AddReplay. A list of credentials and keys follows.
const SelectReplays = "SELECT r.credential, r.key, r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = r.seq " +
	"WHERE (r.credential, r.key) IN "

// MaxExpired is how many expired idempotency keys one batch deletes.
const MaxExpired = 1000
