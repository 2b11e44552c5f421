package sqlite

import (
	"context"
	"encoding/json"
	"errors"
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

// insertPlants stores the created plants and updates the totals, many rows per statement, because the cost per call exceeds
// the cost per row.
func insertPlants(ctx context.Context, tx store.Tx, b *store.Batch, now time.Time) error {
	if len(b.Created) == 0 {
		return nil
	}
	var plants, keys [][]any
	for _, p := range b.Created {
		tag, given := store.TagColumns(p.Plant)
		plants = append(plants, []any{p.Seq, p.ID, p.Name, tag, given, b.Number})
		if k := p.IdempotencyKey; k != nil {
			keys = append(keys, []any{k.Credential, k.Key, k.Body[:], p.Seq, now.UnixMicro()})
		}
	}
	if err := store.Insert(ctx, tx, "plants (seq, id, name, tag, tag_given, batch)", plants, ""); err != nil {
		return err
	}
	if err := store.Insert(ctx, tx, "retries (credential, key, body, seq, created)", keys, ""); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE totals SET plants = plants + ?", len(plants))
	return err
}

// ReadPlants returns up to limit plants that follow the first n in creation order.
func (s *Store) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	page, err := store.ReadPlants(ctx, s.reader, n, limit)
	return page, mapError("reading plants", err)
}
