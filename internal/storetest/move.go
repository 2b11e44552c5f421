package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// manyPlants are enough for a database to build its indexes anew.
const manyPlants = 2_000

// numbered returns plants number first to last. Every tenth has no tag, every hundredth an empty one.
func numbered(first, last int) (plants []herb.NewPlant) {
	for n := first; n <= last; n++ {
		p := herb.NewPlant{ID: int64(-7 * n), Plant: herb.Plant{Name: fmt.Sprintf("Ñame %d of 植物園's", n%1000)}}
		switch {
		case n%100 == 0:
			p.Tag = new("")
		case n%10 != 0:
			p.Tag = new(fmt.Sprintf("Tag %d", n%10))
		}
		plants = append(plants, p)
	}
	return plants
}

// inBatches yields plants a few at a time and then, if there is one, an error.
func inBatches(plants []herb.NewPlant, err error) iter.Seq2[[]herb.NewPlant, error] {
	return func(yield func([]herb.NewPlant, error) bool) {
		for some := range slices.Chunk(plants, 700) {
			if !yield(some, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// wantPlants checks that plants come back as they were given.
func wantPlants(t *testing.T, s Store, want []herb.NewPlant) {
	t.Helper()
	n, err := s.CountPlants(t.Context())
	noError(t, err)
	if n != len(want) {
		t.Errorf("there are %d plants; want %d", n, len(want))
	}
	var got []herb.NewPlant
	for {
		some, err := s.PlantsAfter(t.Context(), len(got), 999)
		noError(t, err)
		if len(some) == 0 {
			break
		}
		got = append(got, some...)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("plants (-want +got):\n%s", diff)
	}
}

// wantTotal checks how much a query finds.
func wantTotal(t *testing.T, s Store, raw string, want int) {
	t.Helper()
	if _, total := list(t, s, raw); total != want {
		t.Errorf("listing %q: total is %d; want %d", raw, total, want)
	}
}

// testAddPlants adds few plants and many, to none and to others, and lists them as if they had been created.
func testAddPlants(t *testing.T, db Database) {
	s := open(t, db)
	wantPlants(t, s, nil)
	have := 0
	for _, last := range []int{3, manyPlants + 3, manyPlants + 10} {
		count := last - have
		if want := count >= manyPlants; store.Rebuild(have, count) != want {
			t.Errorf("adding %d plants to %d rebuilds the indexes: %t; want %t", count, have, !want, want)
		}
		noError(t, s.AddPlants(t.Context(), have, count, inBatches(numbered(have+1, last), nil)))
		have = last
	}
	wantPlants(t, s, numbered(1, have))
	mustCreate(t, s, creation(1, "Ñame new", "Tag 1")) // what is counted goes on from there
	wantTotal(t, s, "", have+1)
	wantTotal(t, s, "tag=", 201)
	wantTotal(t, s, "tag=Tag+1", 202)
	wantTotal(t, s, "search=name+tag", 1810)
	wantTotal(t, s, "search=%E6%A4%8D%E7%89%A9%E5%9C%92", have)
	wantTotal(t, s, "name=%C3%91ame+17+of+%E6%A4%8D%E7%89%A9%E5%9C%92%27s", 2)
	if got, _ := list(t, s, "sort=name&order=desc&per_page=1"); !strings.Contains(got[0], "Ñame new") {
		t.Errorf("the last by name is %s", got)
	}
}

// testAddPlantsRefused adds plants that cannot be added; nothing changes, few or many.
func testAddPlantsRefused(t *testing.T, db Database) {
	s := open(t, db)
	first := numbered(1, 2)
	noError(t, s.AddPlants(t.Context(), 0, 2, inBatches(first, nil)))
	broken := errors.New("broken")
	for _, count := range []int{5, manyPlants} {
		plants := numbered(3, 2+count)
		for _, n := range []int{1, 3} {
			if err := s.AddPlants(t.Context(), n, count, inBatches(plants, nil)); !errors.Is(err, store.ErrSuperseded) {
				t.Errorf("behind %d: %v; want %v", n, err, store.ErrSuperseded)
			}
		}
		if err := s.AddPlants(t.Context(), 2, count, inBatches(plants, broken)); !errors.Is(err, broken) {
			t.Errorf("a source that breaks: %v; want %v", err, broken)
		}
		plants[count-1].ID = first[1].ID
		message := wantCode(t, s.AddPlants(t.Context(), 2, count, inBatches(plants, nil)), herb.CodeRefused)
		if !strings.Contains(message, "-14") {
			t.Errorf("the message %q does not name the id", message)
		}
		wantPlants(t, s, first)
	}
	noError(t, s.AddPlants(t.Context(), 2, 3, inBatches(numbered(3, 5), nil)))
	wantPlants(t, s, numbered(1, 5))
	wantTotal(t, s, "search=name", 5)
}

// testMoveRetries reads retry keys a few at a time, and adds them to plants that have none.
func testMoveRetries(t *testing.T, db Database) {
	s := open(t, db)
	noError(t, s.AddPlants(t.Context(), 0, 10, inBatches(numbered(1, 10), nil)))
	now := time.Now().UTC().Truncate(time.Microsecond)
	used := func(n int, credential, key string, age time.Duration) store.UsedRetry {
		return store.UsedRetry{
			Retry: store.Retry{Credential: credential, Key: key, Body: sha256.Sum256([]byte(key))}, Plant: n, Created: now.Add(-age),
		}
	}
	all := []store.UsedRetry{
		used(3, "Ann", "b", time.Hour), used(1, "ann", "B", 2*time.Hour), used(2, "ann", "a", 0),
		used(5, "ann", "~", time.Hour), used(4, "bob", "a", 30*time.Hour),
	}
	noError(t, s.AddRetries(t.Context(), all[1:]))
	noError(t, s.AddRetries(t.Context(), all)) // those that are there do not mind
	noError(t, s.AddRetries(t.Context(), nil))
	other := all[0]
	other.Plant = 9
	noError(t, s.AddRetries(t.Context(), []store.UsedRetry{other})) // and stay as they are
	for _, tt := range []struct {
		name string
		span store.RetrySpan
		want []store.UsedRetry
	}{
		{"all", store.RetrySpan{Plants: 10, Since: now.Add(-48 * time.Hour)}, all},
		{"of the first plants", store.RetrySpan{Plants: 3, Since: now.Add(-48 * time.Hour)}, all[:3]},
		{"of the last hours", store.RetrySpan{Plants: 10, Since: now.Add(-2 * time.Hour)}, all[:4]},
		{"none", store.RetrySpan{}, nil},
	} {
		var got []store.UsedRetry
		var after store.Retry
		for {
			some, err := s.RetriesAfter(t.Context(), tt.span, after, 2)
			noError(t, err)
			if len(some) == 0 {
				break
			}
			got, after = append(got, some...), some[len(some)-1].Retry
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	wantReplay(t, s, retried(creation(99, "New"), "ann", "B", "B"), numbered(1, 1)[0].Plant)
	many := make([]store.UsedRetry, 1200)
	for i := range many {
		many[i] = used(i%10+1, "many", fmt.Sprint(i), 0)
	}
	noError(t, s.AddRetries(t.Context(), many))
	got, err := s.RetriesAfter(t.Context(), store.RetrySpan{Plants: 10}, store.Retry{Credential: "many"}, 2000)
	noError(t, err)
	if len(got) != len(many) {
		t.Errorf("there are %d of %d retry keys", len(got), len(many))
	}
}

// wantChronicles checks the whole catalogue.
func wantChronicles(t *testing.T, s Store, want ...store.Chronicle) {
	t.Helper()
	got, err := s.Chronicles(t.Context())
	noError(t, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("chronicles (-want +got):\n%s", diff)
	}
}

// chronicle is a dataset with some of its versions, of which one is live.
func chronicle(ref herb.Ref, live int, numbers ...int) store.Chronicle {
	c := store.Chronicle{Ref: ref, Live: versionName(ref, live)}
	for _, n := range numbers {
		c.Versions = append(c.Versions, dataset(ref, n))
	}
	return c
}

func testChronicles(t *testing.T, db Database) {
	s := open(t, db)
	wantChronicles(t, s)
	add(t, s, seeds, 1, 1)
	add(t, s, catalog, 1, 3)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v2", "catalog-v3"))
	wantChronicles(t, s, chronicle(catalog, 2, 1, 2, 3), chronicle(seeds, 1, 1))
}

// testSetChronicle writes whole datasets, new ones and over others.
func testSetChronicle(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	first := chronicle(catalog, 1, 2, 1, 3) // not in the order of their names
	changes(t, other, func() { noError(t, s.SetChronicle(t.Context(), first, nil, day)) })
	wantChronicles(t, other, first)
	wantHistory(t, other, catalog, 1, 3, 1, 2)
	next := chronicle(catalog, 4, 1, 3, 4)
	for _, had := range [][]string{nil, {"catalog-v1", "catalog-v2", "catalog-v3"}, {"catalog-v2", "catalog-v1"}} {
		if err := s.SetChronicle(t.Context(), next, had, day); !errors.Is(err, store.ErrSuperseded) {
			t.Errorf("over %v: %v; want %v", had, err, store.ErrSuperseded)
		}
	}
	wantChronicles(t, other, first)
	wantRetired(t, s)
	changes(t, other, func() { noError(t, s.SetChronicle(t.Context(), next, first.Names(), day)) })
	wantChronicles(t, other, next)
	wantRetired(t, s, store.Retired{Version: "catalog-v2", Since: day})
	wantCode(t, s.SetChronicle(t.Context(), first, next.Names(), day), herb.CodeUnavailable)
	wantChronicles(t, other, next)
	noError(t, s.SetChronicle(t.Context(), chronicle(catalog, 4, 4), next.Names(), time.Time{}))
	wantRetired(t, s, store.Retired{Version: "catalog-v2", Since: day})
	add(t, s, catalog, 5, 5)
	wantHistory(t, other, catalog, 5, 5, 4)
}

// testAddKeys adds several keys at once, or none of them.
func testAddKeys(t *testing.T, db Database) {
	s := open(t, db)
	noError(t, s.AddKeys(t.Context(), nil))
	noError(t, s.AddKeys(t.Context(), []herb.Key{key("a", 1), key("b", 2)}))
	wantCode(t, s.AddKeys(t.Context(), []herb.Key{key("c", 3), key("b", 2)}), herb.CodeInvalid)
	wantKeys(t, s, key("a", 1), key("b", 2))
}
