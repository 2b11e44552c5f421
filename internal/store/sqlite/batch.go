package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// batch is a transaction that creates plants.
type batch struct {
	tx     *sql.Tx
	st     statements
	now    time.Time
	plants int64          // number of plants, including those of the batch
	words  []wordRow      // words of the batch; inserted by finish
	tags   map[string]int // plants of the batch per tag
}

// wordRow is a row of plant_words.
type wordRow struct {
	store.Word
	seq   int64
	words int // the number of words of the plant
}

func (s *Store) newBatch(ctx context.Context, tx *sql.Tx) (*batch, error) {
	b := &batch{tx: tx, st: s.st, now: s.now(), tags: map[string]int{}}
	if err := tx.StmtContext(ctx, b.st.readTotal).QueryRowContext(ctx).Scan(&b.plants); err != nil {
		return nil, err
	}
	return b, b.expireIdempotencyKeys(ctx)
}

// exec runs a statement that was prepared outside the transaction.
func (b *batch) exec(ctx context.Context, stmt *sql.Stmt, args ...any) (changed int64, err error) {
	result, err := b.tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// create creates a plant, unless its idempotency key was used before or its ID exists.
func (b *batch) create(ctx context.Context, c store.Creation, r store.Row) (store.Outcome, error) {
	if c.IdempotencyKey != nil {
		o, found, err := b.findReplay(ctx, *c.IdempotencyKey)
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
		b.words = append(b.words, wordRow{w, seq, len(r.Words)})
	}
	if c.IdempotencyKey != nil {
		if err := b.addIdempotencyKey(ctx, *c.IdempotencyKey, seq); err != nil {
			return store.Outcome{}, err
		}
	}
	b.plants = seq
	b.tags[r.Tag]++
	return store.Outcome{Plant: c.Plant.Plant}, nil
}

// finish inserts the words and updates the totals.
func (b *batch) finish(ctx context.Context) error {
	if len(b.tags) == 0 {
		return nil // nothing was created
	}
	if err := b.insertWords(ctx); err != nil {
		return err
	}
	for tag, n := range b.tags {
		if _, err := b.exec(ctx, b.st.countTag, tag, n); err != nil {
			return err
		}
	}
	_, err := b.exec(ctx, b.st.writeTotals, b.plants, len(b.words))
	return err
}

// wordsPerInsert is the number of rows that one statement inserts when a batch has that many words.
const wordsPerInsert = 100

// insertWords inserts the words of the batch in primary key order, so that each page of a large batch is written once, and
// many rows per statement, because the cost per call exceeds the cost per row.
func (b *batch) insertWords(ctx context.Context) error {
	slices.SortStableFunc(b.words, func(x, y wordRow) int { return strings.Compare(x.Text, y.Text) })
	args := make([]any, 0, 5*min(len(b.words), wordsPerInsert))
	for rows := b.words; len(rows) > 0; {
		n, stmt := 1, b.st.insertWord
		if len(rows) >= wordsPerInsert {
			n, stmt = wordsPerInsert, b.st.insertWords
		}
		args = args[:0]
		for _, w := range rows[:n] {
			args = append(args, w.Text, w.seq, w.Field, w.Pos, w.words)
		}
		if _, err := b.exec(ctx, stmt, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
