package herb_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestParseLabel(t *testing.T) {
	t.Parallel()
	for label, valid := range map[string]bool{
		"2026-Q1": true, "v1.0_final": true, "A": true, strings.Repeat("a", herb.MaxLabel): true, "20260101": true,
		"": false, "-x": false, ".": false, "..": false, "_x": false, "a b": false, "a/b": false, "ä": false, "a\n": false,
		strings.Repeat("a", herb.MaxLabel+1): false, "20260314T092653Z-k7q2mzx4ab": false, "20260314T092653Z": false,
		"live": false, "Latest": false, "live-1": true,
	} {
		if _, err := herb.ParseLabel(label); (err == nil) != valid || herb.IsLabel(label) != valid {
			t.Errorf("%q: %v", label, err)
		}
	}
}
