package library_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/listtest"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

var (
	ref    = herb.Ref{Namespace: "shop", Name: "prices"}
	fields = []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true, Sortable: true}}
)

// sharedDir is a data folder on which any number of libraries can be opened, as by several
// processes.
type sharedDir struct {
	dir string
	db  *sqlite.Store
	now func() time.Time
}

func newSharedDir(t *testing.T) *sharedDir {
	t.Helper()
	dir := t.TempDir()
	return &sharedDir{dir: dir, db: openDB(t, dir), now: time.Now}
}

func (s *sharedDir) open(t *testing.T) *versionstest.Node {
	t.Helper()
	return openLibrary(t, s.db, versionstest.Options{Dir: s.dir, Plants: staticMutable{}, Now: func() time.Time { return s.now() }})
}

// openDB opens the database of a data folder and closes it when the test ends.
func openDB(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	must.CloseAfter(t, db)
	return db
}

// openLibrary opens a library and closes it when the test ends.
func openLibrary(t testing.TB, c versionstest.Catalogue, o versionstest.Options) *versionstest.Node {
	t.Helper()
	l, err := versionstest.Open(c, o)
	must.NoError(t, err)
	must.CloseAfter(t, l)
	return l
}

// openMany opens a library on a folder of manyDatasets.
func openMany(tb testing.TB, dir string) (*versionstest.Node, *sqlite.Store) {
	tb.Helper()
	db := openDB(tb, dir)
	return openLibrary(tb, db, versionstest.Options{Dir: dir, Plants: staticMutable{}}), db
}

// sweep sweeps while no process is being started: until a new process executes its program, it
// holds the locks of this one, and Sweep removes nothing while there is a lock.
func sweep(ctx context.Context, l *versionstest.Node) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return l.Sweep(ctx)
}

// files returns the version files and leftovers.
func (s *sharedDir) files(t *testing.T) []string {
	t.Helper()
	var out []string
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if slices.Contains([]string{".segment", ".source", ".part", ".tmp"}, filepath.Ext(e.Name())) {
			out = append(out, e.Name())
		}
	}
	return out
}

// staticMutable is a mutable dataset of one record.
type staticMutable struct{}

func (m staticMutable) Acquire(ctx context.Context) (library.View, error) {
	d, err := m.Describe(ctx)
	return library.View{Dataset: d, Source: m}, err
}

func (staticMutable) Describe(context.Context) (herb.Dataset, error) {
	return herb.Dataset{Ref: herb.PlantsRef, Version: "1", Records: 1}, nil
}

func (staticMutable) List(context.Context, *query.Request) (query.Page, error) {
	return query.Page{Total: 1, Records: [][]byte{[]byte(`{"id":"1"}`)}}, nil
}

func (staticMutable) Stream(context.Context, *query.Request) (query.Stream, error) {
	return query.Stream{Total: 1, Records: func(yield func([]byte, error) bool) { yield([]byte(`{"id":"1"}`), nil) }}, nil
}

func (staticMutable) Facets(context.Context, *query.FacetRequest) (query.Facets, error) {
	return query.Facets{Total: 1}, nil
}

func (staticMutable) Grid(context.Context, *query.GridRequest) (query.Grid, error) {
	return query.Grid{Total: 1}, nil
}

func (staticMutable) Aggregate(context.Context, *query.AggregateRequest) (query.Aggregate, error) {
	return query.Aggregate{Total: 1}, nil
}

