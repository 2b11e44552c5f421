package sqlite

import (
	"context"
	"database/sql"

	"herbarium/internal/store"
)

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) (outcomes []store.Outcome, err error) {
	b := &batch{Batch: store.NewBatch(creations), st: s.st, now: s.now()}
	err = s.write(ctx, "creating plants", func(tx *sql.Tx) error {
		b.tx = tx
		if err := b.read(ctx); err != nil {
			return err
		}
		outcomes = b.Decide()
		return b.write(ctx)
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// Plants returns the plant store as a dataset.
func (s *Store) Plants() store.Plants { return store.Plants{PlantReader: s} }

// PlantTotals implements store.PlantReader.
func (s *Store) PlantTotals(ctx context.Context) (epoch string, plants int, err error) {
	err = s.reader.QueryRowContext(ctx, "SELECT epoch, plants FROM totals").Scan(&epoch, &plants)
	return epoch, plants, mapError("reading the version of the plants", err)
}

// ReadPlants implements store.PlantReader.
func (s *Store) ReadPlants(ctx context.Context, expensive bool, do func(context.Context, store.Querier) error) error {
	db := s.reader
	if expensive {
		db = s.expensive
	}
	return mapError("reading plants", inTx(ctx, db, func(tx *sql.Tx) error { return do(ctx, querier{tx}) }))
}

// querier is a transaction that lists plants.
type querier struct{ *sql.Tx }

// ArrayElements implements store.Querier.
func (querier) ArrayElements() string { return "SELECT value FROM json_each(?)" }
