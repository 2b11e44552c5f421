package format_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"herbarium/internal/web/view/format"
)

func TestCompact(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "0.00": "0", "7": "7", "1234": "1,234", "9999": "9,999", "10000": "10 k", "12412": "12.4 k",
		"999999": "1 M", "1200000": "1.2 M",
		"870000000000000": "870 T", "8120000000": "8.12 B", "-12412.5": "−12.4 k", "15.375": "15.4",
		"3171.7329": "3,170", "0.333333": "0.333", "99.95": "100", "0.00012": "0.00012",
		"1000000000000000": "1e15", "0.0000000123": "1.23e−8", strings.Repeat("9", 1000): "1e1000",
		strings.Repeat("1", 400): "1.11e399", "x": "x", "": "",
	} {
		if got := strings.ReplaceAll(format.Compact(in), "\u00a0", " "); got != want {
			t.Errorf("%.20s: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"25:10:00": "25:10:00", "120000000000000:00:00": "120 T h",
		strings.Repeat("9", 1000) + ":00:00": "1e1000 h"} {
		if got := strings.ReplaceAll(format.CompactDuration(in), "\u00a0", " "); got != want {
			t.Errorf("%.20s: %q, want %q", in, got, want)
		}
	}
}

func FuzzCompact(f *testing.F) {
	for _, s := range []string{"0", "-1.5", strings.Repeat("9", 1000), "0." + strings.Repeat("0", 400) + "1",
		"1e5", "٣"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := format.Compact(s); utf8.RuneCountInString(got) > format.LongNumber+1 ||
			strings.Contains(got, "Inf") || strings.Contains(got, "NaN") {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}
