package value_test

import (
	"strings"
	"testing"

	"herbarium/internal/ingest/value"
)

func TestKindOf(t *testing.T) {
	for want, values := range map[value.Kind][]string{
		value.Number: {"5", "-5", "+5", ".5", "5.", "1e5", "007", "1,234", "12,34,567", "1 234 567", "1\u202f234",
			"1'234", "1.234,50", "1.234.567", "<5", "≥ 10",
			"5 %", "$5", "-$5", "US$ 1,234.50", "5 €", "₹5", " 5 ", "(1,234.50)", "($5)", "5.50-", "EUR 5.50", "5 USD"},
		value.Date: {"2024-02-29", "29.02.2024", "2/29/24", "2024-02-29T13:30:00Z", "20240229T133000", "29 Feb 2024",
			"Feb 29, 2024 1:30 PM", "12:30:15",
			"192.168.0.1"},
		value.Boolean: {"true", "FALSE"},
		value.Missing: {"", " ", "\u00a0", "-", "NA", "n/a", "None", `\N`, "n.a.", "N. A.", "k. A.", "–", "——",
			"#DIV/0!", "#N/A", "?", "..", "****", "-----", "=====", ":---:", "_"},
		value.Text: {"rose", "no", "y", "5 kg", "Inf", "[x]", "?-?", "1-2", "2024-02", "Feb 2024", `\n`, "(x)",
			"5-6", "EUR", strings.Repeat("1", 101)},
	} {
		for _, v := range values {
			if got := value.KindOf([]byte(v)); got != want {
				t.Errorf("KindOf(%q) = %b, want %b", v, got, want)
			}
		}
	}
}

// Types and layouts agree: what may be a number, a date or a missing value in some column has that
// kind for the layout, where months are text.
func FuzzKindOf(f *testing.F) {
	for _, v := range []string{"5", "1.234,50 €", "29.02.2024", "Feb 29, 2024 1:30 PM", "NA", "true", "<5", ""} {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		got := value.KindOf(v)
		switch {
		case len(v) > 0 && len(v) <= 20 && value.IsMissing(v):
			if got != value.Missing {
				t.Errorf("KindOf(%q) = %b, but it is a sign for a missing value", v, got)
			}
		case value.IsDate(v) && got&(value.Date|value.Text) == 0, len(v) <= 60 && value.IsNumber(v) &&
			got&(value.Number|value.Date) == 0:
			t.Errorf("KindOf(%q) = %b", v, got)
		}
	})
}
