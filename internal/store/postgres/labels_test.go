package postgres_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store/postgres"
)

// TestAddLabel_olderProgram adds a label while a program uses the database that would delete the
// version, and after it was killed.
func TestAddLabel_olderProgram(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{})
	must.NoError(t, s.Migrate(t.Context()))
	run(t, address, "INSERT INTO programs (id, schema_version, name, seen) VALUES ('old', 1, 'a server of 0.9.0', "+
		"now())")
	for _, want := range []herb.Code{herb.CodeRejected, herb.CodeNotFound} {
		if err := s.AddLabel(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"}, "1",
			"a"); herb.CodeOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
		run(t, address, "UPDATE programs SET seen = seen - interval '31 seconds' WHERE id = 'old'")
	}
}
