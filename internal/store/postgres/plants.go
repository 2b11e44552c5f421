package postgres

import (
	"context"
	"errors"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
)

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created, unless the error states that this is unknown.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	if len(creations) == 0 {
		return nil, nil
	}
	rows := make([]store.Row, len(creations))
	for i, c := range creations {
		rows[i] = store.NewRow(c.Plant)
	}
	var b *batch
	err := s.call(ctx, "creating plants", func(ctx context.Context) error {
		if b != nil && b.uncertain != nil { // the connection broke during the commit of an earlier attempt
			committed, err := s.committed(ctx, b)
			if err != nil {
				return err
			}
			if committed {
				return nil
			}
		}
		b = newBatch(s.options.Now(), creations, rows)
		return s.commit(ctx, b)
	})
	s.recordWrite(err)
	if err != nil {
		if b != nil && b.uncertain != nil && herb.CodeOf(err) == herb.CodeUnavailable {
			err = mapError("creating plants", &uncertainError{errors.Join(b.uncertain, err)})
		}
		return nil, err
	}
	return b.outcomes, nil
}

// PlantsVersion returns an identifier of the state of the plants, which changes with each creation and never repeats.
func (s *Store) PlantsVersion(ctx context.Context) (string, error) {
	version, _, err := s.plantsVersion(ctx)
	return version, err
}

func (s *Store) plantsVersion(ctx context.Context) (version string, plants int, err error) {
	err = s.call(ctx, "reading the version of the plants", func(ctx context.Context) error {
		release, err := s.lanes.cheap().enter(ctx)
		if err != nil {
			return err
		}
		defer release()
		return s.pool.QueryRow(ctx, "SELECT epoch, plants FROM totals").Scan(&version, &plants)
	})
	if err != nil {
		return "", 0, err
	}
	return version + "-" + strconv.Itoa(plants), plants, nil
}

// ListPlants lists plants. Their fields are herb.PlantFields.
func (s *Store) ListPlants(ctx context.Context, r *query.Request) (page query.Page, err error) {
	err = s.readPlants(ctx, store.Expensive(r), func(ctx context.Context, q store.Querier) error {
		page, err = store.ListPlants(ctx, q, r)
		return err
	})
	return page, err
}

// Plants is the plant store as a dataset.
type Plants struct{ store *Store }

// Plants returns the plant store as a dataset.
func (s *Store) Plants() Plants { return Plants{s} }

// List implements library.Source.
func (p Plants) List(ctx context.Context, r *query.Request) (query.Page, error) {
	return p.store.ListPlants(ctx, r)
}

// Stream returns all matching plants, regardless of the page of the request.
func (p Plants) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	return store.StreamPlants(ctx, func(expensive bool, do func(context.Context, store.Querier) error) error {
		return p.store.readPlants(ctx, expensive, do)
	}, r)
}

// Facets counts the values of fields among the matching plants.
func (p Plants) Facets(ctx context.Context, r *query.FacetRequest) (f query.Facets, err error) {
	err = p.store.readPlants(ctx, true, func(ctx context.Context, q store.Querier) error {
		f, err = store.PlantFacets(ctx, q, r)
		return err
	})
	return f, err
}

// Describe returns the current description.
func (p Plants) Describe(ctx context.Context) (herb.Dataset, error) {
	version, plants, err := p.store.plantsVersion(ctx)
	if err != nil {
		return herb.Dataset{}, err
	}
	return store.PlantsDataset(version, plants), nil
}
