package sqlite

import (
	"context"
	"database/sql"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// batch is a transaction that creates plants.
type batch struct {
	tx     *sql.Tx
	st     statements
	now    time.Time
	plants int64          // so many there are, counting those of the batch
	words  int            // of the plants of the batch
	tags   map[string]int // of the plants of the batch
}

func (s *Store) newBatch(ctx context.Context, tx *sql.Tx) (*batch, error) {
	b := &batch{tx: tx, st: s.st, now: s.now(), tags: map[string]int{}}
	if err := tx.StmtContext(ctx, b.st.readTotal).QueryRowContext(ctx).Scan(&b.plants); err != nil {
		return nil, err
	}
	return b, b.forgetRetries(ctx)
}

// exec runs a statement that was prepared outside the transaction.
func (b *batch) exec(ctx context.Context, stmt *sql.Stmt, args ...any) (changed int64, err error) {
	result, err := b.tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// create creates a plant, unless its retry key tells that this was done before or its id is taken.
func (b *batch) create(ctx context.Context, c store.Creation, r store.Row) (store.Outcome, error) {
	if c.Retry != nil {
		o, found, err := b.findRetry(ctx, *c.Retry)
		if err != nil || found {
			return o, err
		}
	}
	seq := b.plants + 1
	created, err := b.exec(ctx, b.st.insertPlant, seq, r.ID, r.Name, r.NameKey, r.Tag, r.TagGiven, r.TagKey)
	if err != nil {
		return store.Outcome{}, err
	}
	if created == 0 {
		return store.Outcome{Err: herb.Invalidf("a plant with id %d exists already; choose another id", r.ID)}, nil
	}
	for _, w := range r.Words {
		if _, err := b.exec(ctx, b.st.insertWord, w.Text, seq, w.Field, w.Pos, len(r.Words)); err != nil {
			return store.Outcome{}, err
		}
	}
	if c.Retry != nil {
		if err := b.rememberRetry(ctx, *c.Retry, seq); err != nil {
			return store.Outcome{}, err
		}
	}
	b.plants = seq
	b.words += len(r.Words)
	b.tags[r.Tag]++
	return store.Outcome{Plant: c.Plant.Plant}, nil
}

// finish brings the totals up to date.
func (b *batch) finish(ctx context.Context) error {
	if len(b.tags) == 0 {
		return nil // nothing was created
	}
	for tag, n := range b.tags {
		if _, err := b.exec(ctx, b.st.countTag, tag, n); err != nil {
			return err
		}
	}
	_, err := b.exec(ctx, b.st.writeTotals, b.plants, b.words)
	return err
}
