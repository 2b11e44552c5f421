package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/semaphore"

	"herbarium/internal/store"
)

// Backoff between attempts.
const (
	minBackoff = 10 * time.Millisecond
	maxBackoff = 250 * time.Millisecond
)

// retry runs do until it succeeds, fails permanently or exhausts the budget. do must not have
// changed anything when it fails because of a conflict or a lost connection. A connection that does
// not answer takes time that does not count, once.
func retry(ctx context.Context, budget time.Duration, do func(context.Context) error) error {
	until, stalled := time.Now().Add(budget), false
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil || !isConflict(err) && !isConnectionLost(err) {
			return err
		}
		if errors.Is(err, errStalled) && !stalled {
			until, stalled = time.Now().Add(budget), true
			continue
		}
		if _, ok := errors.AsType[*uncertainError](err); ok || time.Now().Add(wait).After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)): // jitter: nodes that conflicted should not conflict again
		}
	}
}

// call is retry within the limits of a call, after schema migrations, with mapped errors.
func (s *Store) call(ctx context.Context, what string, do func(context.Context) error) error {
	if err := s.Available(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := migrationError(s.migration.wait(limited))
	if err == nil {
		err = retry(limited, s.options.RetryBudget, func(ctx context.Context) error {
			err := do(ctx)
			if codeOf(err) == readOnlyTransaction {
				s.pool.Reset() // all connections lead to the former primary
			}
			return err
		})
	}
	if err != nil && ctx.Err() != nil { // canceled by the caller; the database did not fail
		return errors.Join(ctx.Err(), err)
	}
	return mapError(what, err)
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	o := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return s.callRead(ctx, what, func(ctx context.Context) error { return s.inTx(ctx, o, do) })
}

// callRead is call for a read. Reads leave a connection of the pool to writes.
func (s *Store) callRead(ctx context.Context, what string, do func(context.Context) error) error {
	return s.call(ctx, what, func(ctx context.Context) error {
		if !s.readSlots.TryAcquire(1) {
			began := time.Now()
			err := s.readSlots.Acquire(ctx, 1)
			s.readWaits.Add(1)
			s.readWait.Add(int64(time.Since(began)))
			if err != nil {
				return err
			}
		}
		defer s.readSlots.Release(1)
		return do(ctx)
	})
}

// Pool returns the use of the connections. Reads that leave a connection to writes wait as well.
func (s *Store) Pool() store.Pool {
	p := s.pool.Stat()
	return store.Pool{
		InUse: int(p.AcquiredConns()), Idle: int(p.IdleConns()), Max: int(p.MaxConns()),
		Waits:  p.EmptyAcquireCount() + s.readWaits.Load(),
		Waited: p.EmptyAcquireWaitTime() + time.Duration(s.readWait.Load()),
	}
}

// newReadSlots limits the reads that use a pool of connections at once.
func newReadSlots(conns int) *semaphore.Weighted {
	return semaphore.NewWeighted(int64(max(conns-1, 1))) // a pool of one cannot be divided
}

// write runs do in a transaction that is serialized with all other changes of keys, the catalogue
// and source errors. When it returns nil, the changes are committed.
func (s *Store) write(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	err := s.call(ctx, what, func(ctx context.Context) error {
		o := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
		return s.inTx(ctx, o, func(ctx context.Context, tx store.Tx) error {
			// With read committed, each statement after the lock sees everything that earlier
			// holders of the lock committed.
			if err := tx.QueryRowContext(ctx,
				"SELECT generation FROM catalogue FOR UPDATE").Scan(new(int64)); err != nil {
				return err
			}
			return do(ctx, tx)
		})
	})
	s.recordWrite(err)
	return err
}

// recordWrite records whether writes fail because the disk of the server is full.
func (s *Store) recordWrite(err error) {
	if err == nil || codeOf(err) == diskFull {
		s.diskFull.Store(err != nil)
	}
}

func (s *Store) inTx(ctx context.Context, o *sql.TxOptions, do func(context.Context, store.Tx) error) error {
	return s.onConn(ctx, func(ctx context.Context, conn *sql.Conn, answered func()) error {
		tx, err := conn.BeginTx(ctx, o)
		if err != nil {
			return err
		}
		answered()
		return finishTx(ctx, tx, o, do)
	})
}

// finishTx runs do in a transaction that has begun, and commits it if do returns nil.
func finishTx(ctx context.Context, tx *sql.Tx, o *sql.TxOptions, do func(context.Context, store.Tx) error) error {
	// Statements are not prepared: a plan that was cached while a table was small would scan the
	// table after it has grown, and batches of many sizes would be prepared one by one.
	if err := do(ctx, numbered{Tx: tx, options: []any{pgx.QueryExecModeExec}}); err != nil {
		_ = tx.Rollback() // if this fails, the connection is lost and the transaction with it
		return err
	}
	err := tx.Commit()
	if o.ReadOnly {
		return err // nothing to commit
	}
	return commitError(err)
}

// numbered accepts statements with ? placeholders, in a transaction or outside of one.
type numbered struct {
	store.Tx
	options  []any  // of the driver; precede the arguments
	answered func() // called after each query; nil disables it
}

func (n numbered) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := n.Tx.QueryContext(ctx, store.Numbered(query), slices.Concat(n.options, args)...)
	if err == nil && n.answered != nil {
		n.answered()
	}
	return rows, err
}

func (n numbered) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return n.Tx.QueryRowContext(ctx, store.Numbered(query), slices.Concat(n.options, args)...)
}

// ExecContext replaces NUL in texts, which PostgreSQL cannot store: a title or message may contain
// it. JSON is unaffected, because it escapes NUL.
func (n numbered) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = strings.ReplaceAll(text, "\x00", "\uFFFD")
		}
	}
	return n.Tx.ExecContext(ctx, store.Numbered(query), slices.Concat(n.options, args)...)
}
