package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// TestAddPlants_schema adds so many plants that indexes are built anew; they must be those that were there.
func TestAddPlants_schema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	s := openFile(t, path)
	before := schema(t, raw(t, path))
	plants := make([]herb.NewPlant, 2000)
	for i := range plants {
		plants[i] = herb.NewPlant{ID: int64(i), Plant: herb.Plant{Name: "Fern"}}
	}
	if err := s.AddPlants(t.Context(), 0, len(plants), func(yield func([]herb.NewPlant, error) bool) { yield(plants, nil) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, schema(t, raw(t, path))); diff != "" {
		t.Errorf("schema (-before +after):\n%s", diff)
	}
}

// schema returns the statements that make up a database, by name.
func schema(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name, coalesce(sql, '') FROM sqlite_schema")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for rows.Next() {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			t.Fatal(err)
		}
		all[name] = statement
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
