package library_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

var (
	ref    = versionstest.Prices
	fields = versionstest.Fields
)

// openMany opens a library on a folder of manyDatasets.
func openMany(tb testing.TB, dir string) (*versionstest.Node, *sqlite.Store) {
	tb.Helper()
	db := versionstest.OpenDB(tb, dir)
	return versionstest.OpenLibrary(tb, db, versionstest.Options{Dir: dir, Plants: versionstest.StaticMutable{}}), db
}

func TestPublish_seenByOthersAtOnce(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	publisher, reader := s.Open(t), s.Open(t)
	if _, err := reader.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound {
		t.Fatalf("before the first publish: %v; want not found", err)
	}
	for n := 1; n <= 3; n++ {
		d := versionstest.Publish(t, publisher, n)
		got := versionstest.Acquire(t, reader)
		if got.Version != d.Version || got.Records != n || versionstest.Total(t, got) != n {
			t.Errorf("after publishing %d records: version %s with %d; want %s", n, got.Version, got.Records, d.Version)
		}
	}
}

func TestAcquire_keepsItsVersion(t *testing.T) {
	t.Parallel()
	l := versionstest.NewSharedDir(t).Open(t)
	versionstest.Publish(t, l, 1)
	old := versionstest.Acquire(t, l)
	for n := 2; n < 2+2*versions.DefaultKeep; n++ { // until the file of the old version is gone
		versionstest.Publish(t, l, n)
	}
	if n := versionstest.Total(t, old); n != 1 {
		t.Errorf("a snapshot of 1 record lists %d after newer versions", n)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1+2*versions.DefaultKeep {
		t.Errorf("the newest version lists %d", n)
	}
}

// TestAcquire_streamKeepsItsVersion publishes until the version of a running stream is removed.
func TestAcquire_streamKeepsItsVersion(t *testing.T) {
	t.Parallel()
	l := versionstest.NewSharedDir(t).Open(t)
	const n = 2000
	versionstest.Publish(t, l, n)
	snap, err := l.Acquire(t.Context(), ref)
	must.NoError(t, err)
	defer snap.Release()
	r, err := query.Parse("", fields)
	must.NoError(t, err)
	stream, err := snap.Stream(t.Context(), r)
	must.NoError(t, err)
	read := 0
	for rec, err := range stream.Records {
		read++
		if err != nil || !strings.Contains(string(rec), fmt.Sprintf("%q", fmt.Sprint(read))) {
			t.Fatalf("record %d is %s, %v", read, rec, err)
		}
		if read == 10 {
			for i := range versions.DefaultKeep + 1 {
				versionstest.Publish(t, l, i+1)
			}
		}
	}
	if read != n || stream.Total != n {
		t.Errorf("%d records of %d", read, stream.Total)
	}
}

// describeAll describes all datasets.
func describeAll(ctx context.Context, l *versionstest.Node) ([]herb.Dataset, error) {
	live, err := l.Live(ctx)
	if err != nil {
		return nil, err
	}
	return l.Datasets(ctx, live, true)
}

func TestDatasets(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	versionstest.Publish(t, s.Open(t), 1)
	l := s.Open(t)
	ds, err := describeAll(t.Context(), l)
	if err != nil || len(ds) != 2 || ds[0].Ref != ref || len(ds[0].Fields) != 1 || ds[1].Ref != herb.PlantsRef {
		t.Errorf("%v, %v", ds, err)
	}
	_, err = l.Describe(t.Context(), herb.Ref{Namespace: "shop", Name: "price"})
	if herb.CodeOf(err) != herb.CodeNotFound || !strings.Contains(err.Error(), `did you mean "shop/prices"`) {
		t.Errorf("got %v; want a guess", err)
	}
}

func TestRefresh_damagedVersionDoesNotReplaceAGoodOne(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l, publisher := s.Open(t), s.Open(t)
	versionstest.Publish(t, publisher, 1)
	versionstest.Total(t, versionstest.Acquire(t, l))
	d := versionstest.Publish(t, publisher, 2)
	if err := os.WriteFile(filepath.Join(s.Dir, d.Version+".segment"), []byte("not what was written"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Errorf("%d records listed; want those of the version that can be read", n)
	}
	if _, err := s.Open(t).Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("a library that never had a good version: %v; want unavailable", err)
	}
}

// TestConcurrency lists continuously while versions are published, rolled back and removed.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l, publisher := s.Open(t), s.Open(t)
	versionstest.Publish(t, publisher, 1)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				snap, err := l.Acquire(t.Context(), ref)
				if err != nil {
					t.Error(err)
					return
				}
				if n := versionstest.Total(t, snap); n != snap.Records {
					t.Errorf("version %s lists %d records; it has %d", snap.Version, n, snap.Records)
				}
				snap.Release()
			}
		})
	}
	for n := 2; n < 20; n++ {
		versionstest.Publish(t, publisher, n)
		if n%5 == 0 {
			if _, err := publisher.Rollback(t.Context(), ref, ""); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	readers.Wait()
}
