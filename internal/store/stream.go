package store

import (
	"context"
	"iter"
	"slices"

	"herbarium/internal/query"
)

// streamPlants is the number of plants of a stream that are read at once.
const streamPlants = 256

// StreamPlants returns all plants that match a request, regardless of its page, from the tables of ListPlants. read runs a
// function in a transaction that sees one state of the database, retrying it on failure, with the context of the
// transaction; expensive selects the connections.
//
// The seqs are found in one transaction, 8 bytes each; creation order without a condition needs none. Plants never change,
// so they are read in small batches, each in its own transaction: a client that takes hours to read the stream holds no
// connection and no snapshot of the database.
func StreamPlants(
	ctx context.Context, read func(expensive bool, do func(context.Context, Querier) error) error, r *query.Request,
) (s query.Stream, err error) {
	var chunks iter.Seq[[]int64]
	err = read(Expensive(r) || r.Sort != query.NoSort, func(ctx context.Context, q Querier) error {
		s.Total, chunks, err = findAll(ctx, q, r)
		return err
	})
	if err != nil {
		return query.Stream{}, err
	}
	s.Records = func(yield func([]byte, error) bool) {
		for seqs := range chunks {
			var records [][]byte
			err := read(false, func(ctx context.Context, q Querier) (err error) {
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

// findAll returns the number of plants that match a request, and their seqs in its order, in chunks.
func findAll(ctx context.Context, q Querier, r *query.Request) (total int, chunks iter.Seq[[]int64], err error) {
	none := slices.Chunk([]int64(nil), streamPlants)
	if r.Search != nil && len(r.Search.Clauses) == 0 {
		return 0, none, nil
	}
	l, err := newLister(ctx, q, r)
	if err != nil {
		return 0, nil, err
	}
	where := l.filter
	switch {
	case r.Search != nil:
		var ranked []int64
		if ranked, where, total, err = l.resolveSearch(ctx); err != nil || total == 0 {
			return 0, none, err
		}
		if ranked != nil {
			return total, slices.Chunk(ranked, streamPlants), nil
		}
	case l.sort == query.NoSort && l.filter.sql == always.sql:
		return l.plants, firstPlants(l.plants), nil
	}
	seqs, err := l.numbers(ctx, l.inOrder(where))
	return len(seqs), slices.Chunk(seqs, streamPlants), err
}

// firstPlants yields the seqs of the first n plants, which have no gaps.
func firstPlants(n int) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		seqs := make([]int64, 0, streamPlants)
		for seq := 1; seq <= n; seq++ {
			if seqs = append(seqs, int64(seq)); len(seqs) == cap(seqs) || seq == n {
				if !yield(seqs) {
					return
				}
				seqs = seqs[:0]
			}
		}
	}
}
