package postgres_test

import (
	"testing"

	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest"
)

// list returns the records that a query finds.
func list(t *testing.T, s *postgres.Store, raw string) []string {
	t.Helper()
	records, _, err := storetest.List(t.Context(), s, raw)
	if err != nil {
		t.Error(err)
	}
	return records
}
