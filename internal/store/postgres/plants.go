package postgres

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// CreatePlants creates plants in one transaction. A plant that cannot be created has an error in
// its outcome and does not affect the others; if CreatePlants itself fails, nothing was created,
// unless the error states that this is unknown.
//
// The transaction is one statement, so that a node that hangs or is cut off does not block the
// others. What to create is decided before, without a lock: if an ID or idempotency key is used by
// another node in the meantime, the statement fails, and the decision is repeated.
func (s *Store) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	var b store.Batch
	var uncertain []store.Batch // attempts that may have been committed
	var cause error             // of the last one
	err := s.call(ctx, "creating plants", func(ctx context.Context) error {
		// Do not cancel with the caller: the result would be unknown, and other callers share the
		// batch.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
		defer cancel()
		return s.onConn(ctx, func(ctx context.Context, conn *sql.Conn, answered func()) (err error) {
			now, tx := s.options.Now(), numbered{conn, []any{pgx.QueryExecModeExec}, answered}
			b, err = store.PlanBatch(ctx, tx, creations, now)
			if err != nil {
				return err
			}
			// An attempt that is committed later has IDs in common with b, and makes the statement
			// below fail.
			for _, earlier := range uncertain {
				committed, err := earlier.Committed(ctx, tx)
				if err != nil {
					return err
				}
				if committed {
					b = earlier
					return nil
				}
			}
			if len(b.Plants) == 0 {
				return nil
			}
			err = insertBatch(ctx, conn, b, now)
			if e, ok := errors.AsType[*uncertainError](err); ok {
				uncertain, cause = append(uncertain, b), e.err
				return e.err // retried
			}
			return err
		})
	})
	s.recordWrite(err)
	if err != nil {
		if cause != nil && herb.CodeOf(err) == herb.CodeUnavailable {
			err = mapError("creating plants", &uncertainError{errors.Join(cause, err)})
		}
		return nil, err
	}
	return b.Outcomes, nil
}

// insertPlants inserts a batch. The update locks the row with the number of plants, so that plants
// are numbered without gaps in commit order.
const insertPlants = `
WITH total AS (UPDATE totals SET plants = plants + $1::bigint RETURNING plants - $1::bigint AS before),
created AS (
    INSERT INTO plants (seq, id, name, tag, tag_given, batch)
    SELECT total.before + p.n, p.id, p.name, p.tag, p.given, $2::bigint
    FROM total, unnest($3::bigint[], $4::text[], $5::text[], $6::boolean[]) WITH ORDINALITY AS p (id, name, tag, given, n)
)
INSERT INTO retries (credential, key, body, seq, created)
SELECT k.credential, k.key, k.body, total.before + k.n, $7::bigint
FROM total, unnest($8::text[], $9::text[], $10::bytea[], $11::bigint[]) AS k (credential, key, body, n)`

// insertBatch inserts a batch in one round trip.
func insertBatch(ctx context.Context, conn *sql.Conn, b store.Batch, now time.Time) error {
	var ids, positions []int64
	var names, tags, credentials, keys []string
	var given []bool
	var bodies [][]byte
	for _, p := range b.Plants {
		tag, has := store.TagColumns(p.Plant)
		ids, names, tags, given = append(ids, p.ID), append(names, p.Name), append(tags, tag), append(given, has)
	}
	for _, k := range b.Keys {
		credentials, keys = append(credentials, k.Credential), append(keys, k.Key)
		bodies, positions = append(bodies, k.Body[:]), append(positions, int64(k.Plant))
	}
	_, err := conn.ExecContext(ctx, insertPlants, pgx.QueryExecModeExec, int64(len(ids)), b.Number, ids, names,
		tags, given,
		now.UnixMicro(), credentials, keys, bodies, positions)
	if isTaken(err) {
		return errors.Join(errTaken, err)
	}
	return commitError(err)
}

// ReadPlants returns up to limit plants that follow the first n in creation order. It takes one
// round trip.
func (s *Store) ReadPlants(ctx context.Context, n, limit int) (page store.PlantPage, err error) {
	err = s.callRead(ctx, "reading plants", func(ctx context.Context) error {
		return s.onConn(ctx, func(ctx context.Context, conn *sql.Conn, answered func()) error {
			page, err = store.ReadPlants(ctx, numbered{Tx: conn, answered: answered}, n, limit)
			return err
		})
	})
	return page, err
}
