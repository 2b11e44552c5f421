package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store/postgres"
)

// TestAddPlants_schema adds so many plants that indexes are built anew; they must be those that were there.
func TestAddPlants_schema(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{})
	before := indexes(t, address)
	if len(before) < 12 {
		t.Errorf("there are %d indexes and constraints; are these all?", len(before))
	}
	plants := make([]herb.NewPlant, 2000)
	for i := range plants {
		plants[i] = herb.NewPlant{ID: int64(i), Plant: herb.Plant{Name: "Fern"}}
	}
	if err := s.AddPlants(t.Context(), 0, len(plants), func(yield func([]herb.NewPlant, error) bool) { yield(plants, nil) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, indexes(t, address)); diff != "" {
		t.Errorf("indexes and constraints (-before +after):\n%s", diff)
	}
}

// indexes returns how the indexes and constraints of a database are defined, by name.
func indexes(t *testing.T, address string) map[string]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), "SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "+
		"UNION SELECT 'constraint ' || conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid > 0")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var name, definition string
	if _, err := pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
		all[name] = definition
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
