package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestBuckets(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", query.MaxEdgeDigits)
	for _, tt := range []struct {
		name            string
		typ             herb.Type
		least, greatest string
		most            int
		want            string
	}{
		{"ratings", herb.TypeNumber, "1", "5", 20, "1 2 3 4 5 6"},
		{"zeros at the end do not count", herb.TypeNumber, "1.00", "5.00", 20, "1 2 3 4 5 6"},
		{"one value", herb.TypeNumber, "42", "42", 20, "42 43"},
		{"one value behind the point", herb.TypeNumber, "-0.25", "-0.250", 20, "-0.25 -0.24"},
		{"nothing is lost in decimals", herb.TypeNumber, "0.1", "0.5", 20, "0.1 0.2 0.3 0.4 0.5 0.6"},
		{"hundredths", herb.TypeNumber, "0.07", "0.1", 4, "0.07 0.08 0.09 0.1 0.11"},
		{"fives", herb.TypeNumber, "3", "27", 6, "0 5 10 15 20 25 30"},
		{"the greatest on an edge", herb.TypeNumber, "0", "100", 10, "0 20 40 60 80 100 120"},
		{"below zero", herb.TypeNumber, "-7", "-1", 4, "-8 -6 -4 -2 0"},
		{"both sides of zero", herb.TypeNumber, "-1", "999", 2, "-1000 0 1000"},
		{"zero", herb.TypeNumber, "-0", "0.0", 5, "0 1"},
		{"more digits than a float has", herb.TypeNumber, "9007199254740993", "9007199254740995", 3,
			"9007199254740993 9007199254740994 9007199254740995 9007199254740996"},
		{"far apart", herb.TypeNumber, "0.000000000000000000001", "1000000000000000000000", 2,
			"0 1000000000000000000000 2000000000000000000000"},
		{"as many digits as there may be", herb.TypeNumber, "0", nines, 2,
			"0 5" + strings.Repeat("0", query.MaxEdgeDigits-1) +
				" 1" + strings.Repeat("0", query.MaxEdgeDigits)},
		{"too many digits", herb.TypeNumber, "0", nines + "9", 2, ""},
		{"no buckets", herb.TypeNumber, "0", "1", 0, ""},
		{"no number", herb.TypeNumber, "1", "1x5", 20, ""},
		{"the wrong way round", herb.TypeNumber, "2", "1", 20, ""},
		{"no date", herb.TypeDate, "2024-01-01", "2024-02-30", 20, ""},
		{"no first date", herb.TypeDate, "2024-02-30", "2024-03-01", 20, ""},
		{"dates the wrong way round", herb.TypeDate, "2024-01-02", "2024-01-01", 20, ""},
		{"no value", herb.TypeNumber, "", "", 20, ""},
		{"days", herb.TypeDate, "2024-02-28", "2024-03-01", 3, "2024-02-28 2024-02-29 2024-03-01 2024-03-02"},
		{"weeks begin on Monday", herb.TypeDate, "2024-02-28", "2024-03-04", 2, "2024-02-26 2024-03-04 2024-03-11"},
		{"months", herb.TypeDate, "2023-11-30", "2024-02-01", 5,
			"2023-11-01 2023-12-01 2024-01-01 2024-02-01 2024-03-01"},
		{"quarters", herb.TypeDate, "2023-12-31", "2024-04-01", 3, "2023-10-01 2024-01-01 2024-04-01 2024-07-01"},
		{"years", herb.TypeDate, "2022-06-01", "2024-06-01", 5, "2022-01-01 2023-01-01 2024-01-01 2025-01-01"},
		{"centuries", herb.TypeDate, "1799-12-31", "1900-01-01", 3, "1700-01-01 1800-01-01 1900-01-01 2000-01-01"},
		{"minutes", herb.TypeDateTime, "2024-02-29T23:59:30Z", "2024-03-01 00:01", 3,
			"2024-02-29T23:59:00Z 2024-03-01T00:00:00Z 2024-03-01T00:01:00Z 2024-03-01T00:02:00Z"},
		{"quarters of an hour", herb.TypeDateTime, "2024-02-29T10:14", "2024-02-29T10:46", 4,
			"2024-02-29T10:00:00Z 2024-02-29T10:15:00Z 2024-02-29T10:30:00Z 2024-02-29T10:45:00Z 2024-02-29T11:00:00Z"},
		{"hours in UTC", herb.TypeDateTime, "2024-02-29T10:30:00+01:00", "2024-02-29T10:30:00Z", 2,
			"2024-02-29T09:00:00Z 2024-02-29T10:00:00Z 2024-02-29T11:00:00Z"},
		{"days of datetimes", herb.TypeDateTime, "2024-02-28T10:30", "2024-03-01T00:00", 4,
			"2024-02-28T00:00:00Z 2024-02-29T00:00:00Z 2024-03-01T00:00:00Z 2024-03-02T00:00:00Z"},
		{"the last moment of all", herb.TypeDateTime, "9999-12-31T23:59:59.999999999Z",
			"9999-12-31T23:59:59.999999999Z", 2,
			"9999-12-31T23:59:00Z 9999-12-31T23:59:59.999999999Z"},
		{"the last day of all", herb.TypeDate, "9999-12-30", "9999-12-31", 2, "9999-12-30 9999-12-31 9999-12-31"},
		{"the first day of all", herb.TypeDate, "0000-01-01", "0000-01-09", 3, "0000-01-01 0000-01-03 0000-01-10"},
		{"all days", herb.TypeDate, "0000-01-01", "9999-12-31", 2, "0000-01-01 5000-01-01 9999-12-31"},
	} {
		checkEdges(t, tt.name, query.Buckets(herb.Field{Type: tt.typ}, tt.least, tt.greatest, tt.most),
			tt.most, tt.want)
	}
}

