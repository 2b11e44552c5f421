package sqlite

import (
	"context"
	"errors"
	"testing"

	"herbarium/internal/store"
)

// TestRead_canceled checks that an endless statement ends when its context is canceled.
func TestRead_canceled(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	go func() {
		<-began
		cancel()
	}()
	err := s.read(ctx, "counting", func(ctx context.Context, tx store.Tx) error {
		close(began)
		rows, err := tx.QueryContext(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
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
