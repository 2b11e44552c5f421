// Package buildtest builds segments for tests of the packages that read them.
package buildtest

import (
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/file"
)

// Open builds a file of n records and maps it until the end of the test.
func Open(t testing.TB, fields []herb.Field, n int, record func(i int) herb.Record, opts build.Options) *file.File {
	t.Helper()
	records := func(yield func(herb.Record, error) bool) {
		for i := range n {
			if !yield(record(i), nil) {
				return
			}
		}
	}
	path := filepath.Join(t.TempDir(), "x")
	if _, err := build.Create(t.Context(), path, fields, records, opts); err != nil {
		t.Fatal(err)
	}
	f, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// AllIndexes returns rules with which a file of any size has as many optional indexes as possible.
func AllIndexes() build.IndexRules {
	return build.IndexRules{
		MinRecords: 1,
		Bigrams:    build.BigramRules{Share: 1 << 62, MaxPerEight: 64},
		Prefixes:   build.PrefixRules{Share: 1 << 30, Max: 1 << 20, Room: 1, MaxFieldSets: 1 << 20},
	}
}
