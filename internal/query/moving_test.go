package query_test

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

// movingFields returns a date, a datetime and a text field.
func movingFields() []herb.Field {
	return []herb.Field{
		{Name: "d", Type: herb.TypeDate, Filterable: true}, {Name: "at", Type: herb.TypeDateTime, Filterable: true},
		{Name: "t", Type: herb.TypeText, Filterable: true},
		{Name: "m", Type: herb.TypeDate, Filterable: true, Notation: herb.Notation{Missing: []string{"today"}}},
	}
}

// TestParse_moving checks what dates mean that move with time, on a Thursday.
func TestParse_moving(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, time.February, 29, 23, 45, 30, 5, time.UTC)
	const start = "T00:00:00.000000000Z"
	for raw, want := range map[string]string{
		"d=today": "2024-02-29", "d[gte]=today-30d": "2024-01-30", "d[lt]=today%2B1d": "2024-03-01",
		"d[gte]=today-2w": "2024-02-15", "d[gte]=now": "2024-02-29", "d[gte]=now-24h": "2024-02-28",
		"d[gte]=week": "2024-02-26", "d[gte]=week-1": "2024-02-19", "d[gte]=month": "2024-02-01",
		"d[gte]=month-1": "2024-01-01", "d[gte]=month-2": "2023-12-01", "d[gte]=quarter": "2024-01-01",
		"d[gte]=quarter-1": "2023-10-01", "d[gte]=year": "2024-01-01", "d[gte]=year-1": "2023-01-01",
		"d[gte]=year%2B1": "2025-01-01", "d[gte]=+today+": "2024-02-29",
		"d[gte]=today&_zone=Asia/Tokyo": "2024-03-01", "d[gte]=month&_zone=Asia/Tokyo": "2024-03-01",
		"_filter=d[gte]%3Dtoday-1d": "2024-02-28", "d[in]=today": "2024-02-29",
		"at=today": "2024-02-29", "at[ne]=today-1d": "2024-02-28", "at[gte]=today": "2024-02-29" + start,
		"at[gte]=now":                          "2024-02-29T23:45:00.000000000Z",
		"at[gte]=now-24h":                      "2024-02-28T23:45:00.000000000Z",
		"at[gte]=now-30min":                    "2024-02-29T23:15:00.000000000Z",
		"at[gte]=month-1":                      "2024-01-01" + start,
		"at[gte]=today&_zone=Asia/Tokyo":       "2024-02-29T15:00:00.000000000Z",
		"at[gte]=today&_zone=America/New_York": "2024-02-29T05:00:00.000000000Z",
		"t=today":                              "today", "t[gte]=today-30d": "today-30d", // a text is a text
		"m=today":      "today", // and a marker is a marker
		"m[gte]=today": "2024-02-29",
	} {
		r, err := query.Split(raw).At(now).Listing(movingFields(), herb.Order{})
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := r.Conditions[0].Values[0].Text; got != want {
			t.Errorf("%s is %s; want %s", raw, got, want)
		}
		isText := want == "today" || want == "today-30d"
		if isText != (r.Resolved() == nil) || isText != (r.ResultKey() == r.Canonical()) {
			t.Errorf("%s: resolved %v, key %q", raw, r.Resolved(), r.ResultKey())
		}
		if !isText && query.Split(raw).MovesAt(now).IsZero() {
			t.Errorf("%s does not move", raw)
		}
	}
	for _, raw := range []string{"", "sort=year", "search=now", "_by=month", "t=todays", "d=2024-02-29"} {
		if !query.Split(raw).MovesAt(now).IsZero() {
			t.Errorf("%s moves", raw)
		}
	}
	zoned := query.Split("d[gte]=today-30d&at[lt]=now&_zone=Asia/Tokyo").At(now)
	one, err := zoned.Listing(movingFields(), herb.Order{})
	must.NoError(t, err)
	if got := one.Meta(0).Resolved; len(got) != 2 || got["today-30d"] != "2024-01-31T00:00:00+09:00" ||
		got["now"] != "2024-03-01T08:45:00+09:00" {
		t.Errorf("resolved %v", got)
	}
	same, err := query.Split("d[gte]=today").At(now).Listing(movingFields(), herb.Order{})
	must.NoError(t, err)
	later, err := query.Split("d[gte]=today").At(now.Add(time.Hour)).Listing(movingFields(), herb.Order{})
	must.NoError(t, err)
	earlier, err := query.Split("d[gte]=today").At(now.Add(-time.Hour)).Listing(movingFields(), herb.Order{})
	must.NoError(t, err)
	if same.ResultKey() == later.ResultKey() || same.ResultKey() != earlier.ResultKey() {
		t.Errorf("keys %q, %q, %q", earlier.ResultKey(), same.ResultKey(), later.ResultKey())
	}
}

