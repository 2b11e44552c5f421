//go:build unix

package blobs_test

import (
	"os"
	"testing"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
)

func TestProbe_folder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	probe(t, "file://"+folder)
	b := open(t, "file://"+folder, blobs.Options{})
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Probe(t.Context()), herb.CodeUnavailable)
}

func TestProbe_s3(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	probe(t, server.URL(t, "bucket"))
	wantCode(t, open(t, server.Through("absent", server.Endpoint()), blobs.Options{}).Probe(t.Context()), herb.CodeUnavailable)
}

// probe checks that a probe succeeds and leaves nothing.
func probe(t *testing.T, address string) {
	t.Helper()
	b := open(t, address, blobs.Options{})
	put(t, b, "a.segment", content(10))
	if err := b.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if got := names(t, b); len(got) != 1 || got[0] != "a.segment 10" {
		t.Errorf("the probe has left %v", got)
	}
}
