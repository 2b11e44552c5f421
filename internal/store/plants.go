package store

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// PlantReader reads the tables of ListPlants.
type PlantReader interface {
	// ReadPlants runs do in a transaction that sees one state of the database, with the context of the transaction. It may
	// retry do. expensive selects the connections.
	ReadPlants(ctx context.Context, expensive bool, do func(context.Context, Querier) error) error
	// PlantTotals returns the epoch of the plants, which identifies the database, and their number.
	PlantTotals(ctx context.Context) (epoch string, plants int, err error)
}

// Plants is the plant store as a dataset. Its fields are herb.PlantFields.
type Plants struct{ PlantReader }

// Version returns an identifier of the state of the plants, which changes with each creation and never repeats.
func (p Plants) Version(ctx context.Context) (string, error) {
	d, err := p.Describe(ctx)
	return d.Version, err
}

// Describe returns the current description.
func (p Plants) Describe(ctx context.Context) (herb.Dataset, error) {
	epoch, plants, err := p.PlantTotals(ctx)
	if err != nil {
		return herb.Dataset{}, err
	}
	return herb.Dataset{
		Ref:         herb.PlantsRef,
		Title:       "Plants",
		Description: "The plants that were created, in the order of their creation",
		Access:      herb.AccessOpen,
		Fields:      herb.PlantFields(),
		Version:     epoch + "-" + strconv.Itoa(plants),
		Records:     plants,
	}, nil
}

// List returns a page of plants.
func (p Plants) List(ctx context.Context, r *query.Request) (page query.Page, err error) {
	err = p.ReadPlants(ctx, Expensive(r), func(ctx context.Context, q Querier) error {
		page, err = ListPlants(ctx, q, r)
		return err
	})
	return page, err
}

// Facets counts the values of fields among the matching plants.
func (p Plants) Facets(ctx context.Context, r *query.FacetRequest) (f query.Facets, err error) {
	err = p.ReadPlants(ctx, true, func(ctx context.Context, q Querier) error {
		f, err = countFacets(ctx, q, r)
		return err
	})
	return f, err
}

// cheapOffset is how many entries of an index a cheap listing may skip.
const cheapOffset = 20_000

// Expensive reports whether a listing may read a large part of the plants, so that it must not use the connections that are
// reserved for writes and for listings that read little more than their page.
func Expensive(r *query.Request) bool {
	if r.Search != nil || r.Sort != query.NoSort && r.Offset() > cheapOffset {
		return true
	}
	if len(r.Conditions) == 1 && r.Conditions[0].Field == fieldTag { // counted in advance
		c := r.Conditions[0]
		return c.Op != query.OpEq && c.Op != query.OpNe || r.Offset() > cheapOffset
	}
	return slices.ContainsFunc(r.Conditions, func(c query.Condition) bool { return c.Field == fieldTag || c.Op != query.OpEq })
}

// streamPlants is the number of plants of a stream that are read at once.
const streamPlants = 256

// Stream returns all plants that match a request, regardless of its page.
//
// The seqs are read in one transaction, 8 bytes each; creation order without a condition needs none. Plants never change,
// so they are read in small batches, each in its own transaction: a client that takes hours to read the stream holds no
// connection and no snapshot of the database.
func (p Plants) Stream(ctx context.Context, r *query.Request) (s query.Stream, err error) {
	var chunks iter.Seq[[]int64]
	err = p.ReadPlants(ctx, Expensive(r) || r.Sort != query.NoSort, func(ctx context.Context, q Querier) error {
		s.Total, chunks, err = allSeqs(ctx, q, r)
		return err
	})
	if err != nil {
		return query.Stream{}, err
	}
	s.Records = func(yield func([]byte, error) bool) {
		for seqs := range chunks {
			var records [][]byte
			err := p.ReadPlants(ctx, false, func(ctx context.Context, q Querier) (err error) {
				l := &lister{q: q, r: r}
				records, err = l.read(ctx, seqs)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, rec := range records {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
	return s, nil
}

// allSeqs returns the number of plants that match a request, and their seqs in the requested order, in chunks.
func allSeqs(ctx context.Context, q Querier, r *query.Request) (total int, chunks iter.Seq[[]int64], err error) {
	l, err := newLister(ctx, q, r)
	if err != nil {
		return 0, nil, err
	}
	where := l.filter
	switch {
	case r.Search != nil:
		var ranked []int64
		if ranked, where, total, err = l.resolveSearch(ctx); err != nil || total == 0 || ranked != nil {
			return total, slices.Chunk(ranked, streamPlants), err
		}
	case l.sort == query.NoSort && l.filter.sql == always.sql:
		return l.plants, firstPlants(l.plants), nil
	}
	seqs, err := l.numbers(ctx, l.inOrder(where))
	return len(seqs), slices.Chunk(seqs, streamPlants), err
}

// firstPlants yields the seqs of the first n plants, which have no gaps, in chunks.
func firstPlants(n int) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		for first := 1; first <= n; first += streamPlants {
			if !yield(seqRange(first, min(first+streamPlants, n+1))) {
				return
			}
		}
	}
}

// seqRange returns the seqs from first up to but not including end.
func seqRange(first, end int) []int64 {
	seqs := make([]int64, end-first)
	for i := range seqs {
		seqs[i] = int64(first + i)
	}
	return seqs
}
