package postgres_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// creations are plants, the first of them with an idempotency key.
func creations(ids ...int64) []store.Creation {
	var out []store.Creation
	for _, id := range ids {
		out = append(out, store.Creation{Plant: herb.NewPlant{ID: id, Plant: herb.Plant{Name: "Fern"}}})
	}
	out[0].IdempotencyKey = &store.IdempotencyKey{Credential: "ann", Key: "k", Body: sha256.Sum256([]byte("body"))}
	return out
}

// wantTotal checks how many plants there are.
func wantTotal(t *testing.T, s *postgres.Store, want int) {
	t.Helper()
	if plants := list(t, s); len(plants) != want {
		t.Errorf("there are the plants %q; want %d", plants, want)
	}
}

// TestCreatePlants_lost cuts the connection when plants are committed: each is created once and
// acknowledged as new.
func TestCreatePlants_lost(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]proxyMode{"before": cutBefore, "after": cutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := cluster.Database(t)
			direct := open(t, address, postgres.Options{})
			through, _ := interfere(t, address, mode)
			s := open(t, through, postgres.Options{})
			outcomes, err := s.CreatePlants(t.Context(), creations(1, 2))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				if o.Err != nil || o.Replayed || o.Plant.Name != "Fern" {
					t.Errorf("outcome %+v", o)
				}
			}
			wantTotal(t, direct, 2)
		})
	}
}

// TestWrite_lost does the same with a change of the catalogue, which is not repeated, because it
// may have been committed.
func TestWrite_lost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode proxyMode
		keys int
	}{"before": {cutBefore, 0}, "after": {cutAfter, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := cluster.Database(t)
			direct := open(t, address, postgres.Options{})
			through, _ := interfere(t, address, tt.mode)
			s := open(t, through, postgres.Options{})
			err := s.AddKey(t.Context(), herb.Key{ID: "ann"})
			if herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(herb.MessageOf(err), "may or may not") {
				t.Errorf("got %v", err)
			}
			if keys, err := direct.Keys(t.Context()); err != nil || len(keys) != tt.keys {
				t.Errorf("%d keys, %v; want %d", len(keys), err, tt.keys)
			}
			if err := s.AddKey(t.Context(), herb.Key{ID: "bob"}); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestFrozenServer suspends the server: calls fail in time and report that the outcome is unknown.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	direct := open(t, address, postgres.Options{})
	through, stop := interfere(t, address, silence)
	s := open(t, through, postgres.Options{Timeout: 3 * time.Second})
	outcomes, err := s.CreatePlants(t.Context(), creations(1))
	if herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(herb.MessageOf(err), "may or may not") ||
		outcomes != nil {
		t.Errorf("got %+v, %v", outcomes, err)
	}
	stop() // closing would wait for a response as well
	wantTotal(t, direct, 0)
}

// TestTerminated terminates all connections on the server: the next calls open new ones.
func TestTerminated(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{})
	for id := range int64(3) {
		if _, err := s.CreatePlants(t.Context(), creations(id)[:1]); err != nil {
			t.Fatal(err)
		}
		wantTotal(t, s, 1) // the others repeat its idempotency key
		run(t, address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "+
			"AND pid <> pg_backend_pid()")
	}
}

// run runs a statement without the store.
func run(t testing.TB, address, statement string) {
	t.Helper()
	conn := connect(t, address)
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// connect connects without the store.
func connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the database is dropped anyway
	return conn
}

// TestBusy holds the locks that writes need: writes fail in time with an error that advises to try
// again, and reads work.
func TestBusy(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{LockTimeout: 50 * time.Millisecond})
	other := connect(t, address)
	for _, statement := range []string{"BEGIN", "SELECT 1 FROM totals FOR UPDATE",
		"SELECT 1 FROM catalogue FOR UPDATE"} {
		if _, err := other.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	outcomes, err := s.CreatePlants(t.Context(), creations(1))
	if herb.CodeOf(err) != herb.CodeUnavailable || outcomes != nil ||
		strings.Contains(herb.MessageOf(err), "may or may not") {
		t.Errorf("got %v, %v", outcomes, err)
	}
	if err := s.AddKey(t.Context(), herb.Key{ID: "ann"}); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	wantTotal(t, s, 0)
	if _, err := s.Changes(t.Context(), -1); err != nil {
		t.Errorf("reading waits for writing: %v", err)
	}
	open(t, address, postgres.Options{}) // does not wait either
	if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
