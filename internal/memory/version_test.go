package memory_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/memory"
)

func TestListing(t *testing.T) {
	t.Parallel()
	listtest.Run(t, listtest.Engine{
		Open: func(_ testing.TB, fields []herb.Field, records []herb.Record) listtest.Lister {
			return memory.New(fields, records)
		},
	})
}
