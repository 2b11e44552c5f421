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

func TestBy_Interval_log(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, value, from, next string }{
		{"1", "0", "0", "1"}, {"1", "0.5", "0", "1"}, {"1", "1", "1", "2"}, {"1", "1.99", "1", "2"},
		{"1", "2", "2", "5"}, {"1", "9.99", "5", "10"}, {"1", "60000000", "50000000", "100000000"},
		{"0.01", "0.009", "0", "0.01"}, {"0.01", "0.01", "0.01", "0.02"}, {"0.01", "0.5", "0.5", "1"},
		{"100", "99", "0", "100"}, {"100", "100", "100", "200"},
		{"1", "-0.5", "-1", "0"}, {"1", "-1", "-1", "0"}, {"1", "-1.5", "-2", "-1"}, {"1", "-2", "-2", "-1"},
		{"1", "-6", "-10", "-5"}, {"0.1", "-0.3", "-0.5", "-0.2"},
	} {
		got := query.By{Width: tt.first, Log: true}.Interval(herb.TypeNumber, tt.value)
		if got != (query.Interval{Label: tt.from, From: tt.from, Next: tt.next}) {
			t.Errorf("%s of log%s: %+v, want from %s to %s", tt.value, tt.first, got, tt.from, tt.next)
		}
	}
}
