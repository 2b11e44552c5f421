package storetest

import (
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

// wantRetired checks all retired versions.
func wantRetired(t *testing.T, s Store, want ...store.Retired) {
	t.Helper()
	got, err := s.Retired(t.Context())
	noError(t, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("retired (-want +got):\n%s", diff)
	}
}

// retireVersion checks whether a version is retired.
func retireVersion(t *testing.T, s Store, version string, at time.Time, want bool) {
	t.Helper()
	got, err := s.RetireVersion(t.Context(), version, at)
	noError(t, err)
	if got != want {
		t.Errorf("retiring %s: %t; want %t", version, got, want)
	}
}

// testRetiredWithCatalogue checks that versions that leave the catalogue are retired at the given time, if there is one.
func testRetiredWithCatalogue(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	add(t, s, catalog, 1, 4)
	add(t, s, seeds, 1, 2)
	_, err := s.PruneVersions(t.Context(), catalog, 3, time.Time{})
	noError(t, err)
	wantRetired(t, other)
	_, err = s.PruneVersions(t.Context(), catalog, 2, day)
	noError(t, err)
	wantRetired(t, other, store.Retired{Version: "catalog-v2", Since: day})
	noError(t, s.RemoveDataset(t.Context(), seeds, day.Add(time.Hour)))
	wantRetired(t, other,
		store.Retired{Version: "catalog-v2", Since: day},
		store.Retired{Version: "seeds-v1", Since: day.Add(time.Hour)},
		store.Retired{Version: "seeds-v2", Since: day.Add(time.Hour)})
	wantVersions(t, other, "catalog-v3", "catalog-v4")
}

// testRetireVersion checks that a retired version cannot be added, and that a version in the catalogue cannot be retired.
func testRetireVersion(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	retireVersion(t, s, "catalog-v1", day, false)
	retireVersion(t, s, "catalog-v3", day, true)
	retireVersion(t, s, "catalog-v3", day.Add(time.Hour), true)
	wantRetired(t, s, store.Retired{Version: "catalog-v3", Since: day})

	before, err := s.Generation(t.Context())
	noError(t, err)
	m := wantCode(t, s.AddVersion(t.Context(), dataset(catalog, 3), "catalog-v2"), herb.CodeUnavailable)
	if !strings.Contains(m, `"catalog-v3"`) {
		t.Errorf("the message %q does not name the version", m)
	}
	wantHistory(t, s, catalog, 2, 2, 1)
	if after, err := s.Generation(t.Context()); err != nil || after != before {
		t.Errorf("the generation was %d and is %d, %v", before, after, err)
	}
}

func testForgetRetired(t *testing.T, db Database) {
	s := open(t, db)
	for n := range 4 {
		retireVersion(t, s, versionName(catalog, n), day, true)
	}
	noError(t, s.ForgetRetired(t.Context(), nil))
	noError(t, s.ForgetRetired(t.Context(), []string{"catalog-v1", "catalog-v3", "nonesuch"}))
	wantRetired(t, s, store.Retired{Version: "catalog-v0", Since: day}, store.Retired{Version: "catalog-v2", Since: day})
}

// testRetireWhileAdding checks that exactly one of adding and retiring a version succeeds.
func testRetireWhileAdding(t *testing.T, db Database) {
	adder, retirer := open(t, db), open(t, db)
	for n := range 20 {
		d := dataset(herb.Ref{Namespace: "garden", Name: fmt.Sprintf("d%d", n)}, 1)
		var added, retired bool
		var wg sync.WaitGroup
		wg.Go(func() { added = adder.AddVersion(t.Context(), d, "") == nil })
		wg.Go(func() {
			var err error
			if retired, err = retirer.RetireVersion(t.Context(), d.Version, day); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		versions, err := adder.Versions(t.Context())
		noError(t, err)
		if there := slices.Contains(versions, d.Version); added == retired || there != added {
			t.Errorf("version %s: added %t, retired %t, in the catalogue %t", d.Version, added, retired, there)
		}
	}
}
