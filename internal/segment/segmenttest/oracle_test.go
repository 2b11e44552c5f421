package segmenttest_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
)

// TestOracle runs the suite on the oracle itself. The random part compares it with itself, but the
// expected results of the named cases are written by hand.
func TestOracle(t *testing.T) {
	t.Parallel()
	for name, plants := range map[string]bool{"datasets": false, "plants": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			segmenttest.Run(t, segmenttest.Engine{
				Open: func(_ testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
					return segmenttest.NewOracle(fields, records)
				},
				Plants:   plants,
				Datasets: 10,
			})
		})
	}
}
