package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/must"
	"herbarium/internal/plants"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// statementCounter counts statements.
type statementCounter struct{ n atomic.Int32 }

func (c *statementCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn,
	_ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (*statementCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestListPlants_oneStatement checks that a listing takes one statement, which is one round trip.
func TestListPlants_oneStatement(t *testing.T) {
	t.Parallel()
	var counter statementCounter
	s, err := postgres.OpenTraced(t.Context(), cluster.Database(t), postgres.Options{}, &counter)
	must.NoError(t, err)
	defer func() { must.NoError(t, s.Close()) }()
	x := plants.NewIndex(s, plants.IndexOptions{Dir: t.TempDir()})
	defer func() { must.NoError(t, x.Close()) }()
	for id := range int64(3) {
		must.NoError(t, created(s.CreatePlants(t.Context(), []store.Creation{plant(id, "Fern", "", "")})))
		before := counter.n.Load()
		snapshot, err := x.Acquire(t.Context())
		must.NoError(t, err)
		if n := counter.n.Load() - before; id > 0 && n != 1 || snapshot.Dataset.Records != int(id)+1 {
			t.Errorf("%d statements for a listing of %d plants", n, snapshot.Dataset.Records)
		}
		snapshot.Release()
	}
}
