package listtest_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
)

// TestOracle plays the suite with the oracle as the engine. The random part then compares it with itself, but the named
// scenes were answered by hand.
func TestOracle(t *testing.T) {
	t.Parallel()
	for name, plants := range map[string]bool{"datasets": false, "plants": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listtest.Run(t, listtest.Engine{
				Open: func(_ testing.TB, fields []herb.Field, records []herb.Record) listtest.Lister {
					return listtest.NewOracle(fields, records)
				},
				Plants: plants,
			})
		})
	}
}
