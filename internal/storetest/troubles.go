package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
)

func testTroubles(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	wants := func(want ...herb.Trouble) {
		t.Helper()
		got, err := other.Troubles(t.Context())
		noError(t, err)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("troubles (-want +got):\n%s", diff)
		}
	}
	wants()
	a := herb.Trouble{Place: "garden/catalog.csv", Ref: catalog, Message: "line 3: \"Ü\" …", Since: day}
	b := herb.Trouble{Place: "garden/datapackage.json", Message: "it is not JSON", Since: day.Add(time.Microsecond)}
	noError(t, s.SetTrouble(t.Context(), b))
	noError(t, s.SetTrouble(t.Context(), herb.Trouble{Place: a.Place, Message: "something else", Since: b.Since}))
	noError(t, s.SetTrouble(t.Context(), a))
	wants(a, b)
	add(t, s, seeds, 1, 1)
	wants(a, b)
	add(t, s, catalog, 1, 1) // what is published is in no trouble
	wants(b)
	noError(t, s.ClearTrouble(t.Context(), b.Place))
	noError(t, s.ClearTrouble(t.Context(), "nowhere"))
	wants()
}