// TestBuckets_periods checks that no bucket is shorter than the periods of a field, and that its
// edges are periods.
func TestBuckets_periods(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format, least, greatest, want string
	}{
		{"%Y-%m", "2024-01", "2024-03", "2024-01 2024-02 2024-03 2024-04"},
		{"%m/%Y", "12/2023", "02/2024", "2023-12 2024-01 2024-02 2024-03"},
		{"%Y-%m", "2020-01", "2024-03",
			"2020-01 2020-04 2020-07 2020-10 2021-01 2021-04 2021-07 2021-10 2022-01 2022-04 2022-07 2022-10 2023-01 " +
				"2023-04 2023-07 2023-10 2024-01 2024-04"},
		{"%YQ%q", "2023Q4", "2024Q2", "2023-Q4 2024-Q1 2024-Q2 2024-Q3"},
		{"%G-W%V", "2024-W52", "2025-W02", "2024-12-23 2024-12-30 2025-01-06 2025-01-13"},
		{"%G-W%V", "2024-W01", "2024-W40",
			"2024-01-01 2024-02-01 2024-03-01 2024-04-01 2024-05-01 2024-06-01 2024-07-01 2024-08-01 2024-09-01 " +
				"2024-10-01"},
	} {
		f := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: tt.format}}
		checkEdges(t, tt.format, query.Buckets(f, tt.least, tt.greatest, 20), 20, tt.want)
	}
}

// checkEdges checks the number of buckets and their edges.
func checkEdges(t *testing.T, name string, buckets []query.Bucket, most int, want string) {
	t.Helper()
	if got := edgesOf(t, buckets); got != want || len(buckets) > most {
		t.Errorf("%s: %d buckets: %s\nwant %s", name, len(buckets), got, want)
	}
}

// edgesOf returns the edges of adjacent buckets.
func edgesOf(t *testing.T, buckets []query.Bucket) string {
	t.Helper()
	var edges []string
	for i, b := range buckets {
		if i > 0 && b.From != buckets[i-1].To {
			t.Errorf("bucket %d begins at %s, and the one before ends at %s", i, b.From, buckets[i-1].To)
		}
		edges = append(edges, b.From)
	}
	if len(buckets) > 0 {
		edges = append(edges, buckets[len(buckets)-1].To)
	}
	return strings.Join(edges, " ")
}

