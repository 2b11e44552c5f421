package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// wantRetired checks all retired versions.
func wantRetired(t *testing.T, s Store, want ...store.Retired) {
	t.Helper()
	wantResult(t, "retired", want)(s.Retired(t.Context()))
}

// RetiredPrunedAndRemoved checks that versions that leave the catalogue are retired.
func (suite) RetiredPrunedAndRemoved(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	add(t, s, catalog, 1, 3)
	add(t, s, seeds, 1, 2)
	wantRetired(t, other)
	wantResult(t, "dropped", []string{"catalog-v1", "catalog-v2"})(s.AddVersion(t.Context(), dataset(catalog, 4),
		"catalog-v3", herb.Keep{Versions: 2}, day))
	dropped := []store.Retired{{Version: "catalog-v1", Since: day}, {Version: "catalog-v2", Since: day}}
	wantRetired(t, other, dropped...)
	wantResult(t, "removed", []string{"seeds-v1", "seeds-v2"})(s.RemoveDataset(t.Context(), seeds, "",
		day.Add(time.Hour)))
	wantRetired(t, other, append(dropped, store.Retired{Version: "seeds-v1", Since: day.Add(time.Hour)},
		store.Retired{Version: "seeds-v2", Since: day.Add(time.Hour)})...)
	wantVersions(t, other, "catalog-v3", "catalog-v4")
}

// RetiredRefused checks that a retired version cannot be added, and that a version in the catalogue
// cannot be retired.
func (suite) RetiredRefused(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	wantResult(t, "retired", false)(s.RetireVersion(t.Context(), "catalog-v1", day))
	wantResult(t, "retired", true)(s.RetireVersion(t.Context(), "catalog-v3", day))
	wantResult(t, "retired", true)(s.RetireVersion(t.Context(), "catalog-v3", day.Add(time.Hour)))
	wantRetired(t, s, store.Retired{Version: "catalog-v3", Since: day})

	before := generation(t, s)
	wantCode(t, s.addVersion(t.Context(), dataset(catalog, 3), "catalog-v2"), herb.CodeUnavailable, `"catalog-v3"`)
	wantHistory(t, s, catalog, 2, 2, 1)
	wantEqual(t, "generation", before, generation(t, s))
}

func (suite) RetiredForgotten(t *testing.T, db Database) {
	s := open(t, db)
	for n := range 4 {
		wantResult(t, "retired", true)(s.RetireVersion(t.Context(), versionName(catalog, n), day))
	}
	must.NoError(t, s.ForgetRetired(t.Context(), nil))
	must.NoError(t, s.ForgetRetired(t.Context(), []string{"catalog-v1", "catalog-v3", "nonesuch"}))
	wantRetired(t, s, store.Retired{Version: "catalog-v0", Since: day},
		store.Retired{Version: "catalog-v2", Since: day})
}

// RetiredConcurrent checks that exactly one of adding and retiring a version succeeds.
func (suite) RetiredConcurrent(t *testing.T, db Database) {
	adder, retirer := open(t, db), open(t, db)
	for n := range 20 {
		d := dataset(herb.Ref{Namespace: "garden", Name: fmt.Sprintf("d%d", n)}, 1)
		var added, retired bool
		var wg sync.WaitGroup
		wg.Go(func() { added = adder.addVersion(t.Context(), d, "") == nil })
		wg.Go(func() {
			var err error
			retired, err = retirer.RetireVersion(t.Context(), d.Version, day)
			if err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		versions, err := adder.Versions(t.Context())
		must.NoError(t, err)
		if there := slices.Contains(versions, d.Version); added == retired || there != added {
			t.Errorf("version %s: added %t, retired %t, in the catalogue %t", d.Version, added, retired, there)
		}
	}
}

func (suite) SourceErrors(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	wantErrors := func(want ...herb.SourceError) {
		t.Helper()
		wantResult(t, "source errors", want)(other.SourceErrors(t.Context()))
	}
	wantErrors()
	a := herb.SourceError{Path: "garden/catalog.csv", Ref: catalog, Message: "line 3: \"Ü\" …", Since: day}
	b := herb.SourceError{Path: "garden/datapackage.json", Message: "it is not JSON", Since: day.Add(time.Microsecond)}
	must.NoError(t, s.SetSourceError(t.Context(), b))
	must.NoError(t, s.SetSourceError(t.Context(), herb.SourceError{Path: a.Path, Message: "something else",
		Since: a.Since}))
	next := a
	next.Since = b.Since
	must.NoError(t, s.SetSourceError(t.Context(), next)) // it is not published since the first error
	wantErrors(a, b)
	add(t, s, seeds, 1, 1)
	wantErrors(a, b)
	add(t, s, catalog, 1, 1) // publishing clears the error
	wantErrors(b)
	must.NoError(t, s.SetSourceError(t.Context(), a))
	wantErrors(a, b)
	_, err := s.RemoveDataset(t.Context(), catalog, "", day)
	must.NoError(t, err)
	wantErrors(b)
	must.NoError(t, s.ClearSourceError(t.Context(), b.Path))
	must.NoError(t, s.ClearSourceError(t.Context(), "nowhere"))
	wantErrors()
}
