package store_test

import (
	"crypto/sha256"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// withKey adds an idempotency key to a creation.
func withKey(c store.Creation, credential, key, body string) store.Creation {
	c.IdempotencyKey = &store.IdempotencyKey{Credential: credential, Key: key, Body: sha256.Sum256([]byte(body))}
	return c
}

// wantReplay checks that a creation gets the outcome of an earlier one.
func wantReplay(t *testing.T, s Store, c store.Creation, want herb.Plant) {
	t.Helper()
	wantEqual(t, "replay", store.Outcome{Plant: want, Replayed: true}, mustCreate(t, s, c)[0])
}

// wantCreated checks that plants are created, not replayed.
func wantCreated(t *testing.T, s Store, creations ...store.Creation) {
	t.Helper()
	for i, o := range mustCreate(t, s, creations...) {
		wantEqual(t, "creation", store.Outcome{Plant: creations[i].Plant.Plant}, o)
	}
}

func (suite) IdempotencyReplay(t *testing.T, db Database) {
	s := open(t, db)
	first := withKey(creation(1, "Fern", "shade"), "ann", "k1", "a")
	untagged := withKey(creation(2, "Rose"), "ann", "k2", "b")
	emptyTag := withKey(creation(3, "Oak", ""), "ann", "k3", "c")
	outcomes := mustCreate(t, s, first, untagged, first, emptyTag) // the third repeats the first within the batch
	wantEqual(t, "outcomes", []store.Outcome{
		{Plant: first.Plant.Plant}, {Plant: untagged.Plant.Plant}, {Plant: first.Plant.Plant, Replayed: true},
		{Plant: emptyTag.Plant.Plant},
	}, outcomes)
	for _, c := range []store.Creation{first, untagged, emptyTag} {
		wantReplay(t, s, c, c.Plant.Plant)
	}
	wantTotal(t, s, 3)
}

func (suite) IdempotencyAnotherBody(t *testing.T, db Database) {
	s := open(t, db)
	first := withKey(creation(1, "Fern"), "ann", "k1", "a")
	other := withKey(creation(2, "Rose"), "ann", "k1", "b")
	outcomes := create(t, s, first, other)
	must.NoError(t, outcomes[0].Err)
	wantCode(t, outcomes[1].Err, herb.CodeInvalid, `"k1"`)
	outcomes = create(t, s, other, creation(3, "Oak"))
	wantCode(t, outcomes[0].Err, herb.CodeInvalid, `"k1"`)
	must.NoError(t, outcomes[1].Err)
	wantReplay(t, s, first, first.Plant.Plant)
	wantTotal(t, s, 2)
}

func (suite) IdempotencyPrivate(t *testing.T, db Database) {
	wantCreated(t, open(t, db),
		withKey(creation(1, "Fern"), "ann", "k", "a"),
		withKey(creation(2, "Rose"), "bob", "k", "b"),
		withKey(creation(3, "Oak"), "an", "nk", "c"))
}

func (suite) IdempotencyFailures(t *testing.T, db Database) {
	s := open(t, db)
	mustCreate(t, s, creation(1, "Fern"))
	outcomes := create(t, s, withKey(creation(1, "Rose"), "ann", "k", "a"))
	wantCode(t, outcomes[0].Err, herb.CodeInvalid)
	wantCreated(t, s, withKey(creation(2, "Rose"), "ann", "k", "b")) // the same key may carry the corrected request
}

// IdempotencyKept repeats a request after a restart and a day.
func (suite) IdempotencyKept(t *testing.T, db Database) {
	first := withKey(creation(1, "Fern", "shade"), "ann", "k", "a")
	now := day
	s := db(t, func() time.Time { return now })
	mustCreate(t, s, first)
	closeStore(t, s)

	s = db(t, func() time.Time { return now })
	now = day.Add(24 * time.Hour)
	mustCreate(t, s, creation(2, "Rose"))
	wantReplay(t, s, first, first.Plant.Plant)
	closeStore(t, s)
}

func (suite) IdempotencyExpired(t *testing.T, db Database) {
	now := day
	s := db(t, func() time.Time { return now })
	t.Cleanup(func() { closeStore(t, s) })
	mustCreate(t, s, withKey(creation(1, "Fern"), "ann", "k", "a"))
	now = day.Add(100 * time.Hour)
	wantCreated(t, s, withKey(creation(2, "Rose"), "ann", "k", "b"))
}

// IdempotencyClock repeats creations after the clock has jumped. A jump forward by more than
// idempotency keys are kept makes it a new creation, which is rejected because the ID is taken;
// nothing is created twice.
func (suite) IdempotencyClock(t *testing.T, db Database) {
	now := day
	s := db(t, func() time.Time { return now })
	t.Cleanup(func() { closeStore(t, s) })
	const year = 365 * 24 * time.Hour
	for i, jump := range []time.Duration{-time.Second, -year, 0, year} {
		now = day
		id := int64(2 * i)
		first := withKey(creation(id+1, "Fern"), "ann", jump.String()+"a", "a")
		second := withKey(creation(id+2, "Rose"), "ann", jump.String()+"b", "b")
		mustCreate(t, s, first)
		now = now.Add(jump)
		mustCreate(t, s, second) // drops keys that are too old
		if jump > 24*time.Hour {
			wantCode(t, create(t, s, first)[0].Err, herb.CodeInvalid)
		} else {
			wantReplay(t, s, first, first.Plant.Plant)
		}
		wantReplay(t, s, second, second.Plant.Plant)
	}
}

// IdempotencyConcurrent sends one request many times concurrently, through two stores on the same
// data.
func (suite) IdempotencyConcurrent(t *testing.T, db Database) {
	stores := []Store{open(t, db), open(t, db)}
	c := withKey(creation(1, "Fern"), "ann", "k", "a")
	var created atomic.Int32
	concurrently(8, func(i int) {
		o, err := stores[i%2].CreatePlants(t.Context(), []store.Creation{c})
		switch {
		case err != nil || o[0].Err != nil || o[0].Plant.Name != "Fern":
			t.Errorf("outcome %+v, %v", o, err)
		case !o[0].Replayed:
			created.Add(1)
		}
	})
	if n := created.Load(); n != 1 {
		t.Errorf("created %d times", n)
	}
}
