package postgres_test

import (
	"fmt"
	"testing"

	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// list returns the plants as "id name tag", in creation order.
func list(t *testing.T, s *postgres.Store) (all []string) {
	t.Helper()
	page, err := s.ReadPlants(t.Context(), 0, 100_000)
	if err != nil || len(page.Plants) != page.Total {
		t.Errorf("read %d of %d plants, %v", len(page.Plants), page.Total, err)
	}
	for _, p := range page.Plants {
		tag, _ := store.TagColumns(p.Plant)
		all = append(all, fmt.Sprint(p.ID, " ", p.Name, " ", tag))
	}
	return all
}
