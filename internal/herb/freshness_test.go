package herb_test

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestParseFrequency(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]herb.Frequency{
		"monthly": "monthly", "Annual": "annual", "yearly": "annual", "10d": "10d", "never": "never",
		"historical":                      "never",
		"http://purl.org/cld/freq/weekly": "weekly", "R/P1M": "31d", "P2W": "14d", "R/PT12H": "12h", "P1Y": "366d",
		"http://publications.europa.eu/resource/authority/frequency/ANNUAL_2": "semiannual",
	} {
		if got, ok := herb.ParseFrequency(text); !ok || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "d", "0d", "-1d", "1.5d", "1e18d", strings.Repeat("9", 1_000_000) + "d", "irregular", "http://example.org/",
		"R/P", "P0D", "PT5M", "P1T", "R/P99999999999Y", "monthly daily", strings.Repeat("/", 2<<20),
	} {
		if got, ok := herb.ParseFrequency(text); ok {
			t.Errorf("%.40q is %q", text, got)
		}
	}
}

func TestFreshness(t *testing.T) {
	t.Parallel()
	published := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		descriptor string
		after      time.Duration
		want       herb.FreshnessState
	}{
		{`{}`, 1 << 60, ""},
		{`{"resource": {"herbarium": {"expected": "2h"}}}`, 2*time.Hour - 1, herb.Fresh},
		{`{"resource": {"herbarium": {"expected": "2h"}}}`, 2 * time.Hour, herb.Due},
		{`{"resource": {"herbarium": {"expected": "2h"}}}`, 4*time.Hour - 1, herb.Due},
		{`{"resource": {"herbarium": {"expected": "2h"}}}`, 4 * time.Hour, herb.Overdue},
		{`{"resource": {"herbarium": {"expected": "2h"}}}`, -time.Hour, herb.Fresh},
		{`{"resource": {"herbarium": {"expected": "never"}}}`, 1 << 60, herb.Historical},
		{`{"package": {"accrualPeriodicity": "R/P1D"}}`, 24 * time.Hour, herb.Due},
		{`{"package": {"accrualPeriodicity": {"@id": "http://purl.org/cld/freq/daily"}}}`, 24 * time.Hour, herb.Due},
		{`{"package": {"accrualPeriodicity": "daily"}, "resource": {"accrualPeriodicity": "weekly"}}`, 24 * time.Hour,
			herb.Fresh},
		{`{"package": {"accrualPeriodicity": "never"}, "resource": {"herbarium": {"expected": "1h"}}}`, time.Hour,
			herb.Due},
		{`{"package": {"accrualPeriodicity": ["daily"]}, "resource": {"accrualPeriodicity": 7}}`, 1 << 60, ""},
	} {
		d := herb.Dataset{Published: published}
		d.Descriptor = herb.NewDescriptor([]byte(c.descriptor))
		if got := d.FreshnessAt(published.Add(c.after)); got.State != c.want {
			t.Errorf("%s after %s: %+v, want %q", c.descriptor, c.after, got, c.want)
		}
		hidden := d.WithoutValues()
		if got := hidden.FreshnessAt(published.Add(c.after)); got.State != c.want {
			t.Errorf("%s without values: %+v, want %q", c.descriptor, got, c.want)
		}
	}
}
