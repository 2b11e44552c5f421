package cli_test

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	must(t, err)
	must(t, w.Close())
	return b.String()
}

func zstded(t *testing.T, s string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must(t, err)
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}
