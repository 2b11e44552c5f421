package query_test

import (
	"math"
	"strings"
	"testing"
	"time"

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

func TestGrain_ParseLabel(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2024, 7, 1, 0, 0, 0, 0, berlin)
	for _, g := range []query.Grain{query.GrainYear, query.GrainQuarter, query.GrainMonth, query.GrainWeek,
		query.GrainDay, query.GrainHour} {
		want := g.Start(start)
		if got, ok := g.ParseLabel(g.Label(want), berlin); !ok || !got.Equal(want) {
			t.Errorf("%s: %v, %t; want %v", g, got, ok, want)
		}
	}
	hour, ok := query.GrainHour.ParseLabel("2024-07-01T09:00", berlin) // of a field without a zone
	if want := time.Date(2024, 7, 1, 9, 0, 0, 0, time.UTC); !ok || !hour.Equal(want) {
		t.Errorf("an hour without a zone is %v, %t", hour, ok)
	}
	for g, label := range map[query.Grain]string{query.GrainQuarter: "2024-Qx", query.GrainMonth: "2024",
		query.GrainDay: "", query.GrainYear: "none"} {
		if got, ok := g.ParseLabel(label, nil); ok {
			t.Errorf("%s: %q is %v", g, label, got)
		}
	}
}

func TestShortestGrain(t *testing.T) {
	t.Parallel()
	most := func(n int) func(int) bool { return func(intervals int) bool { return intervals <= n } }
	for _, tt := range []struct {
		field       herb.Field
		first, last string
		most        int
		want        query.Grain
	}{
		{herb.Field{Type: herb.TypeDate}, "2024-01-01", "2024-03-31", 100, query.GrainDay},
		{herb.Field{Type: herb.TypeDate}, "2024-01-01", "2024-12-31", 100, query.GrainWeek},
		{herb.Field{Type: herb.TypeDate}, "1950-01-01", "1999-12-01", 100, query.GrainYear},
		{herb.Field{Type: herb.TypeDateTime}, "2024-01-01T00:00:00Z", "2024-01-02T12:00:00Z", 100, query.GrainHour},
		{herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%Y-%m"}}, "1997-01", "2026-07", 400,
			query.GrainMonth},
		{herb.Field{Type: herb.TypeDate}, "1000-01-01", "1999-12-01", 100, ""},
		{herb.Field{Type: herb.TypeDate}, "", "1999-12-01", 100, ""},
		{herb.Field{Type: herb.TypeNumber}, "1", "2", 100, ""},
	} {
		if got := query.ShortestGrain(&tt.field, tt.first, tt.last, most(tt.most)); got != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.first, tt.last, got, tt.want)
		}
	}
}
