package columns

import (
	"testing"

	"herbarium/internal/herb"
)

func TestShortNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "9999": "9,999", "10000": "10\u00a0k", "1234567": "1.23\u00a0M", "-25000": "−25\u00a0k",
		"0.125": "0.125", "5000000000": "5\u00a0B", "x": "x",
	} {
		if got := shortNumber(&herb.Field{Type: herb.TypeNumber}, in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}
