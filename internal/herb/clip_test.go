package herb_test

import (
	"testing"

	"herbarium/internal/herb"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, s, want string
		limit         int
	}{
		{"empty", "", "", 3},
		{"shorter", "rö", "rö", 3},
		{"exact", "röt", "röt", 3},
		{"longer", "röte", "röt…", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := herb.Clip(tt.s, tt.limit); got != tt.want {
				t.Errorf("Clip(%q, %d) = %q; want %q", tt.s, tt.limit, got, tt.want)
			}
		})
	}
}
