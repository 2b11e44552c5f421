package sqlite

import (
	"context"
	"errors"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
)

// TestExpensiveListings checks that writes and cheap listings go on while all connections for expensive ones are in use.
func TestExpensiveListings(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	for range s.expensive.Stats().MaxOpenConnections {
		conn, err := s.expensive.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	plant := herb.NewPlant{ID: 1, Plant: herb.Plant{Name: "Red oak", Tag: new("tree")}}
	if _, err := s.CreatePlants(t.Context(), []store.Creation{{Plant: plant}}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		raw       string
		expensive bool
	}{
		{"", false},
		{"page=2", false},
		{"sort=name", false},
		{"tag=tree", false},
		{"tag[ne]=shrub&sort=id", false},
		{"id=1", false},
		{"name=Red+oak", false},
		{"search=oak", true},
		{"search=r*+o*", true},
		{"name[prefix]=Re", true},
		{"id[gt]=0", true},
		{"tag=tree&id=1", true},
		{"sort=name&page=2000", true},
	} {
		r, err := query.Parse(tt.raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if tt.expensive {
			cancel() // or it would wait for a connection
		}
		_, err = s.ListPlants(ctx, r)
		cancel()
		if got := errors.Is(err, context.Canceled); got != tt.expensive || err != nil && !got {
			t.Errorf("%q: %v; expensive is %t", tt.raw, err, tt.expensive)
		}
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
	err := s.readPlants(ctx, true, func(q store.Querier) error {
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
