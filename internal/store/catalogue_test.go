package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

var (
	catalog = herb.Ref{Namespace: "garden", Name: "catalog"}
	seeds   = herb.Ref{Namespace: "garden", Name: "seeds"}
)

// dataset returns the n-th version of a dataset.
func dataset(ref herb.Ref, n int) herb.Dataset {
	return herb.Dataset{
		Ref:         ref,
		Title:       "What grows <here>",
		Description: "Version " + versionName(ref, n),
		Access:      herb.AccessKey,
		Fields: []herb.Field{
			{Name: "id", Type: herb.TypeNumber, Filterable: true},
			{Name: "titel", Type: herb.TypeText, Title: "Titel", Description: "Ü", Searchable: true, Sortable: true},
		},
		Version:    versionName(ref, n),
		Records:    100 * n,
		Published:  day.Add(time.Duration(n) * time.Hour),
		SourceHash: fmt.Sprintf("hash %d", n),
		Details: herb.Details{
			Order:      herb.Order{Field: "titel", Desc: true},
			PrimaryKey: []string{"id"},
			Descriptor: herb.NewDescriptor([]byte(`{"name":"catalog","unknown":[1.50,null]}`)),
			Report:     &herb.Report{Rows: 100 * n, Columns: []herb.ColumnReport{{Field: "id", Min: "0", Max: "9"}}},
			File:       &herb.File{Size: 1 << 40, SHA256: "5f0c"},
		},
	}
}

func versionName(ref herb.Ref, n int) string { return fmt.Sprintf("%s-v%d", ref.Name, n) }

// add adds versions first to last of a dataset.
func add(t *testing.T, s Store, ref herb.Ref, first, last int) {
	t.Helper()
	for n := first; n <= last; n++ {
		live, err := s.Version(t.Context(), ref, "")
		if herb.CodeOf(err) != herb.CodeNotFound {
			must.NoError(t, err)
		}
		must.NoError(t, s.addVersion(t.Context(), dataset(ref, n), live.Version))
	}
}

// wantCatalogue checks the live datasets and their descriptions.
func wantCatalogue(t *testing.T, s Store, want ...herb.Dataset) {
	t.Helper()
	c, err := s.Changes(t.Context(), -1)
	must.NoError(t, err)
	wantEqual(t, "live versions", liveVersions(want...), c.Datasets)
	wantDescriptions := func(details bool) {
		t.Helper()
		got, err := s.Descriptions(t.Context(), append(c.Datasets, herb.LiveVersion{Ref: catalog, Version: "unknown"}),
			details)
		must.NoError(t, err)
		slices.SortFunc(got, func(a, b herb.Dataset) int { return a.Ref.Compare(b.Ref) })
		wantEqual(t, "descriptions", want, got)
	}
	for i, d := range want {
		full, err := s.Version(t.Context(), d.Ref, "")
		must.NoError(t, err)
		wantEqual(t, "live version", d, full)
		want[i].Report, want[i].File = nil, nil
	}
	wantDescriptions(true)
	for i := range want {
		want[i].Details = herb.Details{}
	}
	wantDescriptions(false)
}

func liveVersions(ds ...herb.Dataset) (all []herb.LiveVersion) {
	for _, d := range ds {
		all = append(all, herb.LiveVersion{Ref: d.Ref, Version: d.Version, Records: d.Records, Published: d.Published,
			Access: d.Access})
	}
	return all
}

