package bench_test

import (
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/segment"
)

// servingGC is the GC percentage that a server sets for itself.
const servingGC = 800

// open prepares a file of records for listing by the engine that is measured. It is closed when tb ends.
func open(tb testing.TB, path string) (*segment.Reader, []herb.Field) {
	tb.Helper()
	table, err := ingest.Inspect(tb.Context(), ingest.Source{Path: path}, ingest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	fields := table.Dataset().Fields
	file := filepath.Join(tb.TempDir(), "bench.segment")
	if _, err := segment.Create(tb.Context(), file, fields, table.Records(tb.Context()), segment.Options{}); err != nil {
		tb.Fatal(err)
	}
	r, err := segment.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	runtime.GC() // so that garbage of the build does not count
	before := debug.SetGCPercent(servingGC)
	tb.Cleanup(func() {
		debug.SetGCPercent(before)
		if err := r.Release(); err != nil {
			tb.Error(err)
		}
	})
	return r, fields
}
