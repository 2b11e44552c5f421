package segment_test

import (
	"io/fs"
	"iter"
	"path/filepath"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/segment/segmenttest"
)

// sequence yields records.
func sequence(records []herb.Record) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// openBuilt builds a segment and opens it. At the end of the test it must be intact and have no
// other references.
func openBuilt(t testing.TB, fields []herb.Field, records []herb.Record, opts segment.Options) *segment.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.seg")
	if n, err := segment.Create(t.Context(), path, fields, sequence(records), opts); err != nil || n != len(records) {
		t.Fatalf("Create: %d of %d records, %v", n, len(records), err)
	}
	r, err := segment.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Verify(); err != nil {
			t.Error(err)
		}
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// unsynced is a file system that does not wait for the disk, for tests of other things.
type unsynced struct{ filesystem.OS }

type unsyncedFile struct{ filesystem.File }

func (fs unsynced) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	f, err := fs.OS.OpenFile(name, flag, perm)
	return unsyncedFile{f}, err
}

func (unsyncedFile) Sync() error { return nil }

// TestListing runs the conformance suite.
func TestListing(t *testing.T) {
	t.Parallel()
	segmenttest.Run(t, segmenttest.Engine{
		Open: func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
			return openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
		},
		Queries: 150, // building a segment costs as much as dozens of queries
		Large:   true,
	})
}

// TestListing_spilled runs the suite with so little memory that nearly everything is spilled, and
// with bigrams in files of any size.
func TestListing_spilled(t *testing.T) {
	t.Parallel()
	segmenttest.Run(t, segmenttest.Engine{
		Open: func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
			return openBuilt(t, fields, records,
				segment.Options{Memory: 512, FS: unsynced{}, Indexes: buildtest.AllIndexes()})
		},
		Queries: 60,
	})
}
