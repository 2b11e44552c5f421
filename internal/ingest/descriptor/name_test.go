package descriptor_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
)

func TestNewRef(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Plants 2024":   "plants-2024",
		"Café_Größe.v2": "cafe_grosse.v2",
		"履歴":            "u5c65u6b74",
		"2020年":         "2020u5e74",
		"Список растений (Щука)": "spisok-rastenii-shchuka",
		"Об'єкти":                 "ob-yekti",
		"Πίνακας φυτών":           "pinakas-fyton",
		"植 物":                     "u690d-u7269",
		"※ a":                     "a",
		strings.Repeat("x", 100):  strings.Repeat("x", 100),
		strings.Repeat("x ", 100): strings.Repeat("x-", 45) + "x-62b831a0",
	} {
		ref, err := descriptor.NewRef("f", "n", name)
		if err != nil || ref.Name != want || !herb.ValidName(ref.Name) {
			t.Errorf("%q: got %q, %v; want %q", name, ref.Name, err, want)
		}
	}
	for _, name := range []string{"", "§", "--"} {
		if ref, err := descriptor.NewRef("f", "n", name); err == nil ||
			!strings.HasPrefix(err.Error(), "f: cannot name a dataset after ") {
			t.Errorf("%q: got %q, %v", name, ref.Name, err)
		}
	}
}

func TestIsTransliterated(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"plants": false, "Café": false, "Größe": false, "履歴": true, "Список": true,
		"a § b": false} {
		if got := descriptor.IsTransliterated(name); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
}

func TestSource_Part(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ entry, table, want string }{{"", "", ""}, {"", "Sheet", "Sheet"},
		{"a.csv", "", "a.csv"}, {"b.xlsx", "Sheet", "b.xlsx#Sheet"}} {
		s := descriptor.Source{Path: "f", Entry: tt.entry, Dialect: rows.Options{Table: tt.table}}
		if got := s.InnerPath(); got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.entry, tt.table, got, tt.want)
		}
		if got, want := s.Label(), strings.TrimSuffix("f#"+tt.want, "#"); got != want {
			t.Errorf("%q, %q: label %q, want %q", tt.entry, tt.table, got, want)
		}
	}
}
