package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"herbarium/internal/store"
)

// batch is a transaction that creates plants.
type batch struct {
	*store.Batch
	tx  *sql.Tx
	st  statements
	now time.Time
}

// exec runs a statement that was prepared outside the transaction.
func (b *batch) exec(ctx context.Context, stmt *sql.Stmt, args ...any) error {
	_, err := b.tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	return err
}

// each calls scan for each row of a prepared query, whose parameter is encoded as JSON.
func (b *batch) each(ctx context.Context, stmt *sql.Stmt, param any, scan func(*sql.Rows) error) error {
	list, err := json.Marshal(param)
	if err != nil {
		return err
	}
	rows, err := b.tx.StmtContext(ctx, stmt).QueryContext(ctx, string(list))
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = scan(rows)
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// read reads the plants and keys that the batch may conflict with.
func (b *batch) read(ctx context.Context) error {
	if err := b.tx.StmtContext(ctx, b.st.readTotal).QueryRowContext(ctx).Scan(&b.Plants); err != nil {
		return err
	}
	if err := b.each(ctx, b.st.findIDs, b.IDs(), func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		b.TakenIDs[id] = true
		return err
	}); err != nil {
		return err
	}
	credentials, keys := b.IdempotencyNames()
	if len(keys) == 0 {
		return nil
	}
	if err := b.exec(ctx, b.st.expireKeys, b.now.Add(-store.IdempotencyRetention).UnixMicro(), store.MaxExpired); err != nil {
		return err
	}
	names := make([][2]string, len(keys))
	for i := range keys {
		names[i] = [2]string{credentials[i], keys[i]}
	}
	return b.each(ctx, b.st.findReplays, names, func(rows *sql.Rows) error {
		var credential, key, name, tag string
		var body []byte
		var given bool
		err := rows.Scan(&credential, &key, &body, &name, &tag, &given)
		b.AddReplay(credential, key, body, name, tag, given)
		return err
	})
}

// write stores the created plants and updates the totals.
func (b *batch) write(ctx context.Context) error {
	for _, p := range b.Created {
		if err := b.exec(ctx, b.st.insertPlant, p.Seq, p.ID, p.Name, p.NameKey, p.Tag, p.TagGiven, p.TagKey); err != nil {
			return err
		}
		if k := p.IdempotencyKey; k != nil {
			if err := b.exec(ctx, b.st.insertKey, k.Credential, k.Key, k.Body[:], p.Seq, b.now.UnixMicro()); err != nil {
				return err
			}
		}
	}
	words, err := b.insertWords(ctx)
	if err != nil {
		return err
	}
	for tag, n := range b.PlantsPerTag() {
		if err := b.exec(ctx, b.st.countTag, tag, n); err != nil {
			return err
		}
	}
	if len(b.Created) == 0 {
		return nil
	}
	return b.exec(ctx, b.st.writeTotals, len(b.Created), words)
}

// wordsPerInsert is the number of rows that one statement inserts when a batch has that many words.
const wordsPerInsert = 100

// insertWords inserts the words of the batch in primary key order, so that each page of a large batch is written once, and
// many rows per statement, because the cost per call exceeds the cost per row. It returns their number.
func (b *batch) insertWords(ctx context.Context) (n int, err error) {
	type wordRow struct {
		store.Word
		plant *store.CreatedPlant
	}
	var words []wordRow
	for i := range b.Created {
		for _, w := range b.Created[i].Words {
			words = append(words, wordRow{w, &b.Created[i]})
		}
	}
	slices.SortStableFunc(words, func(x, y wordRow) int { return strings.Compare(x.Text, y.Text) })
	for rows := words; len(rows) > 0; {
		n, stmt := 1, b.st.insertWord
		if len(rows) >= wordsPerInsert {
			n, stmt = wordsPerInsert, b.st.insertWords
		}
		args := make([]any, 0, 5*n)
		for _, w := range rows[:n] {
			args = append(args, w.Text, w.plant.Seq, w.Field, w.Pos, len(w.plant.Words))
		}
		if err := b.exec(ctx, stmt, args...); err != nil {
			return 0, err
		}
		rows = rows[n:]
	}
	return len(words), nil
}