// numbers yields the records 1 to n, and then err if it is not nil.
func numbers(n int, err error) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for i := range n {
			if !yield(herb.Record{fmt.Sprint(i + 1)}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func publish(t *testing.T, l *versionstest.Node, n int) herb.Dataset {
	t.Helper()
	return publishAs(t, l, ref, n)
}

// total lists a snapshot and returns the number of records.
func total(t *testing.T, s library.View) int {
	t.Helper()
	return listtest.Total(t, s, s.Fields, "per_page=1")
}

func acquire(t *testing.T, l *versionstest.Node) library.View {
	t.Helper()
	s, err := l.Acquire(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Release)
	return s
}

func TestPublish_seenByOthersAtOnce(t *testing.T) {
	t.Parallel()
	s := newSharedDir(t)
	publisher, reader := s.open(t), s.open(t)
	if _, err := reader.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound {
		t.Fatalf("before the first publish: %v; want not found", err)
	}
	for n := 1; n <= 3; n++ {
		d := publish(t, publisher, n)
		got := acquire(t, reader)
		if got.Version != d.Version || got.Records != n || total(t, got) != n {
			t.Errorf("after publishing %d records: version %s with %d; want %s", n, got.Version, got.Records, d.Version)
		}
	}
}

func TestAcquire_keepsItsVersion(t *testing.T) {
	t.Parallel()
	l := newSharedDir(t).open(t)
	publish(t, l, 1)
	old := acquire(t, l)
	for n := 2; n < 2+2*versions.DefaultKeep; n++ { // until the file of the old version is gone
		publish(t, l, n)
	}
	if n := total(t, old); n != 1 {
		t.Errorf("a snapshot of 1 record lists %d after newer versions", n)
	}
	if n := total(t, acquire(t, l)); n != 1+2*versions.DefaultKeep {
		t.Errorf("the newest version lists %d", n)
	}
}

// TestAcquire_streamKeepsItsVersion publishes until the version of a running stream is removed.
func TestAcquire_streamKeepsItsVersion(t *testing.T) {
	t.Parallel()
	l := newSharedDir(t).open(t)
	const n = 2000
	publish(t, l, n)
	snap, err := l.Acquire(t.Context(), ref)
	must.NoError(t, err)
	defer snap.Release()
	r, err := query.Parse("", fields)
	must.NoError(t, err)
	stream, err := snap.Stream(t.Context(), r)
	must.NoError(t, err)
	read := 0
	for rec, err := range stream.Records {
		if read++; err != nil || !strings.Contains(string(rec), fmt.Sprintf("%q", fmt.Sprint(read))) {
			t.Fatalf("record %d is %s, %v", read, rec, err)
		}
		if read == 10 {
			for i := range versions.DefaultKeep + 1 {
				publish(t, l, i+1)
			}
		}
	}
	if read != n || stream.Total != n {
		t.Errorf("%d records of %d", read, stream.Total)
	}
}

func TestPublish_failureChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSharedDir(t)
	l := s.open(t)
	before := publish(t, l, 3)
	left := s.files(t)
	broken := errors.New("the file broke off")
	prices := herb.Dataset{Ref: ref, Fields: fields}
	if _, err := l.Publish(t.Context(), versions.Publication{Dataset: prices, Records: numbers(9, broken)}); !errors.Is(err, broken) {
		t.Errorf("got %v; want the error of the source", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Publish(ctx, versions.Publication{Dataset: prices, Records: numbers(9, nil)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
	got := acquire(t, l)
	if got.Version != before.Version || total(t, got) != 3 {
		t.Errorf("version %s is live; want %s", got.Version, before.Version)
	}
	if now := s.files(t); len(now) != len(left) {
		t.Errorf("files %v; want %v", now, left)
	}
}

func TestPublish_notOverThePlants(t *testing.T) {
	t.Parallel()
	l := newSharedDir(t).open(t)
	_, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: herb.PlantsRef, Fields: fields}, Records: numbers(1, nil),
	})
	if herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("Publish: %v; want it rejected", err)
	}
	if err := l.Remove(t.Context(), herb.PlantsRef, ""); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("Remove: %v; want it rejected", err)
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
	s := newSharedDir(t)
	publish(t, s.open(t), 1)
	l := s.open(t)
	ds, err := describeAll(t.Context(), l)
	if err != nil || len(ds) != 2 || ds[0].Ref != ref || len(ds[0].Fields) != 1 || ds[1].Ref != herb.PlantsRef {
		t.Errorf("%v, %v", ds, err)
	}
	_, err = l.Describe(t.Context(), herb.Ref{Namespace: "shop", Name: "price"})
	if herb.CodeOf(err) != herb.CodeNotFound || !strings.Contains(err.Error(), `did you mean "shop/prices"`) {
		t.Errorf("got %v; want a guess", err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := newSharedDir(t)
	l := s.open(t)
	const published = versions.DefaultKeep + 3
	var names []string
	for n := 1; n <= published; n++ {
		names = append(names, publish(t, l, n).Version)
	}
	history, err := l.History(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if len(history) != versions.DefaultKeep || len(s.files(t)) != versions.DefaultKeep {
		t.Fatalf("%d versions and the files %v are kept; want %d", len(history), s.files(t), versions.DefaultKeep)
	}
	for i, v := range history {
		if v.Version != names[published-1-i] || v.Records != published-i || v.Live != (i == 0) {
			t.Errorf("entry %d of the history is %+v", i, v)
		}
	}
	for step := 1; step < versions.DefaultKeep; step++ {
		back, err := l.Rollback(t.Context(), ref, "", false)
		if err != nil || back != names[published-1-step] || total(t, acquire(t, l)) != published-step {
			t.Fatalf("step %d back: %s, %v", step, back, err)
		}
	}
	if _, err := l.Rollback(t.Context(), ref, "", false); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("rolling back past the oldest: %v", err)
	}
	if _, err := l.Rollback(t.Context(), ref, names[published-1], false); err != nil || total(t, acquire(t, l)) != published {
		t.Errorf("rolling forward: %v", err)
	}
	if _, err := l.Rollback(t.Context(), ref, "20240229T133000Z-abcdefghij", false); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("an unknown version: %v", err)
	}
	if err := l.Remove(t.Context(), ref, ""); err != nil || len(s.files(t)) != 0 {
		t.Errorf("Remove: %v; left %v", err, s.files(t))
	}
}

func TestRefresh_damagedVersionDoesNotReplaceAGoodOne(t *testing.T) {
	t.Parallel()
	s := newSharedDir(t)
	l, publisher := s.open(t), s.open(t)
	publish(t, publisher, 1)
	total(t, acquire(t, l))
	d := publish(t, publisher, 2)
	if err := os.WriteFile(filepath.Join(s.dir, d.Version+".segment"), []byte("not what was written"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := total(t, acquire(t, l)); n != 1 {
		t.Errorf("%d records listed; want those of the version that can be read", n)
	}
	if _, err := s.open(t).Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("a library that never had a good version: %v; want unavailable", err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := newSharedDir(t)
	l := s.open(t)
	d := publish(t, l, 1)
	for _, name := range []string{".1.segment.part", "20200101T000000Z-leftover.segment", d.Version + ".segment.0a1b.tmp", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := store.LockVersions(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := sweep(t.Context(), l); err != nil || len(s.files(t)) != 4 {
		t.Errorf("while a process writes: %v; left %v, want all", err, s.files(t))
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sweep(t.Context(), l); err != nil {
		t.Error(err)
	}
	if left := s.files(t); len(left) != 1 || left[0] != d.Version+".segment" {
		t.Errorf("left %v; want the live version alone", left)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "notes.txt")); err != nil {
		t.Errorf("a file that is none of ours is gone: %v", err)
	}
}

// TestConcurrency lists continuously while versions are published, rolled back and removed.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	s := newSharedDir(t)
	l, publisher := s.open(t), s.open(t)
	publish(t, publisher, 1)
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
				if n := total(t, snap); n != snap.Records {
					t.Errorf("version %s lists %d records; it has %d", snap.Version, n, snap.Records)
				}
				snap.Release()
			}
		})
	}
	for n := 2; n < 20; n++ {
		publish(t, publisher, n)
		if n%5 == 0 {
			if _, err := publisher.Rollback(t.Context(), ref, "", false); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	readers.Wait()
}
