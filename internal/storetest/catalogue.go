package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
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
		Version:   versionName(ref, n),
		Records:   100 * n,
		Published: day.Add(time.Duration(n) * time.Hour),
		Source:    fmt.Sprintf("hash %d", n),
		Details: herb.Details{
			Order:      herb.Order{Field: "titel", Desc: true},
			PrimaryKey: []string{"id"},
			Descriptor: json.RawMessage(`{"name":"catalog","unknown":[1.50,null]}`),
			Report:     &herb.Report{Rows: 100 * n, Columns: []herb.ColumnReport{{Field: "id", Min: "0", Max: "9"}}},
		},
	}
}

func versionName(ref herb.Ref, n int) string { return fmt.Sprintf("%s-v%d", ref.Name, n) }

// add adds versions first to last of a dataset.
func add(t *testing.T, s Store, ref herb.Ref, first, last int) {
	t.Helper()
	for n := first; n <= last; n++ {
		noError(t, s.AddVersion(t.Context(), dataset(ref, n)))
	}
}

// wantCatalogue checks the live datasets.
func wantCatalogue(t *testing.T, s Store, want ...herb.Dataset) {
	t.Helper()
	got, err := s.Datasets(t.Context())
	noError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("datasets (-want +got):\n%s", diff)
	}
}

// wantHistory checks the numbers of a dataset's versions, newest first, and which of them is live.
func wantHistory(t *testing.T, s Store, ref herb.Ref, live int, numbers ...int) {
	t.Helper()
	var want []store.Version
	for _, n := range numbers {
		d := dataset(ref, n)
		want = append(want, store.Version{Version: d.Version, Published: d.Published, Records: d.Records, Live: n == live})
	}
	got, err := s.History(t.Context(), ref)
	noError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// wantVersions checks the names of all versions, in any order.
func wantVersions(t *testing.T, s Store, want ...string) {
	t.Helper()
	got, err := s.Versions(t.Context())
	noError(t, err)
	slices.Sort(got)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// changes checks that do moves the generation on.
func changes(t *testing.T, s Store, do func()) {
	t.Helper()
	before, err := s.Generation(t.Context())
	noError(t, err)
	do()
	after, err := s.Generation(t.Context())
	noError(t, err)
	if after <= before {
		t.Errorf("the generation was %d and is %d", before, after)
	}
}

func testAddVersion(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	wantCatalogue(t, s)
	wantVersions(t, s)
	changes(t, other, func() { add(t, s, seeds, 1, 1) })
	changes(t, other, func() { add(t, s, catalog, 1, 1) })
	changes(t, other, func() { add(t, s, catalog, 2, 2) })
	bare := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "z"}, Version: "v", Access: herb.AccessOpen, Published: day}
	noError(t, s.AddVersion(t.Context(), bare))
	wantCatalogue(t, other, bare, dataset(catalog, 2), dataset(seeds, 1))
	wantHistory(t, other, catalog, 2, 2, 1)
	wantVersions(t, other, "catalog-v1", "catalog-v2", "seeds-v1", "v")
}

// testAddVersionAgain publishes what was published before.
func testAddVersionAgain(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	changes(t, s, func() { add(t, s, catalog, 1, 1) })
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 1, 2)
}

func testSetLive(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 3)
	changes(t, s, func() { noError(t, s.SetLive(t.Context(), catalog, "catalog-v1")) })
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 3, 2, 1)
	changes(t, s, func() { noError(t, s.SetLive(t.Context(), catalog, "catalog-v3")) })
	wantHistory(t, s, catalog, 3, 3, 2, 1)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v3"))

	m := wantCode(t, s.SetLive(t.Context(), catalog, "v9"), herb.CodeNotFound)
	if !strings.Contains(m, `"v9"`) || !strings.Contains(m, "catalog-v3, catalog-v2, catalog-v1") {
		t.Errorf("the message %q does not name the versions", m)
	}
	wantCatalogue(t, s, dataset(catalog, 3))
}

func testRemoveDataset(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	add(t, s, seeds, 1, 1)
	changes(t, s, func() { noError(t, s.RemoveDataset(t.Context(), catalog)) })
	wantCatalogue(t, s, dataset(seeds, 1))
	wantVersions(t, s, "seeds-v1")
	wantCode(t, s.RemoveDataset(t.Context(), catalog), herb.CodeNotFound)
	add(t, s, catalog, 3, 3)
	wantHistory(t, s, catalog, 3, 3)
}

func testPruneVersions(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 5)
	add(t, s, seeds, 1, 3)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v2"))
	prune := func(keep int, want ...string) {
		t.Helper()
		got, err := s.PruneVersions(t.Context(), catalog, keep)
		noError(t, err)
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("pruned to %d (-want +got):\n%s", keep, diff)
		}
	}
	prune(5)
	prune(2, "catalog-v1", "catalog-v3")
	wantHistory(t, s, catalog, 2, 5, 4, 2)
	prune(0, "catalog-v4", "catalog-v5")
	wantHistory(t, s, catalog, 2, 2)
	wantCatalogue(t, s, dataset(catalog, 2), dataset(seeds, 3))
	wantVersions(t, s, "catalog-v2", "seeds-v1", "seeds-v2", "seeds-v3")
}

func testUnknownDataset(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, seeds, 1, 1)
	_, history := s.History(t.Context(), catalog)
	_, prune := s.PruneVersions(t.Context(), catalog, 1)
	for name, err := range map[string]error{
		"History":       history,
		"PruneVersions": prune,
		"SetLive":       s.SetLive(t.Context(), catalog, "seeds-v1"),
		"RemoveDataset": s.RemoveDataset(t.Context(), catalog),
	} {
		if m := wantCode(t, err, herb.CodeNotFound); !strings.Contains(m, `"garden/catalog"`) {
			t.Errorf("%s: the message %q does not name the dataset", name, m)
		}
	}
}

func testReopenCatalogue(t *testing.T, db Database) {
	s := db.Open(t, nil)
	add(t, s, catalog, 1, 2)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v1"))
	before, err := s.Generation(t.Context())
	noError(t, err)
	closeStore(t, s)

	s = open(t, db)
	after, err := s.Generation(t.Context())
	noError(t, err)
	if after != before {
		t.Errorf("the generation was %d and is %d", before, after)
	}
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 2, 1)
}

// testConcurrentVersions publishes through two stores on the same data at once.
func testConcurrentVersions(t *testing.T, db Database) {
	stores := []Store{open(t, db), open(t, db)}
	var wg sync.WaitGroup
	for i, ref := range []herb.Ref{catalog, seeds} {
		wg.Go(func() {
			for n := range 20 {
				if err := stores[i].AddVersion(t.Context(), dataset(ref, n+1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantCatalogue(t, stores[0], dataset(catalog, 20), dataset(seeds, 20))
	n, err := stores[1].Generation(t.Context())
	noError(t, err)
	if n < 40 {
		t.Errorf("the generation is %d after 40 changes", n)
	}
}
