package storetest

import (
	"crypto/sha256"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
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
	outcomes := mustCreate(t, s, c)
	if diff := cmp.Diff(store.Outcome{Plant: want, Replayed: true}, outcomes[0]); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
}

func testReplay(t *testing.T, db Database) {
	s := open(t, db)
	first := withKey(creation(1, "Fern", "shade"), "ann", "k1", "a")
	untagged := withKey(creation(2, "Rose"), "ann", "k2", "b")
	emptyTag := withKey(creation(3, "Oak", ""), "ann", "k3", "c")
	outcomes := mustCreate(t, s, first, untagged, first, emptyTag) // the third repeats the first within the batch
	for i, replayed := range []bool{false, false, true, false} {
		if outcomes[i].Replayed != replayed {
			t.Errorf("outcome %d: replayed is %t", i, outcomes[i].Replayed)
		}
	}
	if diff := cmp.Diff(outcomes[0].Plant, outcomes[2].Plant); diff != "" {
		t.Errorf("within the batch (-first +again):\n%s", diff)
	}
	wantReplay(t, s, first, first.Plant.Plant)
	wantReplay(t, s, untagged, untagged.Plant.Plant)
	wantReplay(t, s, emptyTag, emptyTag.Plant.Plant)
	if _, total := list(t, s, ""); total != 3 {
		t.Errorf("total is %d", total)
	}
}

func testAnotherBody(t *testing.T, db Database) {
	s := open(t, db)
	first := withKey(creation(1, "Fern"), "ann", "k1", "a")
	other := withKey(creation(2, "Rose"), "ann", "k1", "b")
	check := func(o store.Outcome) {
		t.Helper()
		if m := wantCode(t, o.Err, herb.CodeInvalid); !strings.Contains(m, `"k1"`) {
			t.Errorf("the message %q does not name the key", m)
		}
	}
	outcomes, err := s.CreatePlants(t.Context(), []store.Creation{first, other})
	noError(t, err)
	noError(t, outcomes[0].Err)
	check(outcomes[1])
	outcomes, err = s.CreatePlants(t.Context(), []store.Creation{other, creation(3, "Oak")})
	noError(t, err)
	check(outcomes[0])
	noError(t, outcomes[1].Err)
	wantReplay(t, s, first, first.Plant.Plant)
	if _, total := list(t, s, ""); total != 2 {
		t.Errorf("total is %d", total)
	}
}

func testKeysPerCredential(t *testing.T, db Database) {
	s := open(t, db)
	outcomes := mustCreate(t, s,
		withKey(creation(1, "Fern"), "ann", "k", "a"),
		withKey(creation(2, "Rose"), "bob", "k", "b"),
		withKey(creation(3, "Oak"), "an", "nk", "c"))
	for i, o := range outcomes {
		if o.Replayed {
			t.Errorf("outcome %d is that of another credential", i)
		}
	}
}

func testFailuresNotStored(t *testing.T, db Database) {
	s := open(t, db)
	mustCreate(t, s, creation(1, "Fern"))
	outcomes, err := s.CreatePlants(t.Context(), []store.Creation{withKey(creation(1, "Rose"), "ann", "k", "a")})
	noError(t, err)
	wantCode(t, outcomes[0].Err, herb.CodeInvalid)
	// The same key may carry the corrected request.
	if o := mustCreate(t, s, withKey(creation(2, "Rose"), "ann", "k", "b")); o[0].Replayed {
		t.Error("a failed creation was replayed")
	}
}

// testKeysKept repeats a request after a restart and a day.
func testKeysKept(t *testing.T, db Database) {
	first := withKey(creation(1, "Fern", "shade"), "ann", "k", "a")
	now := day
	s := db.Open(t, func() time.Time { return now })
	mustCreate(t, s, first)
	closeStore(t, s)

	s = db.Open(t, func() time.Time { return now })
	now = day.Add(24 * time.Hour)
	mustCreate(t, s, creation(2, "Rose"))
	wantReplay(t, s, first, first.Plant.Plant)
	closeStore(t, s)
}

func testKeysExpire(t *testing.T, db Database) {
	now := day
	s := db.Open(t, func() time.Time { return now })
	t.Cleanup(func() { closeStore(t, s) })
	mustCreate(t, s, withKey(creation(1, "Fern"), "ann", "k", "a"))
	now = day.Add(100 * time.Hour)
	if o := mustCreate(t, s, withKey(creation(2, "Rose"), "ann", "k", "b")); o[0].Replayed {
		t.Error("a key of four days ago was replayed")
	}
}

// testConcurrentReplay sends one request many times concurrently, through two stores on the same data.
func testConcurrentReplay(t *testing.T, db Database) {
	stores := []Store{open(t, db), open(t, db)}
	c := withKey(creation(1, "Fern"), "ann", "k", "a")
	outcomes := make([]store.Outcome, 8)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() {
			o, err := stores[i%2].CreatePlants(t.Context(), []store.Creation{c})
			if err != nil {
				t.Error(err)
				return
			}
			outcomes[i] = o[0]
		})
	}
	wg.Wait()
	created := 0
	for _, o := range outcomes {
		if o.Err != nil || o.Plant.Name != "Fern" {
			t.Errorf("outcome %+v", o)
		}
		if !o.Replayed {
			created++
		}
	}
	if created != 1 {
		t.Errorf("created %d times", created)
	}
}
