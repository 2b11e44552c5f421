package herb_test

import (
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestParsePeriod(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"90d": 90 * day, "8w": 56 * day, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "1s": time.Second,
		"36500d": 36500 * day,
		"":       0, "0d": 0, "-1d": 0, "1": 0, "d": 0, "1.5d": 0, "36501d": 0, "1y": 0, "99999999999999999999d": 0,
	} {
		got, ok := herb.ParsePeriod(s)
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %v, %t", s, got, ok)
		}
		if again, _ := herb.ParsePeriod(herb.FormatPeriod(want)); ok && again != want {
			t.Errorf("%q is written as %q", s, herb.FormatPeriod(want))
		}
	}
}
