//go:build unix

package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
	"herbarium/internal/must"
)

func TestMain(m *testing.M) {
	flag.Parse()
	err := errors.Join(
		s3test.Setenv(),
		// Tests spend most of their time waiting for a disk or between retries, so more of them
		// than processors run in parallel.
		flag.Set("test.parallel", "6"),
	)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// open opens a store that is closed when the test ends.
func open(t *testing.T, address string, opts blobs.Options) *blobs.Bucket {
	t.Helper()
	b, err := blobs.Open(address, opts)
	must.NoError(t, err)
	must.CloseAfter(t, b)
	return b
}

// content returns pseudo-random bytes that differ for each size.
func content(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)}).Read(b) // never fails
	return b
}

// file writes a file.
func file(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func put(t *testing.T, b *blobs.Bucket, name string, what []byte) {
	t.Helper()
	if err := b.Put(t.Context(), name, file(t, what), nil); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, b *blobs.Bucket, name string) []byte {
	t.Helper()
	var got bytes.Buffer
	if err := b.Get(t.Context(), name, &got); err != nil {
		t.Fatal(err)
	}
	return got.Bytes()
}

// names returns the names and sizes of all objects.
func names(t *testing.T, b *blobs.Bucket) []string {
	t.Helper()
	var got []string
	for blob, err := range b.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Since(blob.Modified); age < -time.Hour || age > time.Hour {
			t.Errorf("%s was modified %s ago", blob.Name, age)
		}
		got = append(got, fmt.Sprintf("%s %d", blob.Name, blob.Size))
	}
	return got
}

// wantCode checks the code of an error, and that it does not contain the secret.
func wantCode(t *testing.T, err error, want herb.Code) {
	t.Helper()
	if err == nil || herb.CodeOf(err) != want {
		t.Fatalf("the error is %v (%s), want %s", err, herb.CodeOf(err), want)
	}
	if strings.Contains(err.Error(), s3test.SecretKey) {
		t.Errorf("the error contains the secret: %v", err)
	}
}

// TestBucket runs the same conformance tests with every kind of store.
func TestBucket(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		conform(t, func(t *testing.T) string { return "file://" + t.TempDir() })
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		server := s3test.New(t)
		buckets := 0
		conform(t, func(t *testing.T) string { buckets++; return server.URL(t, fmt.Sprintf("bucket%d", buckets)) })
	})
}

// TestObserve checks that each operation is reported with its name and its error.
func TestObserve(t *testing.T) {
	t.Parallel()
	var got []string
	b := open(t, "file://"+t.TempDir(), blobs.Options{Observe: func(operation string, took time.Duration, err error) {
		if !slices.Contains(blobs.Operations(), operation) || took < 0 {
			t.Errorf("operation %q took %s", operation, took)
		}
		code := "ok"
		if err != nil {
			code = string(herb.CodeOf(err))
		}
		got = append(got, operation+" "+code)
	}})
	put(t, b, "a.segment", []byte("abc"))
	must.NoError(t, b.Get(t.Context(), "a.segment", io.Discard))
	if err := b.Get(t.Context(), "b.segment", io.Discard); err == nil {
		t.Error("an object that does not exist was read")
	}
	for _, err := range b.List(t.Context(), "") {
		must.NoError(t, err)
	}
	must.NoError(t, b.Delete(t.Context(), "a.segment"))
	want := []string{"put ok", "get ok", "ping ok", "get " + string(herb.CodeNotFound), "list ok", "delete ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func conform(t *testing.T, place func(t *testing.T) string) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, address string)
	}{
		{"round trip", roundTrip},
		{"overwrite", overwrite},
		{"not found", notFound},
		{"delete", deletes},
		{"many", many},
		{"canceled put", canceledPut},
		{"source that fails", failingSource},
		{"writer that fails", failingWriter},
		{"names", wrongNames},
		{"abort keeps complete objects", abortLeavesObjects},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Not in parallel, because each of them may hold parts of a large file in memory.
			c.run(t, place(t))
		})
	}
}

