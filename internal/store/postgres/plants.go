package postgres

import (
	"context"
	"errors"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created, unless the error states that this is unknown.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	if len(creations) == 0 {
		return nil, nil
	}
	b := newBatch(s.options.Now(), creations)
	err := s.call(ctx, "creating plants", func(ctx context.Context) error {
		if b.uncertain != nil { // the connection broke during the commit of an earlier attempt
			if committed, err := s.committed(ctx, b); err != nil || committed {
				return err
			}
		}
		b.reset()
		return s.commit(ctx, b)
	})
	s.recordWrite(err)
	if err != nil {
		if b.uncertain != nil && herb.CodeOf(err) == herb.CodeUnavailable {
			err = mapError("creating plants", &uncertainError{errors.Join(b.uncertain, err)})
		}
		return nil, err
	}
	return b.outcomes, nil
}

// Plants returns the plant store as a dataset.
func (s *Store) Plants() store.Plants { return store.Plants{PlantReader: s} }

// PlantTotals implements store.PlantReader.
func (s *Store) PlantTotals(ctx context.Context) (epoch string, plants int, err error) {
	err = s.call(ctx, "reading the version of the plants", func(ctx context.Context) error {
		release, err := s.lanes.cheap().enter(ctx)
		if err != nil {
			return err
		}
		defer release()
		return s.pool.QueryRow(ctx, "SELECT epoch, plants FROM totals").Scan(&epoch, &plants)
	})
	return epoch, plants, err
}
