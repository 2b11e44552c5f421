package view

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "2024": "2,024", "12345": "12,345", "-12345.67": "-12,345.67", "+1234567": "+1,234,567", "57000.50": "57,000.50",
		"3521418059.923445": "3,521,418,060", "48.783125": "48.7831", "-123456.789": "-123,456.79", "0.000123456789": "0.0001235", "999999.999": "1,000,000.00",
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

func TestTime(t *testing.T) {
	t.Parallel()
	date := herb.Field{Type: herb.TypeDate}
	european := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{Layout: "%d/%m/%Y", Missing: []string{"NA"}}}
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

func TestFilter_inputs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ                 herb.Type
		notation            herb.Notation
		operand, kind, want string
	}{
		{herb.TypeNumber, herb.Notation{Decimal: ","}, "1,50", "text", "1,50"},
		{herb.TypeDate, herb.Notation{Layout: "%d/%m/%Y"}, "20/10/2020", "date", "2020-10-20"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29T10:00:00Z", "datetime-local", "2024-02-29T10:00:00"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29", "datetime-local", "2024-02-29T00:00:00"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29T10:00:00.5Z", "datetime-local", "2024-02-29T10:00:00.500000000"},
		{herb.TypeDate, herb.Notation{}, "soon", "date", "soon"},
	} {
		f := Filter{Column: Column{Field: herb.Field{Name: "f", Type: tt.typ, Notation: tt.notation}}}
		if got := f.input(tt.operand); got != tt.want || f.InputType() != tt.kind {
			t.Errorf("the input of %s %q is %s %q; want %s %q", tt.typ, tt.operand, f.InputType(), got, tt.kind, tt.want)
		}
	}
}

func TestIsWebAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"https://example.org", "http://example.org/a?b=c#d", "https://münchen.example/ä", "https://[::1]:8080/x", "https://a.example/@user"} {
		if !IsWebAddress(s) {
			t.Errorf("%q is rejected", s)
		}
	}
	for _, s := range []string{
		"", "https://", "https:///x", "http:x", "HTTPS://example.org", "javascript:alert(1)", "ftp://x", "//x", " https://x", "https://a b", "https://a\nb",
		"https://user@host/", "https://a%20b/", `https://a"b`, "https://a<b", "https://a\\b", "mailto:a@b",
	} {
		if IsWebAddress(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	report := func(name string) *herb.Report {
		if name == "a" {
			return &herb.Report{Columns: []herb.ColumnReport{{Field: "a", Min: "https://x.example/1.png", Max: "https://x.example/z.JPG"}}}
		}
		return &herb.Report{Columns: []herb.ColumnReport{{Field: "b", Min: "https://x.example/1.png", Max: "none"}}}
	}
	for _, tt := range []struct {
		name string
		typ  herb.Type
		want Kind
	}{
		{"a", herb.TypeText, KindImage}, {"b", herb.TypeText, KindText}, {"coverImage", herb.TypeText, KindImage}, {"imagine", herb.TypeText, KindText},
		{"thumb_url", herb.TypeText, KindImage}, {"id", herb.TypeNumber, KindCode}, {"orderNo", herb.TypeNumber, KindCode}, {"price", herb.TypeNumber, KindNumber},
		{"image", herb.TypeDate, KindDate}, {"image", herb.TypeList, KindList},
	} {
		d := herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: tt.typ}}}
		d.Report = report(tt.name)
		if got := KindOf(&d, 0); got != tt.want {
			t.Errorf("%s (%s) is shown as %d, want %d", tt.name, tt.typ, got, tt.want)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago", 47 * time.Hour: "1 day ago",
		45 * 24 * time.Hour: "1 month ago", 800 * 24 * time.Hour: "2 years ago",
	} {
		if got := Age(now, now.Add(-ago)); got != want {
			t.Errorf("%v: %q, want %q", ago, got, want)
		}
	}
}
