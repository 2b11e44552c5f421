package httpapi_test

import (
	"os"
	"strings"
	"testing"
)

// TestIdempotencyKey_documents checks that all documents make the same promise about idempotency keys.
func TestIdempotencyKey_documents(t *testing.T) {
	t.Parallel()
	for file, wants := range map[string][]string{
		"../../docs/api.md":            {"1 to 255 visible ASCII", "for at least 24 hours"},
		"testdata/golden/openapi.json": {`"maxLength": 255`, "for at least 24 hours"},
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		i := strings.Index(text, "Idempotency-Key")
		text = strings.Join(strings.Fields(text[i:i+700]), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q about the Idempotency-Key: %s", file, want, text)
			}
		}
	}
}
