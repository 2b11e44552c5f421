package store_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// numbered returns plants number first to last. Every tenth has no tag, every hundredth an empty
// one.
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

// createNumbered creates plants number first to last in one transaction.
func createNumbered(t *testing.T, s Store, first, last int) {
	t.Helper()
	var creations []store.Creation
	for _, p := range numbered(first, last) {
		creations = append(creations, store.Creation{Plant: p})
	}
	mustCreate(t, s, creations...)
}

// DumpPlants creates plants in small and large transactions and reads them back in creation order.
func (suite) DumpPlants(t *testing.T, db Database) {
	s := open(t, db)
	const last = 2010
	createNumbered(t, s, 1, 3)
	createNumbered(t, s, 4, 2003)
	createNumbered(t, s, 2004, last)
	wantResult(t, "plants", numbered(1, last))(readAll(t.Context(), s))
	wantTotal(t, s, last)
}

// DumpIdempotencyKeys adds idempotency keys to existing plants and reads them back in small pages.
func (suite) DumpIdempotencyKeys(t *testing.T, db Database) {
	s := open(t, db)
	createNumbered(t, s, 1, 10)
	now := time.Now().UTC().Truncate(time.Microsecond)
	used := func(n int, credential, key string, age time.Duration) store.IdempotencyRecord {
		return store.IdempotencyRecord{
			IdempotencyKey: store.IdempotencyKey{Credential: credential, Key: key, Body: sha256.Sum256([]byte(key))},
			Plant:          n, Created: now.Add(-age),
		}
	}
	all := []store.IdempotencyRecord{
		used(3, "Ann", "b", time.Hour), used(1, "ann", "B", 2*time.Hour), used(2, "ann", "a", 0),
		used(5, "ann", "~", time.Hour), used(4, "bob", "a", 30*time.Hour),
	}
	other := all[0]
	other.Plant = 9
	// Existing keys are skipped and left unchanged.
	for _, records := range [][]store.IdempotencyRecord{all[1:], all, nil, {other}} {
		must.NoError(t, s.AddIdempotencyKeys(t.Context(), records))
	}
	for _, tt := range []struct {
		name string
		in   store.IdempotencyRange
		want []store.IdempotencyRecord
	}{
		{"all", store.IdempotencyRange{Plants: 10, Since: now.Add(-48 * time.Hour)}, all},
		{"of the first plants", store.IdempotencyRange{Plants: 3, Since: now.Add(-48 * time.Hour)}, all[:3]},
		{"of the last hours", store.IdempotencyRange{Plants: 10, Since: now.Add(-2 * time.Hour)}, all[:4]},
		{"none", store.IdempotencyRange{}, nil},
	} {
		var got []store.IdempotencyRecord
		var after store.IdempotencyKey
		for {
			some, err := s.IdempotencyKeysAfter(t.Context(), tt.in, after, 2)
			must.NoError(t, err)
			if len(some) == 0 {
				break
			}
			got, after = append(got, some...), some[len(some)-1].IdempotencyKey
		}
		wantEqual(t, tt.name, tt.want, got, cmpopts.EquateEmpty())
	}
	wantReplay(t, s, withKey(creation(99, "New"), "ann", "B", "B"), numbered(1, 1)[0].Plant)
	many := make([]store.IdempotencyRecord, 1200)
	for i := range many {
		many[i] = used(i%10+1, "many", fmt.Sprint(i), 0)
	}
	must.NoError(t, s.AddIdempotencyKeys(t.Context(), many))
	got, err := s.IdempotencyKeysAfter(t.Context(), store.IdempotencyRange{Plants: 10},
		store.IdempotencyKey{Credential: "many"}, 2000)
	must.NoError(t, err)
	wantEqual(t, "number of idempotency keys", len(many), len(got))
}

// wantAllVersions checks the catalogue.
func wantAllVersions(t *testing.T, s Store, want ...store.DatasetVersions) {
	t.Helper()
	wantResult(t, "versions", want)(s.AllVersions(t.Context()))
}

// datasetVersions returns a dataset with numbered versions, one of them live.
func datasetVersions(ref herb.Ref, live int, numbers ...int) store.DatasetVersions {
	c := store.DatasetVersions{Ref: ref, Live: versionName(ref, live)}
	for _, n := range numbers {
		c.Versions = append(c.Versions, dataset(ref, n))
	}
	return c
}

func (suite) DumpAllVersions(t *testing.T, db Database) {
	s := open(t, db)
	wantAllVersions(t, s)
	add(t, s, seeds, 1, 1)
	add(t, s, catalog, 1, 3)
	must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v2", "catalog-v3"))
	wantAllVersions(t, s, datasetVersions(catalog, 2, 1, 2, 3), datasetVersions(seeds, 1, 1))
}

// DumpReplaceVersions writes new datasets and replaces the versions of existing ones.
func (suite) DumpReplaceVersions(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	first := datasetVersions(catalog, 1, 2, 1, 3) // not in the order of their names
	changes(t, other, func() { must.NoError(t, s.ReplaceVersions(t.Context(), first, nil, day)) })
	wantAllVersions(t, other, first)
	wantHistory(t, other, catalog, 1, 3, 1, 2)
	next := datasetVersions(catalog, 4, 1, 3, 4)
	for _, had := range [][]string{nil, {"catalog-v1", "catalog-v2", "catalog-v3"}, {"catalog-v2", "catalog-v1"}} {
		wantSuperseded(t, s.ReplaceVersions(t.Context(), next, had, day))
	}
	wantAllVersions(t, other, first)
	wantRetired(t, s)
	changes(t, other, func() { must.NoError(t, s.ReplaceVersions(t.Context(), next, first.VersionNames(), day)) })
	wantAllVersions(t, other, next)
	wantRetired(t, s, store.Retired{Version: "catalog-v2", Since: day})
	wantCode(t, s.ReplaceVersions(t.Context(), first, next.VersionNames(), day), herb.CodeUnavailable)
	wantAllVersions(t, other, next)
	must.NoError(t, s.ReplaceVersions(t.Context(), datasetVersions(catalog, 4, 4), next.VersionNames(),
		day.Add(time.Hour)))
	wantRetired(t, s, store.Retired{Version: "catalog-v1", Since: day.Add(time.Hour)},
		store.Retired{Version: "catalog-v2", Since: day},
		store.Retired{Version: "catalog-v3", Since: day.Add(time.Hour)})
	add(t, s, catalog, 5, 5)
	wantHistory(t, other, catalog, 5, 5, 4)
}
