package postgres_test

import (
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/store/postgres"
)

// TestServing checks which servers of a database count as ready for requests.
func TestServing(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	a, b := open(t, address, postgres.Options{}), open(t, address, postgres.Options{})
	must.NoError(t, b.Migrate(t.Context()))
	want := func(what string, s *postgres.Store, want bool) {
		t.Helper()
		is, err := s.IsServedElsewhere(t.Context())
		if is != want || err != nil {
			t.Errorf("%s: another server is ready: %t, %v; want %t", what, is, err, want)
		}
	}
	want("neither is ready", a, false)
	must.NoError(t, a.SetServing(t.Context(), true))
	must.NoError(t, a.SetServing(t.Context(), true))
	want("one is ready, itself", a, false)
	want("one is ready, the other", b, true)
	must.NoError(t, a.SetServing(t.Context(), false))
	want("it stops", b, false)
	must.NoError(t, a.SetServing(t.Context(), true))
	run(t, address, "UPDATE programs SET seen = seen - interval '31 seconds' WHERE serving")
	want("it was killed", b, false)
	run(t, address, "INSERT INTO programs (id, schema_version, name, seen) VALUES ('old', 1, 'a server of 0.9.0', "+
		"now())")
	want("one of an earlier release", b, true)
}
