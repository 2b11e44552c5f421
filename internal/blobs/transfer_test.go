//go:build unix

package blobs_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
)

// TestBusy checks that requests are retried if the store is busy: it rejects every request the
// first time.
func TestBusy(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	server.URL(t, "bucket")
	var mu sync.Mutex
	seen := map[string]bool{}
	endpoint := intercept(t, server.Address(), func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		request := fmt.Sprint(r.Method, r.URL.Path, r.URL.Query()["comp"], r.ContentLength == 0)
		if seen[request] {
			return true
		}
		seen[request] = true
		_, _ = io.Copy(io.Discard, r.Body) // an error of the client does not matter here
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	})
	b := open(t, server.Through("bucket", endpoint), blobs.Options{})
	stored := content(9 << 20)
	put(t, b, "a.segment", stored)
	if !bytes.Equal(get(t, b, "a.segment"), stored) {
		t.Error("the object differs from what was stored")
	}
	if err := b.Delete(t.Context(), "a.segment"); err != nil {
		t.Error(err)
	}
	if got := names(t, b); len(got) > 0 {
		t.Errorf("listed %q", got)
	}
}

// TestPut_corruptedInTransit changes the body of an upload on its way. The store detects it and
// stores nothing.
func TestPut_corruptedInTransit(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	direct := open(t, server.URL(t, "bucket"), blobs.Options{})
	right, wrong := []byte("what was written"), []byte("what was WRITTEN")
	endpoint := intercept(t, server.Address(), func(_ http.ResponseWriter, r *http.Request) bool {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(bytes.Replace(sent, right, wrong, 1)))
		return true
	})
	b := open(t, server.Through("bucket", endpoint), blobs.Options{})
	err := b.Put(t.Context(), "a.segment", file(t, right), nil)
	wantCode(t, err, herb.CodeUnavailable)
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %v", err)
	}
	if got := names(t, direct); len(got) > 0 {
		t.Errorf("listed %q", got)
	}
	put(t, b, "a.segment", []byte("something else"))
}

// TestChecksums checks that every request body has a checksum that the store can verify.
func TestChecksums(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	server.URL(t, "bucket")
	var mu sync.Mutex
	var sent, checked int
	endpoint := intercept(t, server.Address(), func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodPut || r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			sent++
			md5Sum, sha256Sum := md5.Sum(body), sha256.Sum256(body)
			if r.Header.Get("Content-Md5") == base64.StdEncoding.EncodeToString(md5Sum[:]) ||
				r.Header.Get("X-Amz-Content-Sha256") == hex.EncodeToString(sha256Sum[:]) {
				checked++
			}
		}
		return true
	})
	b := open(t, server.Through("bucket", endpoint), blobs.Options{})
	sizes := []int{0, 1, 1 << 20, 8<<20 - 1, 8 << 20, 17 << 20}
	for _, size := range sizes {
		put(t, b, "a.segment", content(size))
	}
	if sent < len(sizes) || checked < sent {
		t.Errorf("%d of %d requests have a checksum, for %d files", checked, sent, len(sizes))
	}
}
