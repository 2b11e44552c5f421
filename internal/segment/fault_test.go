package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// opened builds a segment and opens it; the caller must release it.
func opened(t *testing.T, fields []herb.Field, records []herb.Record) (r *segment.Reader, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.seg")
	if _, err := segment.Create(t.Context(), path, fields, sequence(records), segment.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := segment.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r, path
}

// TestFault truncates the file of an open reader, like a failing disk: every read of the lost pages
// is a fault, which would end the process.
func TestFault(t *testing.T) {
	t.Parallel()
	r, path := opened(t, everyType(), manyRecords(5000))
	if err := os.Truncate(path, int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); !errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("Verify: %v", err)
	}
	for _, raw := range rawQueries(everyType()) {
		q, err := query.Parse(raw, everyType())
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.List(t.Context(), q)
		if raw == "search=%2A" {
			continue // no words, so nothing is read
		}
		if !errors.Is(err, segment.ErrCorrupt) {
			t.Errorf("listing %q: %v", raw, err)
		}
	}
	if err := r.Release(); err != nil {
		t.Error(err)
	}
}

// TestFault_insideRecord loses only the end of a long record.
func TestFault_insideRecord(t *testing.T) {
	t.Parallel()
	long := herb.Record{strings.Repeat("rose ", 20_000), "1", "2024-01-01", "a"}
	file := recordsLast(fileOf(t, everyType(), []herb.Record{long}, segment.Options{}))
	path := filepath.Join(t.TempDir(), "long.seg")
	r, err := openBytes(t, path, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	q, err := query.Parse("", everyType())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(file)-len(long[0])/2)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.List(t.Context(), q); !errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("List: %v", err)
	}
	if err := r.Release(); err != nil {
		t.Error(err)
	}
}

// recordsLast moves the records, the first section of a segment, after all others.
func recordsLast(b []byte) []byte {
	toc := b[binary.LittleEndian.Uint64(b[len(b)-frameFooter:]) : len(b)-frameFooter]
	out, entries := slices.Clone(b[:frameHeader]), []byte(nil)
	for i := range len(toc) / frameEntry {
		e := slices.Clone(toc[frameEntry*((i+1)%(len(toc)/frameEntry)):][:frameEntry])
		from, size := binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint64(e[16:])
		out = append(out, make([]byte, -len(out)&7)...)
		binary.LittleEndian.PutUint64(e[8:], uint64(len(out)))
		out, entries = append(out, b[from:from+size]...), append(entries, e...)
	}
	out = append(out, make([]byte, -len(out)&7)...)
	at := len(out)
	out = append(append(out, entries...), b[len(b)-frameFooter:]...)
	binary.LittleEndian.PutUint64(out[len(out)-frameFooter:], uint64(at))
	return repair(out)
}

// TestRelease lists from many goroutines while the owner releases the reader. None of them may
// access unmapped memory, and the last one unmaps the file.
func TestRelease(t *testing.T) {
	t.Parallel()
	r, path := opened(t, everyType(), manyRecords(500))
	asked := requests(everyType())
	want := make([]query.Page, len(asked))
	for i, q := range asked {
		page, err := r.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range page.Records {
			want[i].Records = append(want[i].Records, bytes.Clone(record))
		}
		want[i].Total = page.Total
	}
	var wg sync.WaitGroup
	halfway := make(chan struct{}, 8)
	for range cap(halfway) {
		if !r.Acquire() {
			t.Fatal("a referenced reader cannot be acquired")
		}
		wg.Go(func() {
			defer func() {
				if err := r.Release(); err != nil {
					t.Errorf("Release: %v", err)
				}
			}()
			for i, q := range asked {
				if i == len(asked)/2 {
					halfway <- struct{}{}
				}
				if !r.Acquire() { // as every response does
					t.Error("a referenced reader cannot be acquired")
					return
				}
				page, err := r.List(t.Context(), q)
				if err != nil {
					t.Errorf("listing %+v: %v", q, err)
				} else if page.Total != want[i].Total || !slices.EqualFunc(page.Records, want[i].Records, bytes.Equal) {
					t.Errorf("listing %+v: %q of %d; want %q of %d",
						q, page.Records, page.Total, want[i].Records, want[i].Total)
				}
				if err := r.Release(); err != nil {
					t.Errorf("Release: %v", err)
				}
			}
		})
	}
	<-halfway
	if !mapped(t, path) {
		t.Error("the file is not mapped while it is listed")
	}
	if err := r.Release(); err != nil {
		t.Errorf("the owner's Release: %v", err)
	}
	wg.Wait()
	if mapped(t, path) {
		t.Error("the file is still mapped after the last release")
	}
	if r.Acquire() {
		t.Error("a released reader was acquired")
	}
}

// mapped reports whether the process has mapped a file. It skips the test if that is unknown.
func mapped(t *testing.T, path string) bool {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("the system does not report mapped files")
	}
	return strings.Contains(string(maps), path)
}
