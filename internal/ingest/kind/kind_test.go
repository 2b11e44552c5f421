package kind_test

import (
	"strings"
	"testing"

	"herbarium/internal/ingest/kind"
)

func TestOf(t *testing.T) {
	for want, values := range map[kind.Kind][]string{
		kind.Number: {"5", "-5", "+5", ".5", "5.", "1e5", "007", "1,234", "12,34,567", "1 234 567", "1\u202f234", "1'234", "1.234,50", "1.234.567", "<5", "≥ 10",
			"5 %", "$5", "-$5", "US$ 1,234.50", "5 €", "₹5", " 5 ", "(1,234.50)", "($5)", "5.50-", "EUR 5.50", "5 USD"},
		kind.Date: {"2024-02-29", "29.02.2024", "2/29/24", "2024-02-29T13:30:00Z", "20240229T133000", "29 Feb 2024", "Feb 29, 2024 1:30 PM", "12:30:15",
			"192.168.0.1"},
		kind.Boolean: {"true", "FALSE"},
		kind.Missing: {"", " ", "\u00a0", "-", "NA", "n/a", "None", `\N`, "n.a.", "N. A.", "k. A.", "–", "——", "#DIV/0!", "#N/A", "?", "..", "****", "-----", "=====", ":---:", "_"},
		kind.Text:    {"rose", "no", "y", "5 kg", "Inf", "[x]", "?-?", "1-2", "2024-02", "Feb 2024", `\n`, "(x)", "5-6", "EUR", strings.Repeat("1", 101)},
	} {
		for _, v := range values {
			if got := kind.Of([]byte(v)); got != want {
				t.Errorf("Of(%q) = %b, want %b", v, got, want)
			}
		}
	}
}

// Types and layouts agree: what may be a number, a date or a missing value in some column has that
// kind for the layout.
func FuzzOf(f *testing.F) {
	for _, v := range []string{"5", "1.234,50 €", "29.02.2024", "Feb 29, 2024 1:30 PM", "NA", "true", "<5", ""} {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		got := kind.Of(v)
		switch {
		case len(v) > 0 && len(v) <= 20 && kind.IsMissing(v):
			if got != kind.Missing {
				t.Errorf("Of(%q) = %b, but it is a sign for a missing value", v, got)
			}
		case kind.IsTime(v) && got != kind.Date, len(v) <= 60 && kind.IsNumber(v) && got&(kind.Number|kind.Date) == 0:
			t.Errorf("Of(%q) = %b", v, got)
		}
	})
}
