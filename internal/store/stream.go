package store

import (
	"context"
	"iter"
	"slices"

	"herbarium/internal/query"
)

// streamPlants is how many plants of a stream are read at once.
const streamPlants = 256

// StreamPlants answers a request with everything that meets it, whatever page it names, from the tables of ListPlants.
// read runs a function in a transaction that sees one state of the database, again if that has failed, with the context of
// the transaction; expensive says which connections it may use.
//
// The numbers of the plants are found in one transaction, eight bytes for each; the order of creation without a condition
// needs none. The plants themselves never change once they are created, so they are read a few at a time, each time in a
// transaction of its own: a client that takes hours to fetch them holds no connection and no old state of the database.
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

// findAll returns how many plants meet a request, and their numbers in its order, cut into chunks.
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
		if ranked, where, total, err = l.searched(ctx); err != nil || total == 0 {
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

// firstPlants yields the numbers of the first n plants, which have no gap.
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
