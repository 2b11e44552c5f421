package format

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, total int
		want     string
	}{{1, 1000, "<1%"}, {999, 1000, ">99%"}, {0, 10, "0%"}, {10, 10, "100%"}, {1, 3, "33%"}} {
		if got := Percent(tt.n, tt.total); got != tt.want {
			t.Errorf("%d of %d is %s, want %s", tt.n, tt.total, got, tt.want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "2024": "2,024", "12345": "12,345", "-12345.67": "-12,345.67", "+1234567": "+1,234,567",
		"57000.50":          "57,000.50",
		"3521418059.923445": "3,521,418,060", "48.783125": "48.7831", "-123456.789": "-123,456.79",
		"0.000123456789": "0.0001235", "999999.999": "1,000,000.00",
		"8.00": "8.00", "1e10000": "1e10000", "": "", "1.234,50": "1.234,50", "--1": "--1", "12:30": "12:30",
	} {
		if got := Number(&herb.Field{}, in); got != want {
			t.Errorf("Number(%q) = %q, want %q", in, got, want)
		}
	}
	if long := strings.Repeat("1", 100); Number(&herb.Field{}, long) != long {
		t.Error("a number that is too long is formatted")
	}
	comma := &herb.Field{Notation: herb.Notation{Decimal: ","}}
	for _, n := range []string{"12345", "1.234", "12345,5"} {
		if got, grouped := Number(comma, n), GroupNumber(comma, n); got != n || grouped != n {
			t.Errorf("%q with a decimal comma is formatted as %q and grouped as %q", n, got, grouped)
		}
	}
}

func TestRoundDecimals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in     string
		places int
		want   string
	}{{"29.2083333333333", 3, "29.208"}, {"1636666.66666667", 3, "1636666.667"}, {"2.5", 3, "2.5"},
		{"0.000123456789", 3, "0.0001235"}, {"12", 3, "12"}, {"a", 3, "a"}} {
		if got := RoundDecimals(tt.in, tt.places); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	date := herb.Field{Type: herb.TypeDate}
	european := herb.Field{Type: herb.TypeDate,
		Notation: herb.Notation{DateFormat: "%d/%m/%Y", Missing: []string{"NA"}}}
	datetime := herb.Field{Type: herb.TypeDateTime}
	for _, tt := range []struct {
		name     string
		field    herb.Field
		in, want string
	}{
		{"date", date, "2024-02-29", "2024-02-29"},
		{"not a date", date, "2024-13-01", "2024-13-01"},
		{"empty", date, "", ""},
		{"own notation", european, "1/12/2024", "2024-12-01"},
		{"missing", european, "NA", "NA"},
		{"minutes", datetime, "2024-02-29T10:00", "2024-02-29 10:00"},
		{"seconds and zone", datetime, "2024-02-29T10:00:05+01:00", "2024-02-29 09:00:05 UTC"},
		{"fraction", datetime, "2024-02-29T10:00:00.250", "2024-02-29 10:00:00.25"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Time(&tt.field, tt.in); got != tt.want {
				t.Errorf("Time(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago",
		47 * time.Hour:      "1 day ago",
		45 * 24 * time.Hour: "1 month ago", 800 * 24 * time.Hour: "2 years ago",
	} {
		if got := Age(now, now.Add(-ago)); got != want {
			t.Errorf("%v: %q, want %q", ago, got, want)
		}
	}
}
