package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// batch is a transaction that creates plants. It holds the lock on the row of totals, so batches are serialized: it reads
// what it needs to know, decides the outcome of each plant in memory, and writes all of them with a few statements. Other
// transactions see all of it or nothing.
type batch struct {
	*store.Batch
	now       time.Time
	outcomes  []store.Outcome
	uncertain error // set if it is unknown whether the batch was committed
}

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in its outcome and does not
// affect the others; if CreatePlants itself fails, nothing was created, unless the error states that this is unknown.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	if len(creations) == 0 {
		return nil, nil
	}
	b := &batch{Batch: store.NewBatch(creations), now: s.options.Now()}
	err := s.call(ctx, "creating plants", func(ctx context.Context) error {
		if b.uncertain != nil { // the connection broke during the commit of an earlier attempt
			if committed, err := s.committed(ctx, b); err != nil || committed {
				return err
			}
		}
		b.Reset()
		b.uncertain = nil
		return s.commit(ctx, b)
	})
	s.recordWrite(err)
	if err != nil {
		if b.uncertain != nil && herb.CodeOf(err) == herb.CodeUnavailable {
			err = mapError("creating plants", &uncertainError{errors.Join(b.uncertain, err)})
		}
		return nil, err
	}
	return b.outcomes, nil
}

// ReadPlants returns up to limit plants that follow the first n in creation order. It takes one round trip.
func (s *Store) ReadPlants(ctx context.Context, n, limit int) (page store.PlantPage, err error) {
	err = s.callRead(ctx, "reading plants", func(ctx context.Context) error {
		page, err = store.ReadPlants(ctx, numbered{s.db}, n, limit)
		return err
	})
	return page, err
}

// commit creates the plants of a batch. It takes two round trips and holds the lock on the row of totals from the middle of
// the first to the end of the second.
func (s *Store) commit(ctx context.Context, b *batch) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // closes the connection if the transaction is still open
	if err := b.lockAndRead(ctx, conn); err != nil {
		return rollback(ctx, conn, err)
	}
	b.outcomes = b.Decide()
	// Do not cancel with the caller: the result would be unknown, and other callers share the batch.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	err = b.write(ctx, conn)
	if u, ok := errors.AsType[*uncertainError](err); ok {
		if len(b.Created) == 0 {
			return nil // nothing to commit except expired keys
		}
		b.uncertain = u.err
		return u.err
	}
	return rollback(ctx, conn, err)
}

// rollback ends a failed transaction, so that its connection can be used again.
func rollback(ctx context.Context, conn *pgxpool.Conn, err error) error {
	if err != nil && !conn.Conn().IsClosed() {
		_, _ = conn.Exec(ctx, "rollback") // if this fails, the connection is lost and the transaction with it
	}
	return err
}

// committed reports whether a batch was committed. Waiting for the lock that the batch held ensures that it has ended.
func (s *Store) committed(ctx context.Context, b *batch) (yes bool, err error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing is written
	if err := tx.QueryRow(ctx, lockTotals).Scan(new(int64)); err != nil {
		return false, err
	}
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM plants WHERE seq = $1 AND batch = $2)", b.Created[0].Seq, b.Number).Scan(&yes)
	return yes, err
}

const lockTotals = "SELECT plants FROM totals FOR UPDATE"

// lockAndRead begins the transaction, takes the lock and reads the plants and keys that the batch may conflict with.
func (b *batch) lockAndRead(ctx context.Context, conn *pgxpool.Conn) error {
	var q pgx.Batch
	q.Queue("begin isolation level read committed")
	q.Queue(lockTotals).QueryRow(func(row pgx.Row) error { return row.Scan(&b.Plants) })
	q.Queue("SELECT id FROM plants WHERE id = ANY($1::bigint[])", b.IDs()).Query(func(rows pgx.Rows) error {
		var id int64
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			b.TakenIDs[id] = true
			return nil
		})
		return err
	})
	b.queueIdempotencyKeys(&q)
	return conn.SendBatch(ctx, &q).Close()
}

// queueIdempotencyKeys deletes some of the expired idempotency keys and reads the plants created with the keys of the
// batch. It does nothing for a batch without keys.
func (b *batch) queueIdempotencyKeys(q *pgx.Batch) {
	credentials, keys := b.IdempotencyNames()
	if len(keys) == 0 {
		return
	}
	q.Queue(store.Numbered(store.ExpireIdempotencyKeys), b.now.Add(-store.IdempotencyRetention).UnixMicro(), store.MaxExpired)
	q.Queue(store.SelectReplays+"(SELECT * FROM unnest($1::text[], $2::text[]))", credentials, keys).
		Query(func(rows pgx.Rows) error {
			var credential, key, name, tag string
			var body []byte
			var given bool
			_, err := pgx.ForEachRow(rows, []any{&credential, &key, &body, &name, &tag, &given}, func() error {
				b.AddReplay(credential, key, body, name, tag, given)
				return nil
			})
			return err
		})
}

// write writes the rows and commits.
func (b *batch) write(ctx context.Context, conn *pgxpool.Conn) error {
	var q pgx.Batch
	if len(b.Created) > 0 {
		b.queueRows(&q)
	}
	q.Queue("commit")
	results := conn.SendBatch(ctx, &q)
	for range q.Len() - 1 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // same error
			if codeOf(err) == "" {
				return &uncertainError{err} // the server may have received everything
			}
			return err // the server has skipped the commit
		}
	}
	done, err := results.Exec()
	if err == nil && done.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	if end := results.Close(); err == nil {
		err = end
	}
	return commitError(err)
}

// queueRows queues the statements that write the created plants. Each gets its rows as one array per column.
func (b *batch) queueRows(q *pgx.Batch) {
	var seqs, ids, keySeqs []int64
	var names, tags, credentials, keys []string
	var bodies [][]byte
	var given []bool
	for _, p := range b.Created {
		tag, tagGiven := store.TagColumns(p.Plant)
		seqs, ids, names = append(seqs, p.Seq), append(ids, p.ID), append(names, p.Name)
		tags, given = append(tags, tag), append(given, tagGiven)
		if k := p.IdempotencyKey; k != nil {
			credentials, keys = append(credentials, k.Credential), append(keys, k.Key)
			bodies, keySeqs = append(bodies, k.Body[:]), append(keySeqs, p.Seq)
		}
	}
	q.Queue("INSERT INTO plants (seq, id, name, tag, tag_given, batch) SELECT u.*, $6::bigint FROM "+
		"unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::boolean[]) u", seqs, ids, names, tags, given, b.Number)
	if len(keys) > 0 {
		q.Queue("INSERT INTO retries (credential, key, body, seq, created) SELECT u.*, $5::bigint FROM "+
			"unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[]) u", credentials, keys, bodies, keySeqs, b.now.UnixMicro())
	}
	q.Queue("UPDATE totals SET plants = plants + $1", int64(len(seqs)))
}
