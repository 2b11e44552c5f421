package segment_test

import (
	"io/fs"
	"iter"
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/segment"
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

// build makes a segment and opens it. When the test ends it must be intact and held by nobody else.
func build(t testing.TB, fields []herb.Field, records []herb.Record, opts segment.Options) *segment.Reader {
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

// unsynced is a file system that does not wait for the disk, for tests that are about something else.
type unsynced struct{ segment.OS }

type unsyncedFile struct{ segment.File }

func (fs unsynced) OpenFile(name string, flag int, perm fs.FileMode) (segment.File, error) {
	f, err := fs.OS.OpenFile(name, flag, perm)
	return unsyncedFile{f}, err
}

func (unsyncedFile) Sync() error { return nil }

// TestListing compares some answers about many datasets, and many answers in all.
func TestListing(t *testing.T) {
	t.Parallel()
	listtest.Run(t, listtest.Engine{
		Open: func(t testing.TB, fields []herb.Field, records []herb.Record) listtest.Lister {
			return build(t, fields, records, segment.Options{FS: unsynced{}})
		},
		Queries:     150, // building a segment costs as much as dozens of answers
		Comparisons: 15_000,
		Large:       true,
	})
}

// TestListing_spilled does the same with so little memory that nearly everything is written to disk in parts, and with
// pairs of words in files of any size.
func TestListing_spilled(t *testing.T) {
	t.Parallel()
	listtest.Run(t, listtest.Engine{
		Open: func(t testing.TB, fields []herb.Field, records []herb.Record) listtest.Lister {
			return build(t, fields, records, segment.Extras(segment.Options{Memory: 512, FS: unsynced{}}))
		},
	})
}
