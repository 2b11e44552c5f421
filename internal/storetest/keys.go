package storetest

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// key returns a key that was created so many minutes after day.
func key(id string, minutes int) herb.Key {
	return herb.Key{
		ID:      id,
		Name:    "key of " + id,
		Scopes:  []herb.Scope{herb.ScopePlantsWrite, "data:read:garden/*"},
		Hash:    sha256.Sum256([]byte(id)),
		Created: day.Add(time.Duration(minutes) * time.Minute),
	}
}

// wantKeys checks all keys, one by one as well.
func wantKeys(t *testing.T, s Store, want ...herb.Key) {
	t.Helper()
	got, err := s.Keys(t.Context())
	noError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	revoked := 0
	for _, w := range want {
		if !w.Revoked.IsZero() {
			revoked++
		}
	}
	if n, r, err := s.CountKeys(t.Context()); n != len(want) || r != revoked || err != nil {
		t.Errorf("CountKeys: %d, %d, %v; want %d keys, %d revoked", n, r, err, len(want), revoked)
	}
	for _, w := range want {
		k, err := s.Key(t.Context(), w.ID)
		noError(t, err)
		if diff := cmp.Diff(w, k); diff != "" {
			t.Errorf("key %s (-want +got):\n%s", w.ID, diff)
		}
	}
}

func testAddKey(t *testing.T, db Database) {
	s := open(t, db)
	wantKeys(t, s)
	bob, ann := key("bob", 1), key("ann", 2)
	bob.Expires = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	ann.Scopes = nil
	noError(t, s.AddKey(t.Context(), ann))
	noError(t, s.AddKey(t.Context(), bob))
	wantKeys(t, s, bob, ann)

	if m := wantCode(t, s.AddKey(t.Context(), key("bob", 9)), herb.CodeInvalid); !strings.Contains(m, `"bob"`) {
		t.Errorf("the message %q does not name the id", m)
	}
	wantKeys(t, s, bob, ann)
	_, err := s.Key(t.Context(), "eve")
	if m := wantCode(t, err, herb.CodeNotFound); !strings.Contains(m, `"eve"`) {
		t.Errorf("the message %q does not name the id", m)
	}
}

func testRevokeKey(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	ann, bob := key("ann", 1), key("bob", 2)
	noError(t, s.AddKey(t.Context(), ann))
	noError(t, s.AddKey(t.Context(), bob))
	ann.Revoked = day.Add(time.Hour)
	noError(t, other.RevokeKey(t.Context(), "ann", ann.Revoked))
	noError(t, s.RevokeKey(t.Context(), "ann", ann.Revoked.Add(time.Hour))) // keeps the first time
	wantKeys(t, s, ann, bob)
	wantCode(t, s.RevokeKey(t.Context(), "eve", day), herb.CodeNotFound)
}

func testTouchKeys(t *testing.T, db Database) {
	s := open(t, db)
	ann, bob, cem := key("ann", 1), key("bob", 2), key("cem", 3)
	for _, k := range []herb.Key{ann, bob, cem} {
		noError(t, s.AddKey(t.Context(), k))
	}
	touch := func(used map[string]time.Time) {
		t.Helper()
		noError(t, s.TouchKeys(t.Context(), used))
	}
	touch(nil)
	touch(map[string]time.Time{"ann": day, "bob": day.Add(time.Hour), "eve": day})
	touch(map[string]time.Time{"ann": day.Add(time.Minute), "bob": day})
	ann.LastUsed, bob.LastUsed = day.Add(time.Minute), day.Add(time.Hour)
	wantKeys(t, s, ann, bob, cem)
}

func testReopenKeys(t *testing.T, db Database) {
	ann := key("ann", 1)
	ann.LastUsed = day.Add(time.Hour)
	s := db.Open(t, nil)
	noError(t, s.AddKey(t.Context(), ann))
	closeStore(t, s)
	wantKeys(t, open(t, db), ann)
}
