package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// key returns a key that was created a number of minutes after day.
func key(id string, minutes int) herb.Key {
	return herb.Key{
		ID:      id,
		Name:    "key of " + id,
		Scopes:  []herb.Scope{herb.ScopePlantsWrite, "data:read:garden/*"},
		Hash:    sha256.Sum256([]byte(id)),
		Created: day.Add(time.Duration(minutes) * time.Minute),
	}
}

// addKeys adds keys, each in a transaction of its own.
func addKeys(t *testing.T, s Store, keys ...herb.Key) {
	t.Helper()
	for _, k := range keys {
		must.NoError(t, s.AddKey(t.Context(), k))
	}
}

// wantKeys checks all keys.
func wantKeys(t *testing.T, s Store, want ...herb.Key) {
	t.Helper()
	got, err := s.Keys(t.Context())
	must.NoError(t, err)
	wantEqual(t, "keys", want, got)
	revoked := 0
	for _, w := range want {
		if !w.Revoked.IsZero() {
			revoked++
		}
	}
	if n, r, err := s.CountKeys(t.Context()); n != len(want) || r != revoked || err != nil {
		t.Errorf("CountKeys: %d, %d, %v; want %d keys, %d revoked", n, r, err, len(want), revoked)
	}
}

func (suite) KeysAdd(t *testing.T, db Database) {
	s := open(t, db)
	wantKeys(t, s)
	bob, ann := key("bob", 1), key("ann", 2)
	bob.Expires = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	ann.Scopes = nil
	addKeys(t, s, ann, bob)
	wantKeys(t, s, bob, ann)
	wantCode(t, s.AddKey(t.Context(), key("bob", 9)), herb.CodeInvalid, `"bob"`)
	wantKeys(t, s, bob, ann)
}

func (suite) KeysRevoke(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	ann, bob := key("ann", 1), key("bob", 2)
	addKeys(t, s, ann, bob)
	ann.Revoked = day.Add(time.Hour)
	must.NoError(t, other.RevokeKey(t.Context(), "ann", ann.Revoked))
	must.NoError(t, s.RevokeKey(t.Context(), "ann", ann.Revoked.Add(time.Hour))) // keeps the first time
	wantKeys(t, s, ann, bob)
	wantCode(t, s.RevokeKey(t.Context(), "eve", day), herb.CodeNotFound, `"eve"`)
}

func (suite) KeysTouch(t *testing.T, db Database) {
	s := open(t, db)
	ann, bob, cem := key("ann", 1), key("bob", 2), key("cem", 3)
	addKeys(t, s, ann, bob, cem)
	for _, used := range []map[string]time.Time{
		nil,
		{"ann": day, "bob": day.Add(time.Hour), "eve": day},
		{"ann": day.Add(time.Minute), "bob": day},
	} {
		must.NoError(t, s.TouchKeys(t.Context(), used))
	}
	ann.LastUsed, bob.LastUsed = day.Add(time.Minute), day.Add(time.Hour)
	wantKeys(t, s, ann, bob, cem)
}

func (suite) KeysReopen(t *testing.T, db Database) {
	ann := key("ann", 1)
	ann.LastUsed = day.Add(time.Hour)
	s := db(t, nil)
	addKeys(t, s, ann)
	closeStore(t, s)
	wantKeys(t, open(t, db), ann)
}

// DumpKeys adds several keys atomically.
func (suite) DumpKeys(t *testing.T, db Database) {
	s := open(t, db)
	must.NoError(t, s.AddKeys(t.Context(), nil))
	must.NoError(t, s.AddKeys(t.Context(), []herb.Key{key("a", 1), key("b", 2)}))
	wantCode(t, s.AddKeys(t.Context(), []herb.Key{key("c", 3), key("b", 2)}), herb.CodeInvalid)
	wantKeys(t, s, key("a", 1), key("b", 2))
}