// CatalogueChanges reads the catalogue after each change: it returns what changed, and nothing
// else.
func (suite) CatalogueChanges(t *testing.T, db Database) {
	s := open(t, db)
	known := int64(-1)
	wantChanges := func(what string, complete bool, want ...herb.LiveVersion) {
		t.Helper()
		c, err := s.Changes(t.Context(), known)
		must.NoError(t, err)
		slices.SortFunc(c.Datasets, func(a, b herb.LiveVersion) int { return a.Ref.Compare(b.Ref) })
		wantEqual(t, what, store.Changes{Generation: c.Generation, Complete: complete, Datasets: want}, c)
		known = c.Generation
	}
	wantChanges("empty catalogue", true)
	add(t, s, catalog, 1, 2)
	add(t, s, seeds, 1, 1)
	wantChanges("added", false, liveVersions(dataset(catalog, 2), dataset(seeds, 1))...)
	wantChanges("nothing", false)
	must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v1", "catalog-v2"))
	wantChanges("rolled back", false, liveVersions(dataset(catalog, 1))...)
	wantResult(t, "removed versions", []string{"catalog-v1", "catalog-v2"})(
		s.RemoveDataset(t.Context(), catalog, "", day))
	wantChanges("removed", false, herb.LiveVersion{Ref: catalog})
	add(t, s, catalog, 3, 3)
	wantChanges("added again", false, liveVersions(dataset(catalog, 3))...)
	replaced := store.DatasetVersions{Ref: seeds, Live: "seeds-v5",
		Versions: []herb.Dataset{dataset(seeds, 5), dataset(seeds, 6)}}
	must.NoError(t, s.ReplaceVersions(t.Context(), replaced, []string{"seeds-v1"}, day))
	wantChanges("replaced", false, liveVersions(dataset(seeds, 5))...)
	known += 100
	wantChanges("another catalogue", true, liveVersions(dataset(catalog, 3), dataset(seeds, 5))...)
}

// CatalogueWords reads the words of live versions.
func (suite) CatalogueWords(t *testing.T, db Database) {
	s := open(t, db)
	first, second := dataset(seeds, 1), dataset(seeds, 2)
	first.Title, second.Title, second.Access = "Autumn", "Spring Årets", herb.AccessOpen
	second.Descriptor = herb.NewDescriptor(
		[]byte(`{"package":{"keywords":["Bulbs","a\u0000b"]},"resource":{"keywords":"malformed"}}`))
	must.NoError(t, s.addVersion(t.Context(), first, ""))
	must.NoError(t, s.addVersion(t.Context(), second, first.Version))
	changes, err := s.Changes(t.Context(), -1)
	must.NoError(t, err)
	add(t, s, catalog, 1, 1)
	words := func(d herb.Dataset) store.VersionWords {
		return store.VersionWords{Ref: d.Ref, Version: d.Version, Words: store.NewSearchWords(d)}
	}
	got, err := s.Words(t.Context(), -1)
	must.NoError(t, err)
	slices.SortFunc(got, func(a, b store.VersionWords) int { return a.Compare(b.Ref) })
	wantEqual(t, "words", []store.VersionWords{words(dataset(catalog, 1)), words(second)}, got)
	wantResult(t, "changed words", []store.VersionWords{words(dataset(catalog, 1))})(
		s.Words(t.Context(), changes.Generation))
}

// CatalogueProtected lists the live versions with access key.
func (suite) CatalogueProtected(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	was, now := dataset(seeds, 1), dataset(seeds, 2)
	now.Access = herb.AccessOpen
	must.NoError(t, s.addVersion(t.Context(), was, ""))
	must.NoError(t, s.addVersion(t.Context(), now, was.Version))
	wantResult(t, "protected datasets", []herb.Dataset{dataset(catalog, 2)})(s.Protected(t.Context()))
	wantResult(t, "names of protected datasets", []herb.Ref{catalog})(s.ProtectedRefs(t.Context()))
}

// wantHistory checks the numbers of a dataset's versions, newest first, and which of them is live.
func wantHistory(t *testing.T, s Store, ref herb.Ref, live int, numbers ...int) {
	t.Helper()
	want := store.DatasetVersions{Ref: ref, Live: dataset(ref, live).Version}
	for _, n := range slices.Backward(numbers) {
		want.Versions = append(want.Versions, dataset(ref, n))
	}
	got, err := s.History(t.Context(), ref)
	must.NoError(t, err)
	wantEqual(t, "history", want, got)
}

