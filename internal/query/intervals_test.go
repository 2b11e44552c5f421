package query_test

import (
	"math"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestBy_LeastCount(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", query.MaxEdgeDigits)
	for _, tt := range []struct {
		by       query.By
		from, to string
		want     int
	}{
		{query.By{Grain: query.GrainDay}, "0001-01-01", "9999-12-31", 3_652_059},
		{query.By{Grain: query.GrainDay}, "2024-02-28", "2024-03-01", 3},
		{query.By{Grain: query.GrainYear}, "0001-01-01", "9999-01-01", 9_978}, // a year may have 366 days
		{query.By{Grain: query.GrainWeek}, "2024-01-01", "2024-01-08", 2},
		{query.By{Width: "0.5"}, "-1", "1.5", 6},
		{query.By{Width: "1"}, "0", nines, math.MaxInt32},
		{query.By{Width: "0." + strings.Repeat("0", 300) + "1"}, "-" + nines[:600], nines[:600], math.MaxInt32},
		{query.By{Width: "1"}, "-1" + nines, nines, math.MaxInt32},    // more digits than a value
		{query.By{Width: "1"}, "-1" + nines + "0." + nines, nines, 0}, // no start of an interval
	} {
		kind := herb.TypeDate
		if tt.by.Width != "" {
			kind = herb.TypeNumber
		}
		if got := tt.by.LeastCount(kind, tt.from, tt.to); got != tt.want {
			t.Errorf("%.20v from %.20s to %.20s: %d, want %d", tt.by, tt.from, tt.to, got, tt.want)
		}
	}
}
