package versionstest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/typed"
)

// SharedDir is a data folder on which any number of libraries can be opened, as by several
// processes.
type SharedDir struct {
	Dir string
	DB  *sqlite.Store
	Now func() time.Time
}

// NewSharedDir returns an empty data folder.
func NewSharedDir(t *testing.T) *SharedDir {
	t.Helper()
	dir := t.TempDir()
	return &SharedDir{Dir: dir, DB: OpenDB(t, dir), Now: time.Now}
}

// Open opens a library on the folder and closes it when the test ends.
func (s *SharedDir) Open(t *testing.T) *Node {
	t.Helper()
	return OpenLibrary(t, s.DB, Options{Dir: s.Dir, Plants: StaticMutable{}, Now: func() time.Time { return s.Now() }})
}

// OpenDB opens the database of a data folder and closes it when the test ends.
func OpenDB(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	must.CloseAfter(t, db)
	return db
}

// OpenLibrary opens a library and closes it when the test ends.
func OpenLibrary(t testing.TB, c Catalogue, o Options) *Node {
	t.Helper()
	l, err := Open(c, o)
	must.NoError(t, err)
	must.CloseAfter(t, l)
	return l
}

// Sweep sweeps while no process is being started: until a new process executes its program, it
// holds the locks of this one, and Sweep removes nothing while there is a lock.
func Sweep(ctx context.Context, l *Node) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return l.Sweep(ctx)
}

// Files returns the version files and leftovers.
func (s *SharedDir) Files(t *testing.T) []string {
	t.Helper()
	var out []string
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if slices.Contains([]string{".segment", ".rebuilt", ".source", ".parquet", ".part", ".tmp"},
			filepath.Ext(e.Name())) {
			out = append(out, e.Name())
		}
	}
	return out
}

// StaticMutable is a mutable dataset of one record.
type StaticMutable struct{}

func (m StaticMutable) Acquire(ctx context.Context) (library.View, error) {
	d, err := m.Describe(ctx)
	return library.View{Dataset: d, Engine: m}, err
}

func (StaticMutable) Describe(context.Context) (herb.Dataset, error) {
	return herb.Dataset{Ref: herb.PlantsRef, Version: "1", Records: 1}, nil
}

func (StaticMutable) List(context.Context, *query.Request) (query.Page, error) {
	return query.Page{Total: 1, Records: [][]byte{[]byte(`{"id":"1"}`)}}, nil
}

func (StaticMutable) Stream(context.Context, *query.Request) (query.Stream, error) {
	return query.Stream{Total: 1, Records: func(yield func([]byte, error) bool) { yield([]byte(`{"id":"1"}`), nil) }},
		nil
}

func (StaticMutable) Facets(context.Context, *query.FacetRequest) (query.Facets, error) {
	return query.Facets{Total: 1}, nil
}

func (StaticMutable) Words(*query.Request) (query.Words, error) { return nil, nil }

func (StaticMutable) Types() ([]typed.Column, error) { return typed.Texts(1), nil }

func (StaticMutable) Grid(context.Context, *query.GridRequest) (query.Grid, error) {
	return query.Grid{Total: 1}, nil
}

func (StaticMutable) Aggregate(context.Context, *query.AggregateRequest) (query.Aggregate, error) {
	return query.Aggregate{Total: 1}, nil
}

func (StaticMutable) StreamGroups(context.Context, *query.AggregateRequest) (query.GroupStream, error) {
	return query.Aggregate{Total: 1}.Stream(), nil
}
