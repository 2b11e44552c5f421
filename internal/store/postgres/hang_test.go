package postgres_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// afterStatement is a tracer that is called after each statement.
type afterStatement func(statement string)

type statementKey struct{}

func (f afterStatement) TraceQueryStart(ctx context.Context, _ *pgx.Conn,
	data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, statementKey{}, data.SQL)
}

func (f afterStatement) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	f(ctx.Value(statementKey{}).(string))
}

// TestCreatePlants_hangs suspends a node after each statement of a creation: another node can
// create plants meanwhile.
func TestCreatePlants_hangs(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	other := open(t, address, postgres.Options{LockTimeout: 100 * time.Millisecond, RetryBudget: time.Millisecond})
	next, suspended := int64(100), 0
	hanging, err := postgres.OpenTraced(t.Context(), address, postgres.Options{},
		afterStatement(func(statement string) {
			if next == 0 {
				return
			}
			next++
			suspended++
			if err := created(other.CreatePlants(t.Context(),
				[]store.Creation{plant(next, "Fern", "", "")})); err != nil {
				t.Errorf("while the node hangs after %s: %v", statement, err)
			}
		}))
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, hanging.Close()) })
	must.NoError(t, created(hanging.CreatePlants(t.Context(), creations(1, 2))))
	next = 0
	if suspended < 2 {
		t.Errorf("the node was suspended %d times", suspended)
	}
	wantTotal(t, other, 2+suspended)
}

// TestCreatePlants_taken creates plants between the decision and the insertion of another node: the
// decision is repeated.
func TestCreatePlants_taken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first  store.Creation // by the other node
		second store.Creation
		want   string // error of the second one
	}{
		"id": {plant(1, "Fern", "", ""), plant(1, "Rose", "", ""),
			"a plant with id 1 exists already; choose another id"},
		"repetition":     {plant(1, "Fern", "", "k"), plant(1, "Fern", "", "k"), ""},
		"key, other ids": {plant(1, "Fern", "", "k"), plant(2, "Fern", "", "k"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := cluster.Database(t)
			other := open(t, address, postgres.Options{})
			var once sync.Once
			armed := false
			s, err := postgres.OpenTraced(t.Context(), address, postgres.Options{},
				afterStatement(func(statement string) {
					if !armed || !isLastRead(statement, tt.second) {
						return
					}
					once.Do(func() {
						must.NoError(t,
							created(other.CreatePlants(t.Context(), []store.Creation{tt.first})))
					})
				}))
			must.NoError(t, err)
			t.Cleanup(func() { must.NoError(t, s.Close()) })
			must.NoError(t, s.Migrate(t.Context()))
			armed = true
			outcomes, err := s.CreatePlants(t.Context(), []store.Creation{tt.second, plant(9, "Iris", "", "")})
			must.NoError(t, err)
			got := outcomes[0]
			if message := herb.MessageOf(got.Err); got.Err != nil && message != tt.want || got.Err == nil &&
				(tt.want != "" || !got.Replayed) {
				t.Errorf("got %+v; want %q", got, tt.want)
			}
			if outcomes[1].Err != nil {
				t.Error(outcomes[1].Err)
			}
			wantTotal(t, other, 2)
		})
	}
}

// isLastRead reports whether a statement is the last one before a creation is inserted.
func isLastRead(statement string, c store.Creation) bool {
	if c.IdempotencyKey == nil {
		return strings.HasPrefix(statement, "SELECT id FROM plants")
	}
	return strings.HasPrefix(statement, "SELECT r.credential")
}

// TestLostConnections drops the packets of all connections without closing them, as a firewall does
// that has lost its state: each call succeeds on a new connection.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, *postgres.Store) error{
		"catalogue": func(ctx context.Context, s *postgres.Store) error {
			_, err := s.Changes(ctx, -1)
			return err
		},
		"read plants": func(ctx context.Context, s *postgres.Store) error {
			_, err := s.ReadPlants(ctx, 0, 10)
			return err
		},
		"create": func(ctx context.Context, s *postgres.Store) error {
			return created(s.CreatePlants(ctx, creations(1)))
		},
		"write": func(ctx context.Context, s *postgres.Store) error { return s.AddKey(ctx, herb.Key{ID: "ann"}) },
		"ping":  func(ctx context.Context, s *postgres.Store) error { return s.Ping(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := cluster.Database(t)
			p, through, stop := startProxy(t, address, none)
			s, err := postgres.Open(t.Context(), through,
				postgres.Options{Stall: time.Second, Timeout: 10 * time.Second})
			must.NoError(t, err)
			t.Cleanup(func() {
				stop() // closing waits for lost connections
				_ = s.Close()
			})
			must.NoError(t, s.Ping(t.Context()))
			var reading sync.WaitGroup
			for range 8 { // opens several connections
				reading.Go(func() {
					if _, err := s.Keys(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			reading.Wait()
			p.lose()
			if err := call(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLostConnections_registration loses the only connection of a store that renews its
// registration all the time: the renewal does not occupy it.
func TestLostConnections_registration(t *testing.T) {
	t.Parallel()
	schema, err := postgres.CurrentSchema()
	must.NoError(t, err)
	p, through, stop := startProxy(t, cluster.Database(t), none)
	s, err := postgres.OpenWith(t.Context(), through+"&pool_max_conns=1", schema,
		postgres.Options{Stall: time.Second, Timeout: 10 * time.Second})
	must.NoError(t, err)
	t.Cleanup(func() {
		stop()
		_ = s.Close()
	})
	for range 3 {
		if _, err := s.Keys(t.Context()); err != nil {
			t.Error(err)
		}
		p.lose()
	}
}

// TestPing_otherHost names two servers, of which the first accepts connections and does not answer.
// Connecting to the second takes longer than a Ping waits.
func TestPing_otherHost(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "silent") // the path of t.TempDir is too long for a socket
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, os.RemoveAll(folder)) })
	silent, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, silent.Close()) })
	u, err := url.Parse(cluster.Database(t))
	must.NoError(t, err)
	query := u.Query()
	query.Set("host", folder+","+query.Get("host"))
	query.Set("port", "5432,5432")
	query.Set("connect_timeout", "1")
	u.RawQuery = query.Encode()
	s := openLater(t, u.String(), postgres.Options{})
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err = s.Ping(ctx)
		cancel()
		if err == nil {
			return
		}
	}
	t.Errorf("the database does not become available: %v", err)
}
