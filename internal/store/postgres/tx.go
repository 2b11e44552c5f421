package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"herbarium/internal/store"
)

// Backoff between attempts.
const (
	minBackoff = 10 * time.Millisecond
	maxBackoff = 250 * time.Millisecond
)

// retry runs do until it succeeds, fails permanently or exhausts the budget. do must not have changed anything when it fails
// because of a conflict or a lost connection.
func retry(ctx context.Context, budget time.Duration, do func(context.Context) error) error {
	until := time.Now().Add(budget)
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil || !isConflict(err) && !isConnectionLost(err) {
			return err
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
	err := s.migration.wait(limited)
	if err != nil {
		err = migrationError(err)
	} else {
		err = s.retry(limited, do)
	}
	if err != nil && ctx.Err() != nil { // the caller left; the database did not fail
		return errors.Join(ctx.Err(), err)
	}
	return mapError(what, err)
}

func (s *Store) retry(ctx context.Context, do func(context.Context) error) error {
	return retry(ctx, s.options.RetryBudget, func(ctx context.Context) error {
		err := do(ctx)
		if codeOf(err) == readOnlyTransaction {
			s.pool.Reset() // all connections lead to the former primary
		}
		return err
	})
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	return s.readIn(ctx, s.lanes.cheap(), what, func(ctx context.Context, tx numbered) error { return do(ctx, tx) })
}

// ReadPlants implements store.PlantReader.
func (s *Store) ReadPlants(ctx context.Context, expensive bool, do func(context.Context, store.Querier) error) error {
	lane := s.lanes.cheap()
	if expensive {
		lane = s.lanes.expensive()
	}
	return s.readIn(ctx, lane, "reading plants", func(ctx context.Context, tx numbered) error { return do(ctx, tx) })
}

func (s *Store) readIn(ctx context.Context, lane lane, what string, do func(context.Context, numbered) error) error {
	o := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return s.call(ctx, what, func(ctx context.Context) error {
		release, err := lane.enter(ctx)
		if err != nil {
			return err
		}
		defer release()
		err = s.inTx(ctx, o, do)
		if e, ok := errors.AsType[*uncertainError](err); ok {
			return e.err // nothing to commit
		}
		return err
	})
}

// write runs do in a transaction that is serialized with all other changes of keys, the catalogue and source errors. When it
// returns nil, the changes are committed.
func (s *Store) write(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	err := s.call(ctx, what, func(ctx context.Context) error {
		o := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
		return s.inTx(ctx, o, func(ctx context.Context, tx numbered) error {
			// With read committed, each statement after the lock sees everything that earlier holders of the lock committed.
			if err := tx.QueryRowContext(ctx, "SELECT generation FROM catalogue FOR UPDATE").Scan(new(int64)); err != nil {
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

func (s *Store) inTx(ctx context.Context, o *sql.TxOptions, do func(context.Context, numbered) error) error {
	tx, err := s.db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	if err := do(ctx, numbered{tx}); err != nil {
		_ = tx.Rollback() // if this fails, the connection is lost and the transaction with it
		return err
	}
	return commitError(tx.Commit())
}

// numbered is a transaction that accepts ? placeholders.
type numbered struct{ tx *sql.Tx }

func (n numbered) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return n.tx.QueryContext(ctx, store.Numbered(query), args...)
}

func (n numbered) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return n.tx.QueryRowContext(ctx, store.Numbered(query), args...)
}

// ArrayElements implements store.Querier.
func (numbered) ArrayElements() string {
	return "SELECT value::bigint FROM json_array_elements_text(?::json)"
}

// ExecContext replaces NUL in texts, which PostgreSQL cannot store: a title or message may contain it. JSON is unaffected,
// because it escapes NUL.
func (n numbered) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = strings.ReplaceAll(text, "\x00", "\uFFFD")
		}
	}
	return n.tx.ExecContext(ctx, store.Numbered(query), args...)
}

// lanes divide the connections of the pool. Reads never occupy all of them, so that a write finds one; expensive reads
// occupy only some of those, so that cheap reads find one.
type lanes struct {
	reads, scans chan struct{} // one element per running call
}

func newLanes(conns int) lanes {
	reads := max(conns-1, 1) // a pool of one cannot be divided
	return lanes{reads: make(chan struct{}, reads), scans: make(chan struct{}, max(reads/2, 1))}
}

// lane is the sequence of semaphores that a call acquires before it takes a connection.
type lane []chan struct{}

func (l lanes) cheap() lane     { return lane{l.reads} }
func (l lanes) expensive() lane { return lane{l.scans, l.reads} }

// enter acquires the semaphores and returns a function that releases them.
func (l lane) enter(ctx context.Context) (release func(), err error) {
	entered := 0
	release = func() {
		for _, places := range l[:entered] {
			<-places
		}
	}
	for _, places := range l {
		select {
		case places <- struct{}{}:
			entered++
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}
