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
		"": false, "-x": false, ".": false, "..": false, "_x": false, "a b": false, "a/b": false, "ä": false,
		"a\n":                                false,
		strings.Repeat("a", herb.MaxLabel+1): false, "20260314T092653Z-k7q2mzx4ab": false, "20260314T092653Z": false,
		"live": false, "herb_abcdefghij_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567": false, "Latest": false, "live-1": true,
	} {
		if _, err := herb.ParseLabel(label); (err == nil) != valid || herb.IsLabel(label) != valid {
			t.Errorf("%q: %v", label, err)
		}
	}
}

func TestParseMessage(t *testing.T) {
	t.Parallel()
	for message, problem := range map[string]string{
		"": "", "Spring prices": "", "  padded ": "", "مرحبا \u200f(12)": "", "👩\u200d🔬 lab": "", "می\u200cخواهم": "",
		strings.Repeat("ä", herb.MaxMessage):   "",
		strings.Repeat("a", herb.MaxMessage+1): "501 characters", "a\nb": "control characters", "a\xff": "UTF-8",
		"prices\u202egpj.exe": "U+202E, which reorders", "\u2066a\u2069": "U+2066, which reorders",
		"\u200b": "no visible character", "\u200e\u2060 \u200b": "no visible character",
		"\u3164": "no visible character", "see herb_abcdefghij_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567": "contains a key",
	} {
		_, err := herb.ParseMessage(message)
		if problem == "" && err != nil || problem != "" && (err == nil || !strings.Contains(err.Error(), problem) ||
			strings.Contains(err.Error(), "ABCDEF")) {
			t.Errorf("%q: %v", message, err)
		}
	}
}
