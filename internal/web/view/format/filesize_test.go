package format_test

import (
	"testing"

	"herbarium/internal/web/view/format"
)

func TestFileSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1 KB", 512 << 10: "512 KB", 1<<20 - 1: "1.0 MB", 3 << 19: "1.5 MB", 523 << 20: "523 MB",
		2 << 30: "2 GB", 5000 << 40: "5000 TB",
	} {
		if got := format.FileSize(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
