package herb_test

import (
	"testing"

	"herbarium/internal/herb"
)

func TestFormatBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 512 << 10: "512 KiB", 1<<20 - 1: "1.0 MiB", 3 << 19: "1.5 MiB",
		523 << 20: "523 MiB",
		2 << 30:   "2 GiB", 5000 << 40: "5000 TiB",
	} {
		if got := herb.FormatBytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
