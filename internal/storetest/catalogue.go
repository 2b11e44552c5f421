package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
			noError(t, err)
		}
		noError(t, s.AddVersion(t.Context(), dataset(ref, n), live.Version))
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
		want = append(want, store.Version{Dataset: d, Live: n == live})
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

// changes checks that do increases the generation.
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
	noError(t, s.AddVersion(t.Context(), bare, ""))
	wantCatalogue(t, other, bare, dataset(catalog, 2), dataset(seeds, 1))
	wantHistory(t, other, catalog, 2, 2, 1)
	wantVersions(t, other, "catalog-v1", "catalog-v2", "seeds-v1", "v")
}

// testAddVersionAgain adds an existing version.
func testAddVersionAgain(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	changes(t, s, func() { add(t, s, catalog, 1, 1) })
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 1, 2)
}

// testSuperseded adds versions that replace one that is not live, and races publishers that replace the same version.
func testSuperseded(t *testing.T, db Database) {
	s := open(t, db)
	wantSuperseded := func(live string) {
		t.Helper()
		if err := s.AddVersion(t.Context(), dataset(catalog, 9), live); !errors.Is(err, store.ErrSuperseded) {
			t.Errorf("over %q: %v; want %v", live, err, store.ErrSuperseded)
		}
	}
	wantSuperseded("catalog-v1")
	wantCatalogue(t, s)
	add(t, s, catalog, 1, 2)
	wantSuperseded("")
	wantSuperseded("catalog-v1")
	wantCatalogue(t, s, dataset(catalog, 2))
	wantHistory(t, s, catalog, 2, 2, 1)

	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for n := range 8 {
		other := open(t, db)
		wg.Go(func() {
			switch err := other.AddVersion(t.Context(), dataset(catalog, 10+n), "catalog-v2"); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, store.ErrSuperseded):
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 7 {
		t.Errorf("%d of 8 replaced the same version, %d did not", won.Load(), lost.Load())
	}
}

func testVersion(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	add(t, s, seeds, 3, 3)
	for name, n := range map[string]int{"": 2, "catalog-v1": 1, "catalog-v2": 2} {
		got, err := s.Version(t.Context(), catalog, name)
		noError(t, err)
		if diff := cmp.Diff(dataset(catalog, n), got); diff != "" {
			t.Errorf("version %q (-want +got):\n%s", name, diff)
		}
	}
	_, err := s.Version(t.Context(), catalog, "seeds-v3")
	if m := wantCode(t, err, herb.CodeNotFound); !strings.Contains(m, `"seeds-v3"`) || !strings.Contains(m, "catalog-v2, catalog-v1") {
		t.Errorf("the message %q does not name the versions", m)
	}
}

func testSetLive(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 3)
	changes(t, s, func() { noError(t, s.SetLive(t.Context(), catalog, "catalog-v1", "catalog-v3")) })
	wantCatalogue(t, s, dataset(catalog, 1))
	wantHistory(t, s, catalog, 1, 3, 2, 1)
	for _, live := range []string{"catalog-v3", "catalog-v2", "v9", ""} {
		if err := s.SetLive(t.Context(), catalog, "catalog-v2", live); !errors.Is(err, store.ErrSuperseded) {
			t.Errorf("switching from %q while catalog-v1 is live: %v", live, err)
		}
	}
	wantHistory(t, s, catalog, 1, 3, 2, 1)
	changes(t, s, func() { noError(t, s.SetLive(t.Context(), catalog, "catalog-v3", "catalog-v1")) })
	wantHistory(t, s, catalog, 3, 3, 2, 1)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v3", "catalog-v1")) // it is live already

	m := wantCode(t, s.SetLive(t.Context(), catalog, "v9", "catalog-v3"), herb.CodeNotFound)
	if !strings.Contains(m, `"v9"`) || !strings.Contains(m, "catalog-v3, catalog-v2, catalog-v1") {
		t.Errorf("the message %q does not name the versions", m)
	}
	wantCatalogue(t, s, dataset(catalog, 3))
}

func testRemoveDataset(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	add(t, s, seeds, 1, 1)
	changes(t, s, func() { noError(t, s.RemoveDataset(t.Context(), catalog, time.Time{})) })
	wantCatalogue(t, s, dataset(seeds, 1))
	wantVersions(t, s, "seeds-v1")
	wantCode(t, s.RemoveDataset(t.Context(), catalog, time.Time{}), herb.CodeNotFound)
	add(t, s, catalog, 3, 3)
	wantHistory(t, s, catalog, 3, 3)
}

func testPruneVersions(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 5)
	add(t, s, seeds, 1, 3)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v2", "catalog-v5"))
	prune := func(keep int, want ...string) {
		t.Helper()
		got, err := s.PruneVersions(t.Context(), catalog, keep, time.Time{})
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
	_, prune := s.PruneVersions(t.Context(), catalog, 1, day)
	_, version := s.Version(t.Context(), catalog, "seeds-v1")
	for name, err := range map[string]error{
		"History":       history,
		"PruneVersions": prune,
		"Version":       version,
		"SetLive":       s.SetLive(t.Context(), catalog, "seeds-v1", "seeds-v1"),
		"RemoveDataset": s.RemoveDataset(t.Context(), catalog, time.Time{}),
	} {
		if m := wantCode(t, err, herb.CodeNotFound); !strings.Contains(m, `"garden/catalog"`) {
			t.Errorf("%s: the message %q does not name the dataset", name, m)
		}
	}
}

func testReopenCatalogue(t *testing.T, db Database) {
	s := db.Open(t, nil)
	add(t, s, catalog, 1, 2)
	noError(t, s.SetLive(t.Context(), catalog, "catalog-v1", "catalog-v2"))
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

// testConcurrentVersions publishes concurrently through two stores on the same data.
func testConcurrentVersions(t *testing.T, db Database) {
	stores := []Store{open(t, db), open(t, db)}
	var wg sync.WaitGroup
	for i, ref := range []herb.Ref{catalog, seeds} {
		wg.Go(func() {
			live := ""
			for n := range 20 {
				d := dataset(ref, n+1)
				if err := stores[i].AddVersion(t.Context(), d, live); err != nil {
					t.Error(err)
				}
				live = d.Version
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
