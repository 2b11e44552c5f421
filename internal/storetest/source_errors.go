package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
)

func testSourceErrors(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	wants := func(want ...herb.SourceError) {
		t.Helper()
		got, err := other.SourceErrors(t.Context())
		noError(t, err)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("source errors (-want +got):\n%s", diff)
		}
	}
	wants()
	a := herb.SourceError{Path: "garden/catalog.csv", Ref: catalog, Message: "line 3: \"Ü\" …", Since: day}
	b := herb.SourceError{Path: "garden/datapackage.json", Message: "it is not JSON", Since: day.Add(time.Microsecond)}
	noError(t, s.SetSourceError(t.Context(), b))
	noError(t, s.SetSourceError(t.Context(), herb.SourceError{Path: a.Path, Message: "something else", Since: b.Since}))
	noError(t, s.SetSourceError(t.Context(), a))
	wants(a, b)
	add(t, s, seeds, 1, 1)
	wants(a, b)
	add(t, s, catalog, 1, 1) // publishing clears the error
	wants(b)
	noError(t, s.ClearSourceError(t.Context(), b.Path))
	noError(t, s.ClearSourceError(t.Context(), "nowhere"))
	wants()
}
