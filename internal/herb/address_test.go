package herb_test

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestAddress_hidesSecrets(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "",
		"postgres://ana@db/herbarium?sslmode=verify-full":           "postgres://ana@db/herbarium?sslmode=verify-full",
		"postgres://ana:hush@db/herbarium":                          "postgres://ana:xxxxx@db/herbarium",
		"postgres://ana:hush@a:5432,b:5433/herbarium?x=1":           "postgres://ana:xxxxx@a:5432,b:5433/herbarium?x=1",
		"postgres://db/herbarium?user=ana&password=hush&x=1":        "postgres://db/herbarium?user=ana&password=xxxxx&x=1",
		"postgres://ana:hu%sh@db/herbarium":                         "postgres://ana:xxxxx@db/herbarium",
		"postgres://ana:hu?s@h/1@db/herbarium":                      "postgres://ana:xxxxx@db/herbarium",
		"s3://files?sig=hush":                                       "s3://files?sig=xxxxx",
		"s3://files/2024?region=eu&access_key=hush&secret_KEY=hush": "s3://files/2024?region=eu&access_key=xxxxx&secret_KEY=xxxxx",
		"host=db password=hush":                                     "xxxxx",
		"herbarium-data":                                            "herbarium-data",
	} {
		if got := fmt.Sprint(herb.Address(address)); got != want || strings.Contains(got, "hush") {
			t.Errorf("%q is shown as %q, want %q", address, got, want)
		}
	}
}
