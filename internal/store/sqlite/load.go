package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// AddPlants adds plants of another database behind the first n, in their order, all of them or none. If there are not n
// plants by then, the error is store.ErrSuperseded. The count of those to come tells how they are added best.
func (s *Store) AddPlants(ctx context.Context, n, count int, plants iter.Seq2[[]herb.NewPlant, error]) error {
	return s.write(ctx, "adding plants", func(tx *sql.Tx) error {
		b, err := s.newBatch(ctx, tx)
		if err != nil {
			return err
		}
		if b.plants != int64(n) {
			return store.ErrSuperseded
		}
		add, finish := b.addAll, b.finish
		if store.Rebuild(n, count) {
			r, err := newRebuild(ctx, b)
			if err != nil {
				return err
			}
			defer func() { _ = r.insertWords.Close() }() // it ends with the transaction anyway
			add, finish = r.addAll, r.finish
		}
		for some, err := range plants {
			if err != nil {
				return err
			}
			if err := add(ctx, some); err != nil {
				return err
			}
		}
		return finish(ctx)
	})
}

// addAll creates plants, none of which may be there.
func (b *batch) addAll(ctx context.Context, plants []herb.NewPlant) error {
	for _, p := range plants {
		outcome, err := b.create(ctx, store.Creation{Plant: p}, store.NewRow(p))
		if err != nil {
			return err
		}
		if outcome.Err != nil {
			return store.TakenID(p)
		}
	}
	return nil
}

// rebuild adds so many plants that it is faster to do without the indexes and to build them anew. Words are put down in
// the order they come in and sorted at the end, because the table of words is itself an index. Others see nothing of all
// that: it is part of the transaction.
type rebuild struct {
	*batch
	indexes     []string // the statements that create them
	insertWords *sql.Stmt
	waiting     []any // what insertWords takes, until there is enough for it
}

// wordsAtOnce is how many words one statement adds.
const wordsAtOnce = 100

func newRebuild(ctx context.Context, b *batch) (*rebuild, error) {
	r := &rebuild{batch: b}
	rows, err := b.tx.QueryContext(ctx, "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL "+
		"AND tbl_name IN ('plants', 'plant_words') ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	prepare := []string{"PRAGMA cache_size = -131072"} // KiB; sorting takes as much
	for rows.Next() {
		var name, create string
		if err := rows.Scan(&name, &create); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		prepare, r.indexes = append(prepare, "DROP INDEX "+name), append(r.indexes, create)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	prepare = append(prepare, "CREATE TEMP TABLE added_words (word TEXT, seq INTEGER, field INTEGER, pos INTEGER, words INTEGER)")
	if err := r.run(ctx, prepare...); err != nil {
		return nil, err
	}
	r.insertWords, err = b.tx.PrepareContext(ctx, insertWords(wordsAtOnce))
	return r, err
}

func insertWords(n int) string {
	return "INSERT INTO added_words (word, seq, field, pos, words) VALUES (?, ?, ?, ?, ?)" + strings.Repeat(", (?, ?, ?, ?, ?)", n-1)
}

func (r *rebuild) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := r.tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// addAll adds plants, none of which may be there.
func (r *rebuild) addAll(ctx context.Context, plants []herb.NewPlant) error {
	insert := r.tx.StmtContext(ctx, r.st.insertPlant)
	for _, p := range plants {
		row := store.NewRow(p)
		seq := r.plants + 1
		result, err := insert.ExecContext(ctx, seq, row.ID, row.Name, row.NameKey, row.Tag, row.TagGiven, row.TagKey)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			return store.TakenID(p)
		}
		for _, w := range row.Words {
			r.waiting = append(r.waiting, w.Text, seq, w.Field, w.Pos, len(row.Words))
			if len(r.waiting) < 5*wordsAtOnce {
				continue
			}
			if _, err := r.insertWords.ExecContext(ctx, r.waiting...); err != nil {
				return err
			}
			r.waiting = r.waiting[:0]
		}
		r.plants = seq
		r.words += len(row.Words)
		r.tags[row.Tag]++
	}
	return nil
}

// finish puts the words in their place, builds the indexes and brings the totals up to date.
func (r *rebuild) finish(ctx context.Context) error {
	if n := len(r.waiting) / 5; n > 0 {
		if _, err := r.tx.ExecContext(ctx, insertWords(n), r.waiting...); err != nil {
			return err
		}
	}
	if err := r.run(ctx, "INSERT INTO plant_words (word, seq, field, pos, words) "+
		"SELECT word, seq, field, pos, words FROM added_words ORDER BY word, seq, field, pos", "DROP TABLE added_words"); err != nil {
		return err
	}
	if err := r.run(ctx, append(r.indexes, "PRAGMA cache_size = "+cacheSize)...); err != nil {
		return err
	}
	return r.batch.finish(ctx)
}
