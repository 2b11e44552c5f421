package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// list returns the records that a query finds.
func list(t *testing.T, s *postgres.Store, raw string) (records []string) {
	t.Helper()
	r, err := query.Parse(raw, herb.PlantFields())
	if err != nil {
		t.Error(err)
		return nil
	}
	page, err := s.Plants().List(t.Context(), r)
	if err != nil {
		t.Error(err)
	}
	for _, b := range page.Records {
		records = append(records, string(b))
	}
	return records
}

// TestCollation holds that prefixes are ranges of bytes, although the database sorts a brace before a letter.
func TestCollation(t *testing.T) {
	t.Parallel()
	s := open(t, cluster.Database(t), postgres.Options{})
	zinnia := store.Creation{Plant: herb.NewPlant{ID: 1, Plant: herb.Plant{Name: "zinnia", Tag: new("zone")}}}
	if _, err := s.CreatePlants(t.Context(), []store.Creation{zinnia}); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"search=z*", "name[prefix]=z", "tag[prefix]=z"} {
		if found := list(t, s, raw); len(found) != 1 {
			t.Errorf("%s finds %v", raw, found)
		}
	}
}

// TestListPlants_oneState stops a listing between its statements while a plant is created: it shows the state of its
// start.
func TestListPlants_oneState(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{})
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Fatal(err)
	}
	creator, watcher := connect(t, address), connect(t, address)
	do := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := creator.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	do("BEGIN", "LOCK TABLE plant_tags IN ACCESS EXCLUSIVE MODE") // which this listing reads behind the totals
	found := make(chan []string, 1)
	go func() { found <- list(t, s, "sort=tag&per_page=1") }()
	for waiting := false; !waiting; {
		if err := watcher.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND database = "+
			"(SELECT oid FROM pg_database WHERE datname = current_database()))").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	do("INSERT INTO plants VALUES (2, 2, 'Rose', 'rose', '', false, NULL, 0)", "UPDATE plant_tags SET plants = 2",
		"UPDATE totals SET plants = 2", "COMMIT")
	first := []string{`{"id":"1","name":"Fern","tag":""}`}
	if diff := cmp.Diff(first, <-found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if both := list(t, s, "sort=tag"); len(both) != 2 {
		t.Errorf("afterwards: %v", both)
	}
}