func TestLogBuckets(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", query.MaxEdgeDigits)
	for _, tt := range []struct {
		name string
		r    query.Range
		most int
		want string
	}{
		{"one decade", query.Range{Min: "1", Max: "9.9", LeastPositive: "1"}, 20, "1 1.5 2 3 5 7 10"},
		{"coarser", query.Range{Min: "1", Max: "9.9", LeastPositive: "1"}, 5, "1 2 5 10"},
		{"powers of ten", query.Range{Min: "3", Max: "30000", LeastPositive: "3"}, 5, "1 10 100 1000 10000 100000"},
		{"powers of a hundred", query.Range{Min: "3", Max: "30000", LeastPositive: "3"}, 4, "1 100 10000 1000000"},
		{"fractions", query.Range{Min: "0.00030", Max: "0.02", LeastPositive: "0.00030"}, 7,
			"0.0002 0.0005 0.001 0.002 0.005 0.01 0.02 0.05"},
		{"the greatest on an edge", query.Range{Min: "10", Max: "20", LeastPositive: "10"}, 3, "10 15 20 30"},
		{"one value", query.Range{Min: "150", Max: "150.0", LeastPositive: "150"}, 9, "150 200"},
		{"with zero", query.Range{Min: "0.0", Max: "55", LeastPositive: "8"}, 6, "0 5 10 20 50 100"},
		{"both sides of zero", query.Range{Min: "-40", Max: "800", GreatestNegative: "-3", LeastPositive: "50"}, 5,
			"-100 -10 0 10 100 1000"},
		{"as documented", query.Range{Min: "-300", Max: "5", GreatestNegative: "-20", LeastPositive: "5"}, 4,
			"-1000 -100 0 1 10"},
		{"negative and zero", query.Range{Min: "-40", Max: "-0", GreatestNegative: "-3"}, 4, "-50 -20 -10 -5 0"},
		{"negative", query.Range{Min: "-40", Max: "-3", GreatestNegative: "-3"}, 5, "-50 -20 -10 -5 -2"},
		{"one negative value", query.Range{Min: "-10", Max: "-10", GreatestNegative: "-10"}, 5, "-15 -10"},
		{"only zero", query.Range{Min: "0", Max: "0"}, 5, ""},
		{"far apart", query.Range{Min: "0.00000000001", Max: "30000000000", LeastPositive: "0.00000000001"}, 3,
			"0.00000000000000000001 1 100000000000000000000"},
		{"as many digits as there may be", query.Range{Min: "1", Max: nines, LeastPositive: "1"}, 2,
			"1 1" + strings.Repeat("0", 500) + " 1" + strings.Repeat("0", 1000)},
		{"too many digits", query.Range{Min: "1", Max: nines + "9", LeastPositive: "1"}, 20, ""},
		{"too few buckets", query.Range{Min: "-1", Max: "1", GreatestNegative: "-1", LeastPositive: "1"}, 2, ""},
		{"no buckets", query.Range{Min: "1", Max: "2", LeastPositive: "1"}, 0, ""},
		{"no number", query.Range{Min: "1", Max: "x", LeastPositive: "1"}, 20, ""},
		{"no value", query.Range{}, 20, ""},
	} {
		checkEdges(t, tt.name, query.LogBuckets(herb.Field{Type: herb.TypeNumber}, tt.r, tt.most), tt.most, tt.want)
	}
}

func TestBucketWidth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ                    herb.Type
		minimum, maximum, want string
	}{
		{herb.TypeNumber, "0", "100", "5"}, {herb.TypeNumber, "0.012", "0.301", "0.02"},
		{herb.TypeNumber, "3", "4", "1"},
		{herb.TypeDuration, "PT0S", "PT2H", "600"}, {herb.TypeNumber, "7", "7", ""}, {herb.TypeNumber, "x", "7", ""},
	} {
		if got := query.BucketWidth(&herb.Field{Type: tt.typ}, tt.minimum, tt.maximum, 21); got != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.minimum, tt.maximum, got, tt.want)
		}
	}
}