// TestString_movesAt checks until when the result of a request stays as it is.
func TestString_movesAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, time.February, 29, 23, 45, 30, 5, time.UTC)
	for raw, want := range map[string]string{
		"d[gte]=today-30d": "2024-03-01T00:00:00Z", "d[gte]=year": "2024-03-01T00:00:00Z",
		"at[gte]=now-24h": "2024-02-29T23:46:00Z", "d[gte]=today&at[lt]=now": "2024-02-29T23:46:00Z",
		"d[in]=2024-01-01,today": "2024-03-01T00:00:00Z", "_filter=d[gte]%3Dmonth": "2024-03-01T00:00:00Z",
		"d[gte]=week&_zone=Asia/Tokyo": "2024-03-02T00:00:00+09:00", "d[gte]=today&_zone=Mars": "2024-03-01T00:00:00Z",
		"_having=max:d[gte]%3Dtoday": "2024-03-01T00:00:00Z", "d[gte]=2024-01-01": "0001-01-01T00:00:00Z",
	} {
		if got := query.Split(raw).MovesAt(now).Format(time.RFC3339); got != want {
			t.Errorf("%s moves at %s; want %s", raw, got, want)
		}
	}
}

// TestResolveBound resolves the bounds of descriptors.
func TestResolveBound(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, time.February, 29, 23, 45, 30, 5, time.FixedZone("", 3600))
	for _, c := range []struct {
		typ         herb.Type
		bound, want string
		ok          bool
	}{
		{herb.TypeDate, "today", "2024-02-29", true}, {herb.TypeDate, "month-1", "2024-01-01", true},
		{herb.TypeDateTime, "now-24h", "2024-02-28T22:45:00.000000000Z", true}, {herb.TypeNumber, "today", "", false},
		{herb.TypeDate, "2024-01-01", "", false},
	} {
		if got, ok, err := query.ResolveBound(c.typ, c.bound, now); got != c.want || ok != c.ok || err != nil {
			t.Errorf("%s %s is %q, %t, %v", c.typ, c.bound, got, ok, err)
		}
	}
	if _, ok, err := query.ResolveBound(herb.TypeDate, "today-1x", now); ok || err == nil {
		t.Error("an unknown unit is accepted")
	}
}

// TestParse_movingHaving checks that conditions on measures resolve dates as filters do.
func TestParse_movingHaving(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, time.February, 29, 23, 45, 0, 0, time.UTC)
	a, err := query.Split("_by=t&_having=max:d[gte]=today-30d&_zone=Asia/Tokyo").At(now).Aggregate(movingFields())
	must.NoError(t, err)
	if got := a.Having[0].Values[0].Text; got != "2024-01-31" || a.Request.Resolved() == nil {
		t.Errorf("resolved to %s, %v", got, a.Request.Resolved())
	}
}

func TestParse_movingInvalid(t *testing.T) {
	t.Parallel()
	const forms = "valid forms: now, today, week, month, quarter or year, followed by an offset if needed: " +
		"today-30d, today-2w, now-24h, now-30min, month-1, year-1; in a URL, write + as %2B"
	for raw, want := range map[string]string{
		"d[gte]=today-30":           `"today-30" is not a date that moves with time; ` + forms,
		"d[gte]=today-":             `"today-" is not a date that moves with time; ` + forms,
		"d[gte]=today+1d":           `"today 1d" is not a date that moves with time; ` + forms,
		"d[gte]=month-1d":           `"month-1d" is not a date that moves with time; ` + forms,
		"d[gte]=today-1e18d":        `"today-1e18d" is not a date that moves with time; ` + forms,
		"d[gte]=today-1d-1d":        `"today-1d-1d" is not a date that moves with time; ` + forms,
		"d[gte]=today-9999999d":     `"today-9999999d" is not a date that moves with time; ` + forms,
		"d[gte]=today-999999d":      `offset within the years 1 to 9998`,
		"d[gte]=year%2B999999":      `offset within the years 1 to 9998`,
		"d[gte]=week-999999":        `offset within the years 1 to 9998`,
		"d[gte]=tomorrow":           `d is a date field and "tomorrow" is not a date`,
		"d[prefix]=today":           `d[prefix] compares texts, and "today" moves with time; use gte and lt for a range`,
		"at=today&_zone=Asia/Tokyo": `at[eq] finds days in UTC only; with _zone, use a range, as in at[gte]=today`,
		"d[gte]=today&_zone=Mars":   `_zone is "Mars"`,
		"d[gte]=2024-02-29&_zone=UTC": `_zone has no effect: no filter has a date that moves with time, such as ` +
			`today-30d; remove it`,
		"d[gte]=today-" + strings.Repeat("9", 7000): `is not a date that moves with time`,
	} {
		_, err := query.Split(raw).Listing(movingFields(), herb.Order{})
		if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(herb.MessageOf(err), want) {
			t.Errorf("%.80s: %.300v; want %s", raw, err, want)
		}
	}
}