// wantVersions checks the names of all versions, in any order.
func wantVersions(t *testing.T, s Store, want ...string) {
	t.Helper()
	got, err := s.Versions(t.Context())
	slices.Sort(got)
	wantResult(t, "versions", want)(got, err)
}

// wantSuperseded checks the error of a change that expects another live version.
func wantSuperseded(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrSuperseded) {
		t.Errorf("got the error %v; want %v", err, store.ErrSuperseded)
	}
}

func generation(t *testing.T, s Store) int64 {
	t.Helper()
	c, err := s.Changes(t.Context(), -1)
	must.NoError(t, err)
	return c.Generation
}

// changes checks that do increases the generation.
func changes(t *testing.T, s Store, do func()) {
	t.Helper()
	before := generation(t, s)
	do()
	if after := generation(t, s); after <= before {
		t.Errorf("the generation was %d and is %d", before, after)
	}
}

func (suite) CatalogueAdd(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	wantCatalogue(t, s)
	wantVersions(t, s)
	changes(t, other, func() { add(t, s, seeds, 1, 1) })
	changes(t, other, func() { add(t, s, catalog, 1, 1) })
	changes(t, other, func() { add(t, s, catalog, 2, 2) })
	bare := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "z"}, Version: "v", Access: herb.AccessOpen,
		Published: day}
	must.NoError(t, s.addVersion(t.Context(), bare, ""))
	wantCatalogue(t, other, bare, dataset(catalog, 2), dataset(seeds, 1))
	wantHistory(t, other, catalog, 2, 2, 1)
	wantVersions(t, other, "catalog-v1", "catalog-v2", "seeds-v1", "v")
}

// CatalogueAgain adds an existing version.
func (suite) CatalogueAgain(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	changes(t, s, func() { add(t, s, catalog, 1, 1) })
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 1, 2)
}

