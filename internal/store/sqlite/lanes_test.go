package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
)

// occupy takes all connections of a kind.
func occupy(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	var conns []*sql.Conn
	for range db.Stats().MaxOpenConnections {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	return func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
}

// TestExpensiveListings checks that writes and cheap listings go on while all connections for expensive ones are in use, and
// that expensive ones need no other connections. One that needed a connection in use would never end.
func TestExpensiveListings(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	list := func(raws ...string) {
		t.Helper()
		for _, raw := range raws {
			r, err := query.Parse(raw, herb.PlantFields())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Plants().List(t.Context(), r); err != nil {
				t.Errorf("%q: %v", raw, err)
			}
		}
	}
	release := occupy(t, s.expensive)
	plant := herb.NewPlant{ID: 1, Plant: herb.Plant{Name: "Red oak", Tag: new("tree")}}
	if _, err := s.CreatePlants(t.Context(), []store.Creation{{Plant: plant}}); err != nil {
		t.Fatal(err)
	}
	list("", "page=2", "sort=name", "tag=tree", "tag[ne]=shrub&sort=id", "id=1", "name=Red+oak")
	release()

	release = occupy(t, s.reader)
	defer release()
	list("search=oak", "search=r*+o*", "name[prefix]=Re", "id[gt]=0", "tag=tree&id=1", "sort=name&page=2000")
	r, err := query.Parse("", herb.PlantFields())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plants().Facets(t.Context(), &query.FacetRequest{Request: r, Fields: []int{1}, Top: 1}); err != nil {
		t.Errorf("facets: %v", err)
	}
}

// TestRead_canceled checks that a statement which would run for ever ends with its context.
func TestRead_canceled(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	go func() {
		<-began
		cancel()
	}()
	err := s.ReadPlants(ctx, true, func(ctx context.Context, q store.Querier) error {
		close(began)
		rows, err := q.QueryContext(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			return errors.New("counted to infinity")
		}
		return rows.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want the error of the context", err)
	}
}
