//go:build unix

package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
)

// TestCut cuts connections in the middle of a Get.
func TestCut(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	direct := open(t, server.URL(t, "bucket"), blobs.Options{})
	what := content(12 << 20)
	put(t, direct, "a.segment", what)
	t.Run("resumed", func(t *testing.T) {
		t.Parallel()
		p, endpoint := interpose(t, server.Address(), 3<<20, 3)
		b := open(t, server.Through("bucket", endpoint), blobs.Options{})
		if !bytes.Equal(get(t, b, "a.segment"), what) {
			t.Error("the object differs from what was stored")
		}
		if left := p.cuts.Load(); left > 0 {
			t.Errorf("%d connections should have been cut and were not", left)
		}
	})
	t.Run("replaced meanwhile", func(t *testing.T) {
		t.Parallel()
		put(t, direct, "b.segment", what)
		_, endpoint := interpose(t, server.Address(), 3<<20, 1)
		b := open(t, server.Through("bucket", endpoint), blobs.Options{})
		replaced := false
		err := b.Get(t.Context(), "b.segment", writerFunc(func(p []byte) (int, error) {
			if !replaced {
				replaced = true
				put(t, direct, "b.segment", what[1:])
			}
			return len(p), nil
		}))
		wantCode(t, err, herb.CodeUnavailable)
		if !strings.Contains(err.Error(), "was replaced while it was read") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		_, endpoint := interpose(t, server.Address(), 100, 1<<30) // not even the header of a response
		b := open(t, server.Through("bucket", endpoint), blobs.Options{})
		wantCode(t, b.Get(t.Context(), "a.segment", io.Discard), herb.CodeUnavailable)
	})
}

// TestFrozen suspends the server. Every call fails in time, and the store works again after the
// server resumes.
func TestFrozen(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	address := server.URL(t, "bucket")
	what := content(12 << 20)
	small := file(t, []byte("small"))
	large := file(t, what)
	patient := open(t, address, blobs.Options{})
	put(t, patient, "a.segment", what)
	b := open(t, address, blobs.Options{Stall: 250 * time.Millisecond})

	server.Freeze(t)
	ctx := t.Context()
	calls := map[string]func() error{
		"Ping":       func() error { return b.Ping(ctx) },
		"Get":        func() error { return b.Get(ctx, "a.segment", io.Discard) },
		"Put, small": func() error { return b.Put(ctx, "c.segment", small, nil) },
		"Put, large": func() error { return b.Put(ctx, "b.segment", large, nil) },
		"Delete":     func() error { return b.Delete(ctx, "d.segment") },
		"Abort":      func() error { return b.Abort(ctx, 0) },
		"List": func() error {
			for _, err := range b.List(ctx, "") {
				return err
			}
			return nil
		},
	}
	var wg sync.WaitGroup
	for name, call := range calls {
		wg.Go(func() {
			if err := call(); herb.CodeOf(err) != herb.CodeUnavailable {
				t.Errorf("%s of a frozen server: %v, want unavailable", name, err)
			}
		})
	}
	wg.Wait()
	server.Thaw(t)
	if !bytes.Equal(get(t, patient, "a.segment"), what) {
		t.Error("after the server resumed, the object differs from what was stored")
	}

	// In the middle of a download and of an upload.
	first := true
	err := b.Get(ctx, "a.segment", writerFunc(func(p []byte) (int, error) {
		if first {
			first = false
			server.Freeze(t)
		}
		return len(p), nil
	}))
	wantCode(t, err, herb.CodeUnavailable)
	server.Thaw(t)
	first = true
	err = b.Put(ctx, "b.segment", large, func(done, total int64) {
		if first && done > total*3/4 {
			first = false
			server.Freeze(t)
		}
	})
	wantCode(t, err, herb.CodeUnavailable)
	server.Thaw(t)
	// The small file was sent completely before the call failed, so the server may have stored it
	// after it resumed.
	for _, got := range names(t, patient) {
		if got != "a.segment 12582912" && got != "c.segment 5" {
			t.Errorf("%q is listed, which was not stored completely", got)
		}
	}
}

// TestStopped stops and restarts the server. The store works again without being reopened.
func TestStopped(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	b := open(t, server.URL(t, "bucket"), blobs.Options{})
	put(t, b, "a.segment", []byte("a"))
	server.Stop(t)
	wantCode(t, b.Get(t.Context(), "a.segment", io.Discard), herb.CodeUnavailable)
	server.Start(t)
	if got := get(t, b, "a.segment"); string(got) != "a" {
		t.Errorf("read %q", got)
	}
	put(t, b, "b.segment", []byte("b"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Get(ctx, "a.segment", io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a canceled Get is %v", err)
	}
}

// TestNoBucket checks that a missing bucket is not mistaken for an empty one.
func TestNoBucket(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	b := open(t, server.Through("absent", server.Endpoint()), blobs.Options{})
	for name, err := range map[string]error{
		"Ping":   b.Ping(t.Context()),
		"Get":    b.Get(t.Context(), "a.segment", io.Discard),
		"Delete": b.Delete(t.Context(), "a.segment"),
		"Put":    b.Put(t.Context(), "a.segment", file(t, nil), nil),
	} {
		if herb.CodeOf(err) != herb.CodeUnavailable {
			t.Errorf("%s without a bucket: %v, want unavailable", name, err)
		}
	}
	n := 0
	for _, err := range b.List(t.Context(), "") {
		wantCode(t, err, herb.CodeUnavailable)
		n++
	}
	if n != 1 {
		t.Errorf("a bucket that does not exist lists %d objects", n)
	}
}

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
	wantCode(t, open(t, server.Through("absent", server.Endpoint()), blobs.Options{}).Probe(t.Context()),
		herb.CodeUnavailable)
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
