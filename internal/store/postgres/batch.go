package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
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
	number    int64 // random, stored with each plant
	now       time.Time
	creations []store.Creation
	rows      []store.Row
	outcomes  []store.Outcome
	uncertain error // set if it is unknown whether the batch was committed

	// Results of lockAndRead.
	plants   int64 // number of plants before
	takenIDs map[int64]bool
	replays  map[idempotencyID]replay

	created columns
}

// columns are the rows to write, by column.
type columns struct {
	seqs     []int64
	ids      []int64
	names    []string
	nameKeys [][]byte
	tags     []string
	given    []bool
	tagKeys  [][]byte

	words      []string
	wordSeqs   []int64
	wordFields []int32
	wordPlaces []int32
	wordTotals []int32

	credentials []string
	keys        []string
	bodies      [][]byte
	keySeqs     []int64

	perTag map[string]int64
}

func newBatch(now time.Time, creations []store.Creation, rows []store.Row) *batch {
	return &batch{
		number: rand.Int64(), now: now, creations: creations, rows: rows,
		takenIDs: map[int64]bool{}, replays: map[idempotencyID]replay{}, created: columns{perTag: map[string]int64{}},
	}
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
	b.decideOutcomes()
	// Do not cancel with the caller: the result would be unknown, and other callers share the batch.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
	defer cancel()
	err = b.write(ctx, conn)
	if u, ok := errors.AsType[*uncertainError](err); ok {
		if len(b.created.seqs) == 0 {
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
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM plants WHERE seq = $1 AND batch = $2)", b.created.seqs[0], b.number).Scan(&yes)
	return yes, err
}

const lockTotals = "SELECT plants FROM totals FOR UPDATE"

// lockAndRead begins the transaction, takes the lock and reads the plants and keys that the batch may conflict with.
func (b *batch) lockAndRead(ctx context.Context, conn *pgxpool.Conn) error {
	ids := make([]int64, len(b.rows))
	for i, r := range b.rows {
		ids[i] = r.ID
	}
	var q pgx.Batch
	q.Queue("begin isolation level read committed")
	q.Queue(lockTotals).QueryRow(func(row pgx.Row) error { return row.Scan(&b.plants) })
	q.Queue("SELECT id FROM plants WHERE id = ANY($1::bigint[])", ids).Query(func(rows pgx.Rows) error {
		var id int64
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			b.takenIDs[id] = true
			return nil
		})
		return err
	})
	b.queueIdempotencyKeys(&q)
	return conn.SendBatch(ctx, &q).Close()
}

// decideOutcomes determines the outcome of each plant, in order.
func (b *batch) decideOutcomes() {
	b.outcomes = make([]store.Outcome, len(b.creations))
	for i, c := range b.creations {
		r := b.rows[i]
		if c.IdempotencyKey != nil {
			if o, found := b.findReplay(*c.IdempotencyKey); found {
				b.outcomes[i] = o
				continue
			}
		}
		if b.takenIDs[r.ID] {
			b.outcomes[i].Err = herb.Invalidf("a plant with id %d exists already; choose another id", r.ID)
			continue
		}
		seq := b.plants + int64(len(b.created.seqs)) + 1
		b.takenIDs[r.ID] = true
		b.created.add(seq, r)
		if c.IdempotencyKey != nil {
			b.addIdempotencyKey(*c.IdempotencyKey, seq, c.Plant.Plant)
		}
		b.outcomes[i].Plant = c.Plant.Plant
	}
}

// add adds the rows of a plant and its words.
func (c *columns) add(seq int64, r store.Row) {
	c.seqs = append(c.seqs, seq)
	c.ids = append(c.ids, r.ID)
	c.names = append(c.names, r.Name)
	c.nameKeys = append(c.nameKeys, r.NameKey)
	c.tags = append(c.tags, r.Tag)
	c.given = append(c.given, r.TagGiven)
	c.tagKeys = append(c.tagKeys, r.TagKey)
	for _, w := range r.Words {
		c.words = append(c.words, w.Text)
		c.wordSeqs = append(c.wordSeqs, seq)
		c.wordFields = append(c.wordFields, int32(w.Field))
		c.wordPlaces = append(c.wordPlaces, int32(w.Pos))
		c.wordTotals = append(c.wordTotals, int32(len(r.Words)))
	}
	c.perTag[r.Tag]++
}

// write writes the rows and commits.
func (b *batch) write(ctx context.Context, conn *pgxpool.Conn) error {
	var q pgx.Batch
	if len(b.created.seqs) > 0 {
		b.created.queue(&q, b)
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

// queue queues the statements that write the rows.
func (c *columns) queue(q *pgx.Batch, b *batch) {
	q.Queue("INSERT INTO plants (seq, id, name, name_key, tag, tag_given, tag_key, batch) SELECT u.*, $8::bigint FROM "+
		"unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::text[], $6::boolean[], $7::bytea[]) u",
		c.seqs, c.ids, c.names, c.nameKeys, c.tags, c.given, c.tagKeys, b.number)
	if len(c.words) > 0 {
		q.Queue("INSERT INTO plant_words (word, seq, field, pos, words) SELECT * FROM "+
			"unnest($1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[])",
			c.words, c.wordSeqs, c.wordFields, c.wordPlaces, c.wordTotals)
	}
	if len(c.keys) > 0 {
		q.Queue("INSERT INTO retries (credential, key, body, seq, created) SELECT u.*, $5::bigint FROM "+
			"unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[]) u",
			c.credentials, c.keys, c.bodies, c.keySeqs, b.now.UnixMicro())
	}
	c.queueTotals(q)
}

// queueTotals queues the updates of the counts.
func (c *columns) queueTotals(q *pgx.Batch) {
	tags, counts := make([]string, 0, len(c.perTag)), make([]int64, 0, len(c.perTag))
	for tag, n := range c.perTag {
		tags, counts = append(tags, tag), append(counts, n)
	}
	q.Queue("INSERT INTO plant_tags (tag, plants) SELECT * FROM unnest($1::text[], $2::bigint[]) "+
		"ON CONFLICT (tag) DO UPDATE SET plants = plant_tags.plants + excluded.plants", tags, counts)
	q.Queue("UPDATE totals SET plants = plants + $1, words = words + $2", int64(len(c.seqs)), int64(len(c.words)))
}