func roundTrip(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	if err := b.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, size := range []int{0, 1, 20 << 20, 8 << 20} {
		name := fmt.Sprintf("%08d.segment", size)
		want = append(want, fmt.Sprintf("%s %d", name, size))
		what := content(size)
		var last, total int64
		err := b.Put(t.Context(), name, file(t, what), func(done, all int64) {
			if done <= last {
				t.Errorf("progress goes from %d to %d", last, done)
			}
			last, total = done, all
		})
		if err != nil {
			t.Fatal(err)
		}
		if last != int64(size) || total != int64(size) {
			t.Errorf("the last progress is %d of %d, want %d", last, total, size)
		}
		if !bytes.Equal(get(t, b, name), what) {
			t.Errorf("the object of %d bytes differs from what was stored", size)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, names(t, b)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func overwrite(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	for _, what := range []string{"a longer text", "short", ""} {
		put(t, b, "a.segment", []byte(what))
		if got := get(t, b, "a.segment"); string(got) != what {
			t.Errorf("read %q, want %q", got, what)
		}
	}
}

func notFound(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	wantCode(t, b.Get(t.Context(), "absent.segment", io.Discard), herb.CodeNotFound)
	if got := names(t, b); len(got) > 0 {
		t.Errorf("an empty store lists %q", got)
	}
}

func deletes(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	put(t, b, "a.segment", []byte("a"))
	put(t, b, "b.segment", []byte("b"))
	for range 2 { // the second time, the object does not exist
		if err := b.Delete(t.Context(), "a.segment"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"b.segment 1"}, names(t, b)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

// many stores more objects than a page of a listing has, and others outside the prefix.
func many(t *testing.T, address string) {
	const n = 1001
	beside := open(t, address, blobs.Options{})
	put(t, beside, "insider.segment", []byte("x"))
	within := strings.Replace(address, "?", "/inside?", 1)
	if strings.HasPrefix(address, "file:") {
		within = address + "/inside?create_dir=true"
	}
	b := open(t, within, blobs.Options{})
	path := file(t, []byte("object"))
	want := make([]string, n)
	var wg sync.WaitGroup
	for worker := range 8 { // most of the time is spent waiting for a disk
		wg.Go(func() {
			for i := worker; i < n; i += 8 {
				name := fmt.Sprintf("%05d.segment", i)
				if err := b.Put(t.Context(), name, path, nil); err != nil {
					t.Error(err)
					return
				}
				want[i] = name + " 6"
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(want, names(t, b)); diff != "" {
		t.Errorf("listed within the prefix (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"insider.segment 1"}, names(t, beside)); diff != "" {
		t.Errorf("listed above the prefix (-want +got):\n%s", diff)
	}
	for range b.List(t.Context(), "") { // a consumer may stop early
		break
	}
}

func canceledPut(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	path := file(t, content(40<<20))
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Put(ctx, "a.segment", path, func(done, total int64) {
		if done > total/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want context.Canceled", err)
	}
	if got := names(t, b); len(got) > 0 {
		t.Errorf("a canceled Put has left %q", got)
	}
	wantCode(t, b.Get(t.Context(), "a.segment", io.Discard), herb.CodeNotFound)
	put(t, b, "a.segment", []byte("again"))
	if got := get(t, b, "a.segment"); string(got) != "again" {
		t.Errorf("read %q after another Put", got)
	}
}

func failingSource(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	if err := b.Put(t.Context(), "a.segment", filepath.Join(t.TempDir(), "absent"), nil); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("the error of a missing file is %v", err)
	}
	for _, size := range []int{1 << 20, 40 << 20} { // in one request and in several
		path := file(t, content(size))
		err := b.Put(t.Context(), "a.segment", path, func(done, total int64) {
			if err := os.Truncate(path, done); err != nil {
				t.Error(err)
			}
		})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("of %d bytes", size)) {
			t.Errorf("the error of a file that shrinks is %v", err)
		}
		if got := names(t, b); len(got) > 0 {
			t.Errorf("a Put of a file that shrinks has left %q", got)
		}
	}
}

func failingWriter(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	put(t, b, "a.segment", content(1<<20))
	full := errors.New("the disk is full")
	var writes int
	err := b.Get(t.Context(), "a.segment", writerFunc(func([]byte) (int, error) { writes++; return 0, full }))
	if !errors.Is(err, full) || writes != 1 {
		t.Errorf("after %d writes the error is %v, want that of the first", writes, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func wrongNames(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	path := file(t, nil)
	for _, name := range []string{"", ".", "..", "../a", "/a", "a//b", "a/b", "a/", "a.1f.tmp", "\xff"} {
		wantCode(t, b.Put(t.Context(), name, path, nil), herb.CodeInvalid)
		wantCode(t, b.Get(t.Context(), name, io.Discard), herb.CodeInvalid)
		wantCode(t, b.Delete(t.Context(), name), herb.CodeInvalid)
	}
}

func abortLeavesObjects(t *testing.T, address string) {
	b := open(t, address, blobs.Options{})
	put(t, b, "a.segment", []byte("a"))
	if err := b.Abort(t.Context(), -time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := get(t, b, "a.segment"); string(got) != "a" {
		t.Errorf("read %q", got)
	}
}
