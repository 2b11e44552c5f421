package sqlite_test

import (
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// TestStream_concurrentCreation reads a stream while plants are created and listed, with one connection for all that read: the
// stream holds none of them between two chunks, and has the plants that there were when it began.
func TestStream_concurrentCreation(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "herbarium.db"), sqlite.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	const n = 600
	creations := make([]store.Creation, n)
	for i := range creations {
		creations[i] = store.Creation{Plant: herb.NewPlant{ID: int64(i), Plant: herb.Plant{Name: "rose"}}}
	}
	if _, err := s.CreatePlants(t.Context(), creations); err != nil {
		t.Fatal(err)
	}
	for i, raw := range []string{"", "sort=id&order=desc", "search=rose", "name=rose&search=rose&sort=name"} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		stream, err := s.Plants().Stream(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, err := range stream.Records {
			if err != nil {
				t.Fatal(err)
			}
			if read++; read == 10 {
				more := store.Creation{Plant: herb.NewPlant{ID: int64(n + i), Plant: herb.Plant{Name: "rose"}}}
				if _, err := s.CreatePlants(t.Context(), []store.Creation{more}); err != nil {
					t.Fatal(err)
				}
				if page, err := s.Plants().List(t.Context(), r); err != nil || page.Total != n+i+1 {
					t.Fatalf("listing meanwhile: %d, %v", page.Total, err)
				}
			}
		}
		if read != n+i || stream.Total != n+i {
			t.Errorf("%q: %d plants of %d, want %d", raw, read, stream.Total, n+i)
		}
	}
}
