package sqlite_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// open opens a new database that is closed with the test.
func open(t testing.TB) *sqlite.Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "herbarium.db"))
}

func openFile(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestListPlants(t *testing.T) {
	t.Parallel()
	listtest.Run(t, listtest.Engine{
		Plants:   true,
		Datasets: 40, // each is a database of its own, synced to disk
		Open: func(t testing.TB, _ []herb.Field, records []herb.Record) listtest.Lister {
			s := open(t)
			creations := make([]store.Creation, len(records))
			for i, r := range records {
				creations[i] = store.Creation{Plant: plantOf(t, r)}
			}
			outcomes, err := s.CreatePlants(context.Background(), creations)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if o.Err != nil {
					t.Fatal(o.Err)
				}
			}
			return s.Plants()
		},
	})
}

func TestPlants_Describe(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.CreatePlants(t.Context(), fern(1)); err != nil {
		t.Fatal(err)
	}
	d, err := s.Plants().Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	version, err := s.Plants().Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Ref != herb.PlantsRef || d.Records != 1 || d.Version != version || len(d.Fields) != len(herb.PlantFields()) {
		t.Errorf("got %+v", d)
	}
}

// plantOf reads a plant from its record. An empty tag may have been given or not.
func plantOf(t testing.TB, r herb.Record) herb.NewPlant {
	t.Helper()
	id, err := strconv.ParseInt(r[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := herb.NewPlant{ID: id, Plant: herb.Plant{Name: r[1]}}
	if r[2] != "" || id%2 == 0 {
		p.Tag = &r[2]
	}
	return p
}
