package sqlite

import (
	"context"

	"herbarium/internal/store"
)

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	var b store.Batch
	if err := s.write(ctx, "creating plants", func(ctx context.Context, tx store.Tx) (err error) {
		b, err = store.CreatePlants(ctx, tx, creations, s.now(), "")
		return err
	}); err != nil {
		return nil, err
	}
	return b.Outcomes, nil
}

// ReadPlants returns up to limit plants that follow the first n in creation order.
func (s *Store) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	page, err := store.ReadPlants(ctx, s.reader, n, limit)
	return page, mapError("reading plants", err)
}
