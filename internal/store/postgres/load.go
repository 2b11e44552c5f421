package postgres

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// AddPlants adds plants of another database behind the first n, in their order, all of them or none. If there are not n
// plants by then, the error is store.ErrSuperseded. The count of those to come tells how they are added best.
func (s *Store) AddPlants(ctx context.Context, n, count int, plants iter.Seq2[[]herb.NewPlant, error]) error {
	return failed("adding plants", s.addPlants(ctx, n, count, plants))
}

func (s *Store) addPlants(ctx context.Context, n, count int, plants iter.Seq2[[]herb.NewPlant, error]) error {
	if err := s.tables.wait(ctx); err != nil {
		return unprepared(err)
	}
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // does nothing once it is committed
	// Nobody waits for an answer, and building an index takes as long as it takes.
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return err
	}
	var have int
	if err := tx.QueryRow(ctx, lockTotals).Scan(&have); err != nil {
		return err
	}
	if have != n {
		return store.ErrSuperseded
	}
	restore := func(context.Context) error { return nil }
	if store.Rebuild(n, count) {
		if restore, err = setAside(ctx, tx); err != nil {
			return err
		}
	}
	for some, err := range plants {
		if err != nil {
			return err
		}
		b := newBatch(s.options.Now(), nil, nil)
		for _, p := range some {
			have++
			b.created.add(int64(have), store.NewRow(p))
		}
		if err := b.load(ctx, tx); err != nil {
			return err
		}
	}
	if err := restore(ctx); err != nil {
		return err
	}
	return commitError(tx.Commit(ctx))
}

// load writes what was decided, as write does, with the command that is made for much of it.
func (b *batch) load(ctx context.Context, tx pgx.Tx) error {
	c := &b.created
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"plants"},
		[]string{"seq", "id", "name", "name_key", "tag", "tag_given", "tag_key", "batch"},
		pgx.CopyFromSlice(len(c.seqs), func(i int) ([]any, error) {
			return []any{c.seqs[i], c.ids[i], c.names[i], c.nameKeys[i], c.tags[i], c.given[i], c.tagKeys[i], b.number}, nil
		}))
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == uniqueViolation {
		return herb.Errorf(herb.CodeRefused, "a plant cannot be added because another one has its id: %s", e.Detail)
	}
	if err != nil {
		return err
	}
	// In the order of the index, whose pages are then visited once each.
	order := make([]int, len(c.words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c.words[i], c.words[j]) })
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"plant_words"}, []string{"word", "seq", "field", "pos", "words"},
		pgx.CopyFromSlice(len(order), func(i int) ([]any, error) {
			i = order[i]
			return []any{c.words[i], c.wordSeqs[i], c.wordFields[i], c.wordPlaces[i], c.wordTotals[i]}, nil
		}))
	if err != nil {
		return err
	}
	var q pgx.Batch
	c.queueTotals(&q)
	return tx.SendBatch(ctx, &q).Close()
}

// The indexes of plants and words, without the two that say what a plant is: no number and no id is given twice. The keys
// of a table are constraints. Whoever does not own the tables cannot change them, and finds none.
const findIndexes = `
SELECT CASE WHEN k.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
            ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', i.indrelid::regclass, k.conname) END,
       CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
            ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', i.indrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) END
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid
     AND k.contype IN ('p', 'u')
WHERE (i.indrelid = 'plants'::regclass AND NOT i.indisunique OR i.indrelid = 'plant_words'::regclass)
      AND pg_has_role(c.relowner, 'USAGE')
ORDER BY i.indexrelid`

// setAside drops indexes and returns what builds them again, much faster than they grow row by row. Others see nothing of
// it: it is part of the transaction.
func setAside(ctx context.Context, tx pgx.Tx) (restore func(context.Context) error, err error) {
	rows, err := tx.Query(ctx, findIndexes)
	if err != nil {
		return nil, err
	}
	var drop, create string
	var drops, creates []string
	_, err = pgx.ForEachRow(rows, []any{&drop, &create}, func() error {
		drops, creates = append(drops, drop), append(creates, create)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, strings.Join(drops, ";")); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if _, err := tx.Exec(ctx, "SET LOCAL maintenance_work_mem = '128MB'"); err != nil {
			return err
		}
		for _, c := range creates {
			if _, err := tx.Exec(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
