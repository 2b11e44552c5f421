package postgres_test

import (
	"fmt"
	"testing"

	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest"
)

// list returns the plants as "id name tag", in creation order.
func list(t *testing.T, s *postgres.Store) (all []string) {
	t.Helper()
	plants, err := storetest.Plants(t.Context(), s)
	if err != nil {
		t.Error(err)
	}
	for _, p := range plants {
		tag, _ := store.TagColumns(p.Plant)
		all = append(all, fmt.Sprint(p.ID, " ", p.Name, " ", tag))
	}
	return all
}
