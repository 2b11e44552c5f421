package store_test

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// Store is an open database: the shared tables, and what each engine implements itself.
type Store struct {
	store.Tables
	engine
}

// addVersion adds a version and drops none.
func (s Store) addVersion(ctx context.Context, d herb.Dataset, live string) error {
	_, err := s.AddVersion(ctx, d, live, herb.Keep{Versions: 100}, day)
	return err
}

// engine is the part of a store that is specific to a database.
type engine interface {
	CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error)
	ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error)
	Ping(ctx context.Context) error
	Close() error
}

// Database opens a store each time it is called, always on the same data, even while others are
// open; the suite closes it. A nil clock means time.Now.
type Database func(t testing.TB, now func() time.Time) Store

// run runs the conformance suite, which every database must pass. Each test gets a new, empty
// database.
func run(t *testing.T, create func(t testing.TB) Database) {
	tests := reflect.ValueOf(suite{})
	for i := range tests.NumMethod() {
		test := tests.Method(i).Interface().(func(*testing.T, Database))
		t.Run(tests.Type().Method(i).Name, func(t *testing.T) {
			t.Parallel()
			test(t, create(t))
		})
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(t testing.TB) Database {
		path := filepath.Join(t.TempDir(), store.DatabaseFile)
		return func(t testing.TB, now func() time.Time) Store {
			t.Helper()
			s, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: now})
			must.NoError(t, err)
			return Store{Tables: s.Tables, engine: s}
		}
	})
}

// suite has the tests as its methods.
type suite struct{}

// open opens a store that is closed when the test ends.
func open(t *testing.T, db Database) Store {
	t.Helper()
	s := db(t, nil)
	must.CloseAfter(t, s)
	return s
}

func closeStore(t *testing.T, s Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func (suite) Ping(t *testing.T, db Database) { must.NoError(t, open(t, db).Ping(t.Context())) }

// wantCode checks the code of an error, and that its message contains some texts.
func wantCode(t *testing.T, err error, code herb.Code, texts ...string) {
	t.Helper()
	if err == nil || herb.CodeOf(err) != code {
		t.Errorf("got the error %v; want one of code %q", err, code)
		return
	}
	for _, text := range texts {
		if m := herb.MessageOf(err); !strings.Contains(m, text) {
			t.Errorf("the message %q does not contain %q", m, text)
		}
	}
}

// wantEqual checks a value.
func wantEqual[T any](t *testing.T, what string, want, got T, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantResult returns a function that checks the result of a call. Empty and nil slices are equal.
func wantResult[T any](t *testing.T, what string, want T) func(T, error) {
	return func(got T, err error) {
		t.Helper()
		must.NoError(t, err)
		wantEqual(t, what, want, got, cmpopts.EquateEmpty())
	}
}

// concurrently calls f with 0 to n-1, each in a goroutine, and waits.
func concurrently(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// day is the time of events in the suite. Stores keep microseconds.
var day = time.Date(2024, 5, 17, 9, 30, 0, 123456000, time.UTC)
