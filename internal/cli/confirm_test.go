package cli

import (
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, " yes": true, "n\n": false, "\n": false,
		"": false, "yesterday\n": false} {
		var out strings.Builder
		err := ask(strings.NewReader(answer), &out, "Remove it?")
		if (err == nil) != want || !strings.HasPrefix(out.String(), "Remove it? [y/N] ") {
			t.Errorf("%q: error %v, prints %q", answer, err, out.String())
		}
	}
}
