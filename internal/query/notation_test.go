package query_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestParse_notations checks that equivalent spellings of operands are the same request.
func TestParse_notations(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "price", Type: herb.TypeNumber, Filterable: true, Notation: herb.Notation{Group: ".", Decimal: ",", Missing: []string{"--", "NA"}}},
		{Name: "day", Type: herb.TypeDate, Filterable: true, Notation: herb.Notation{Layout: "%d/%m/%Y"}},
		{Name: "at", Type: herb.TypeDateTime, Filterable: true},
		{Name: "ok", Type: herb.TypeBoolean, Filterable: true},
	}
	for _, tt := range []struct{ name, raw, want string }{
		{"own number", "price[gt]=1.234,50", "price[gt]=1234,50"},
		{"standard number", "price[gt]=12.5", "price[gt]=12,5"},
		{"marker", "price=NA", "price[eq]=NA"},
		{"marker between blanks", "price=+NA+", "price[eq]=NA"},
		{"empty", "price=", "price[eq]="},
		{"empty and markers", "price[empty]=true", "price[eq]=&price[eq]=--&price[eq]=NA"},
		{"neither empty nor a marker", "price[empty]=false", "price[ne]=&price[ne]=--&price[ne]=NA"},
		{"own date", "day[lt]=29/2/2024", "day[lt]=2024-02-29"},
		{"date and ISO date", "day=29/2/2024&day=2024-02-29", "day[eq]=2024-02-29"},
		{"datetime", "at=2024-02-29T11:00:00%2B01:00", "at[eq]=2024-02-29T10:00:00.000000000Z"},
		{"date for a datetime", "at[gte]=2024-02-29", "at[gte]=2024-02-29T00:00:00.000000000Z"},
		{"prefix of a datetime", "at[prefix]=2024-02-29+10", "at[prefix]=2024-02-29T10"},
		{"boolean", "ok=YES", "ok[eq]=true"},
		{"both words", "ok=yes&ok=True", "ok[eq]=true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want, err := query.Parse(tt.want, fields)
			if err != nil {
				t.Fatal(err)
			}
			got, err := query.Parse(tt.raw, fields)
			if diff := diffRequests(want, got); err != nil || diff != "" {
				t.Errorf("%q: %v, not the same as %q:\n%s", tt.raw, err, tt.want, diff)
			}
		})
	}
	for _, raw := range []string{"price[gt]=NA", "price=x", "day=2/29/2024", "at=10:00", "ok=1", "ok[prefix]=t", "price[lt]=--"} {
		if _, err := query.Parse(raw, fields); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%q: %v; want an invalid request", raw, err)
		}
	}
}