// CatalogueSuperseded adds versions that replace one that is not live, and races publishers that
// replace the same version.
func (suite) CatalogueSuperseded(t *testing.T, db Database) {
	s := open(t, db)
	wantSuperseded(t, s.addVersion(t.Context(), dataset(catalog, 9), "catalog-v1"))
	wantCatalogue(t, s)
	add(t, s, catalog, 1, 2)
	for _, live := range []string{"", "catalog-v1"} {
		wantSuperseded(t, s.addVersion(t.Context(), dataset(catalog, 9), live))
	}
	wantCatalogue(t, s, dataset(catalog, 2))
	wantHistory(t, s, catalog, 2, 2, 1)

	var won atomic.Int32
	var stores []Store
	for range 8 {
		stores = append(stores, open(t, db))
	}
	concurrently(len(stores), func(n int) {
		if err := stores[n].addVersion(t.Context(), dataset(catalog, 10+n), "catalog-v2"); err == nil {
			won.Add(1)
		} else {
			wantSuperseded(t, err)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d of 8 replaced the same version", won.Load())
	}
}

func (suite) CatalogueVersion(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	add(t, s, seeds, 3, 3)
	for name, n := range map[string]int{"": 2, "catalog-v1": 1, "catalog-v2": 2} {
		got, err := s.Version(t.Context(), catalog, name)
		must.NoError(t, err)
		wantEqual(t, "version "+name, dataset(catalog, n), got)
	}
	_, err := s.Version(t.Context(), catalog, "seeds-v3")
	wantCode(t, err, herb.CodeGone, `"seeds-v3"`, "catalog-v2, catalog-v1")
}

func (suite) CatalogueLive(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 3)
	changes(t, s, func() { must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v1", "catalog-v3")) })
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 3, 2, 1)
	for _, live := range []string{"catalog-v3", "catalog-v2", "v9", ""} {
		wantSuperseded(t, s.SetLive(t.Context(), catalog, "catalog-v2", live))
	}
	wantHistory(t, s, catalog, 1, 3, 2, 1)
	changes(t, s, func() { must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v3", "catalog-v1")) })
	wantHistory(t, s, catalog, 3, 3, 2, 1)
	// of two equal rollbacks, one succeeds
	wantSuperseded(t, s.SetLive(t.Context(), catalog, "catalog-v3", "catalog-v1"))
	must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v3", "catalog-v3"))
	wantCode(t, s.SetLive(t.Context(), catalog, "v9", "catalog-v3"), herb.CodeGone, `"v9"`,
		"catalog-v3, catalog-v2, catalog-v1")
	wantCatalogue(t, s, dataset(catalog, 3))
}

func (suite) CatalogueRemove(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	add(t, s, seeds, 1, 1)
	changes(t, s, func() {
		wantResult(t, "removed versions", []string{"catalog-v1", "catalog-v2"})(
			s.RemoveDataset(t.Context(), catalog, "", day))
	})
	wantCatalogue(t, s, dataset(seeds, 1))
	wantVersions(t, s, "seeds-v1")
	_, err := s.RemoveDataset(t.Context(), catalog, "", day)
	wantCode(t, err, herb.CodeNotFound)
	add(t, s, catalog, 3, 3)
	wantHistory(t, s, catalog, 3, 3)
}

// CataloguePrune adds versions and drops all but the newest and the one that was live.
func (suite) CataloguePrune(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 5)
	add(t, s, seeds, 1, 3)
	must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v2", "catalog-v5"))
	prune := func(n int, live string, keep int, want ...string) {
		t.Helper()
		wantResult(t, "dropped versions", want)(s.AddVersion(t.Context(), dataset(catalog, n), live,
			herb.Keep{Versions: keep}, day))
	}
	prune(6, "catalog-v2", 4, "catalog-v1", "catalog-v3") // the version that was live is kept
	wantHistory(t, s, catalog, 6, 6, 5, 4, 2)
	prune(7, "catalog-v6", 4, "catalog-v2")
	wantHistory(t, s, catalog, 7, 7, 6, 5, 4)
	prune(5, "catalog-v7", 3, "catalog-v4") // an existing one
	wantHistory(t, s, catalog, 5, 5, 7, 6)
	prune(8, "catalog-v5", 1, "catalog-v6", "catalog-v7", "catalog-v5")
	wantHistory(t, s, catalog, 8, 8)
	wantCatalogue(t, s, dataset(catalog, 8), dataset(seeds, 3))
	wantVersions(t, s, "catalog-v8", "seeds-v1", "seeds-v2", "seeds-v3")
}

func (suite) CatalogueUnknown(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, seeds, 1, 1)
	_, history := s.History(t.Context(), catalog)
	_, version := s.Version(t.Context(), catalog, "seeds-v1")
	live := s.SetLive(t.Context(), catalog, "seeds-v1", "seeds-v1")
	_, remove := s.RemoveDataset(t.Context(), catalog, "", day)
	for _, err := range []error{history, version, live, remove} {
		wantCode(t, err, herb.CodeNotFound, `"garden/catalog"`)
	}
}

func (suite) CatalogueReopen(t *testing.T, db Database) {
	s := db(t, nil)
	add(t, s, catalog, 1, 2)
	must.NoError(t, s.SetLive(t.Context(), catalog, "catalog-v1", "catalog-v2"))
	before := generation(t, s)
	closeStore(t, s)
	s = open(t, db)
	wantEqual(t, "generation", before, generation(t, s))
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 2, 1)
}

// CatalogueConcurrent publishes concurrently through two stores on the same data.
func (suite) CatalogueConcurrent(t *testing.T, db Database) {
	stores := []Store{open(t, db), open(t, db)}
	concurrently(len(stores), func(i int) {
		live := ""
		for n := range 20 {
			d := dataset([]herb.Ref{catalog, seeds}[i], n+1)
			if err := stores[i].addVersion(t.Context(), d, live); err != nil {
				t.Error(err)
			}
			live = d.Version
		}
	})
	wantCatalogue(t, stores[0], dataset(catalog, 20), dataset(seeds, 20))
	if n := generation(t, stores[1]); n < 40 {
		t.Errorf("the generation is %d after 40 changes", n)
	}
}
