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

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) (outcomes []store.Outcome, err error) {
	b, now := store.NewBatch(creations), s.now()
	err = s.write(ctx, "creating plants", func(ctx context.Context, tx store.Tx) error {
		if err := readConflicts(ctx, tx, b, now); err != nil {
			return err
		}
		outcomes = b.Decide()
		return insertPlants(ctx, tx, b, now)
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// readConflicts reads the plants and idempotency keys that a batch may conflict with.
func readConflicts(ctx context.Context, tx store.Tx, b *store.Batch, now time.Time) error {
	if err := tx.QueryRowContext(ctx, "SELECT plants FROM totals").Scan(&b.Plants); err != nil {
		return err
	}
	var id int64
	err := forEach(ctx, tx, "SELECT id FROM plants WHERE id IN (SELECT value FROM json_each(?))", b.IDs(), []any{&id}, func() {
		b.TakenIDs[id] = true
	})
	credentials, keys := b.IdempotencyNames()
	if err != nil || len(keys) == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, store.ExpireIdempotencyKeys, now.Add(-store.IdempotencyRetention).UnixMicro(), store.MaxExpired); err != nil {
		return err
	}
	names := make([][2]string, len(keys))
	for i := range keys {
		names[i] = [2]string{credentials[i], keys[i]}
	}
	var credential, key, name, tag string
	var body []byte
	var given bool
	return forEach(ctx, tx, store.SelectReplays+"(SELECT value ->> 0, value ->> 1 FROM json_each(?))", names,
		[]any{&credential, &key, &body, &name, &tag, &given}, func() {
			b.AddReplay(credential, key, body, name, tag, given)
		})
}

// forEach scans each row of a query, whose parameter is encoded as JSON, and calls do.
func forEach(ctx context.Context, tx store.Tx, query string, param any, dest []any, do func()) error {
	list, err := json.Marshal(param)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, query, string(list))
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = rows.Scan(dest...)
		do()
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// insertPlants stores the created plants and updates the totals. Words are inserted in primary key order, so that each page
// of a large batch is written once, and many rows per statement, because the cost per call exceeds the cost per row.
func insertPlants(ctx context.Context, tx store.Tx, b *store.Batch, now time.Time) error {
	var plants, keys, words, tags [][]any
	for _, p := range b.Created {
		plants = append(plants, []any{p.Seq, p.ID, p.Name, p.NameKey, p.Tag, p.TagGiven, p.TagKey})
		if k := p.IdempotencyKey; k != nil {
			keys = append(keys, []any{k.Credential, k.Key, k.Body[:], p.Seq, now.UnixMicro()})
		}
		for _, w := range p.Words {
			words = append(words, []any{w.Text, p.Seq, w.Field, w.Pos, len(p.Words)})
		}
	}
	for tag, n := range b.PlantsPerTag() {
		tags = append(tags, []any{tag, n})
	}
	slices.SortStableFunc(words, func(x, y []any) int { return strings.Compare(x[0].(string), y[0].(string)) })
	for _, table := range []struct {
		into   string
		rows   [][]any
		suffix string
	}{
		{"plants (seq, id, name, name_key, tag, tag_given, tag_key)", plants, ""},
		{"retries (credential, key, body, seq, created)", keys, ""},
		{"plant_words (word, seq, field, pos, words)", words, ""},
		{"plant_tags (tag, plants)", tags, store.AddTagCount},
	} {
		if err := store.Insert(ctx, tx, table.into, table.rows, table.suffix); err != nil {
			return err
		}
	}
	if len(plants) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE totals SET plants = plants + ?, words = words + ?", len(plants), len(words))
	return err
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
