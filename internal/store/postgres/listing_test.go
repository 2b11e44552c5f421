package postgres_test

import (
	"context"
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

func TestListPlants(t *testing.T) {
	t.Parallel()
	listtest.Run(t, listtest.Engine{
		Plants:   true,
		Datasets: 20, // each is a database of its own, and SQLite has more of them
		Open: func(t testing.TB, _ []herb.Field, records []herb.Record) listtest.Lister {
			s := open(t, cluster.Database(t), postgres.Options{})
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
