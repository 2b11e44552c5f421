package postgres

import (
	"context"
	"database/sql"
	"errors"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created, unless the error states that this is unknown.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	var b store.Batch
	var uncertain *uncertainError // it is unknown whether b was committed
	err := s.call(ctx, "creating plants", func(ctx context.Context) error {
		// Do not cancel with the caller: the result would be unknown, and other callers share the batch.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
		defer cancel()
		committed := false // by an earlier attempt
		err := s.inTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}, func(ctx context.Context, tx store.Tx) (err error) {
			const lock = "FOR UPDATE"
			if uncertain != nil {
				if committed, err = b.Committed(ctx, tx, lock); err != nil || committed {
					return err
				}
			}
			uncertain = nil
			b, err = store.CreatePlants(ctx, tx, creations, s.options.Now(), lock)
			return err
		})
		e, ok := errors.AsType[*uncertainError](err)
		if !ok {
			return err
		}
		if committed || b.Created == 0 {
			return nil // nothing to commit except expired keys
		}
		uncertain = e
		return e.err // retried
	})
	s.recordWrite(err)
	if err != nil {
		if uncertain != nil && herb.CodeOf(err) == herb.CodeUnavailable {
			err = mapError("creating plants", &uncertainError{errors.Join(uncertain.err, err)})
		}
		return nil, err
	}
	return b.Outcomes, nil
}

// ReadPlants returns up to limit plants that follow the first n in creation order. It takes one round trip.
func (s *Store) ReadPlants(ctx context.Context, n, limit int) (page store.PlantPage, err error) {
	err = s.callRead(ctx, "reading plants", func(ctx context.Context) error {
		page, err = store.ReadPlants(ctx, numbered{Tx: s.db}, n, limit)
		return err
	})
	return page, err
}
