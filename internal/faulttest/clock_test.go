package faulttest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// clock is set by the tests.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// atEachJump runs a test for several changes of the clock between two steps.
func atEachJump(t *testing.T, run func(t *testing.T, c *clock, jump time.Duration)) {
	for name, jump := range map[string]time.Duration{
		"back a second": -time.Second, "back a year": -365 * 24 * time.Hour, "not at all": 0, "forward a year": 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newClock(), jump)
		})
	}
}

// newClock returns a clock with a fixed time.
func newClock() *clock { return &clock{time.Date(2026, 3, 29, 1, 59, 59, 0, time.UTC)} }

// openStore opens a database in a new folder.
func openStore(t *testing.T, c *clock) (db *sqlite.Store, folder string) {
	t.Helper()
	folder = t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(folder, "test.db"), sqlite.Options{Now: c.Now})
	must(t, err)
	closeAfter(t, db)
	return db, folder
}

// TestClock_versions publishes versions while the clock jumps. The last one published is live regardless of its time, the history
// is in the order of publication, and no two versions share a name, which is what ETags are made of.
func TestClock_versions(t *testing.T) {
	t.Parallel()
	atEachJump(t, func(t *testing.T, c *clock, jump time.Duration) {
		db, folder := openStore(t, c)
		const keep = 3
		l := openLibrary(t, db, library.Options{Dir: folder, Now: c.Now, Keep: keep})
		var published []string
		for i := range 2 * keep {
			published = append(published, publishCount(t, l, i+1))
			c.now = c.now.Add(jump)
		}
		if got := countRecords(t, l); got != 2*keep {
			t.Errorf("%d records are listed; want those of the last version, %d", got, 2*keep)
		}
		history, err := l.History(t.Context(), ref)
		must(t, err)
		var kept []string
		for _, v := range history {
			kept = append(kept, v.Version)
		}
		want := slices.Clone(published[keep:])
		slices.Reverse(want)
		if !slices.Equal(kept, want) {
			t.Errorf("history %v; want the last %d, the newest first: %v", kept, keep, want)
		}
		slices.Sort(published)
		if len(slices.Compact(published)) != 2*keep {
			t.Errorf("two versions have the same name: %v", published)
		}
	})
}

// TestClock_keys checks that a key expires by the clock, and is valid again when the clock is set back.
func TestClock_keys(t *testing.T) {
	t.Parallel()
	c := newClock()
	db, _ := openStore(t, c)
	secret, key := access.Mint("test", herb.AllScopes(), c.now, c.now.Add(time.Hour))
	must(t, db.AddKey(t.Context(), key))
	v := access.NewVerifier(db, access.Options{Now: c.Now})
	for _, tt := range []struct {
		name string
		jump time.Duration
		want bool // the key is valid
	}{
		{"created", 0, true},
		{"back, before its creation", -365 * 24 * time.Hour, true},
		{"forward, to its creation", 365 * 24 * time.Hour, true},
		{"forward, after its expiry", 2 * time.Hour, false},
		{"back, before its expiry", -2 * time.Hour, true},
	} {
		c.now = c.now.Add(tt.jump)
		_, err := v.Verify(t.Context(), secret, "192.0.2.1:1234")
		if valid := err == nil; valid != tt.want {
			t.Errorf("%s: %v; want valid %v", tt.name, err, tt.want)
		}
	}
}

// TestClock_idempotency repeats a creation after the clock has jumped. A jump forward by more than idempotency keys are kept
// makes it a new creation, which is rejected because the ID is taken; nothing is created twice.
func TestClock_idempotency(t *testing.T) {
	t.Parallel()
	atEachJump(t, func(t *testing.T, c *clock, jump time.Duration) {
		db, _ := openStore(t, c)
		create := func(id int64, body string) store.Outcome {
			t.Helper()
			out, err := db.CreatePlants(t.Context(), []store.Creation{{
				Plant:          herb.NewPlant{ID: id, Plant: herb.Plant{Name: "Rose"}},
				IdempotencyKey: &store.IdempotencyKey{Credential: "ann", Key: "k" + body, Body: sha256.Sum256([]byte(body))},
			}})
			must(t, err)
			return out[0]
		}
		create(1, "a")
		c.now = c.now.Add(jump)
		create(2, "b") // drops keys that are too old
		o := create(1, "a")
		if want := jump <= 24*time.Hour; o.Replayed != want || want != (o.Err == nil) {
			t.Errorf("replayed %v, %v; want replayed %v, or an error: the ID is taken", o.Replayed, o.Err, want)
		}
		if o := create(2, "b"); !o.Replayed {
			t.Error("a creation after the jump was not replayed")
		}
	})
}

// ref is the dataset of the tests.
var ref = herb.Ref{Namespace: "garden", Name: "numbers"}

// openLibrary opens a library that is closed when the test ends.
func openLibrary(t *testing.T, db *sqlite.Store, opts library.Options) *library.Library {
	t.Helper()
	l, err := library.Open(db, opts)
	must(t, err)
	closeAfter(t, l)
	return l
}

// closeAfter closes a store or a library when the test ends.
func closeAfter(t *testing.T, c io.Closer) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// publication returns a publication of n records.
func publication(n int) library.Publication {
	return library.Publication{
		AllowBreaking: true,
		Dataset:       herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: []herb.Field{{Name: "n", Type: herb.TypeNumber, Sortable: true}}},
		Records: func(yield func(herb.Record, error) bool) {
			for i := range n {
				if !yield(herb.Record{fmt.Sprint(i)}, nil) {
					return
				}
			}
		},
	}
}

// publishCount publishes n records and returns the name of the version.
func publishCount(t *testing.T, l *library.Library, n int) string {
	t.Helper()
	out, err := l.Publish(t.Context(), publication(n))
	must(t, err)
	return out.Dataset.Version
}

// must fails the test if there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
