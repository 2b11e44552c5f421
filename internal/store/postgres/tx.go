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

// The waits between two attempts.
const (
	firstWait = 10 * time.Millisecond
	mostWait  = 250 * time.Millisecond
)

// attempt runs do until it succeeds, fails for good or has failed for as long as patience lasts. do must have changed
// nothing when it fails because of another transaction or a lost connection.
func attempt(ctx context.Context, patience time.Duration, do func(context.Context) error) error {
	until := time.Now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil || !isConflict(err) && !isLost(err) {
			return err
		}
		if _, ok := errors.AsType[*uncertainError](err); ok || time.Now().Add(wait).After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)): // nodes that met once should not meet again
		}
	}
}

// try is attempt within the limits of a call, once the tables are up to date, with an error that has its place among ours.
func (s *Store) try(ctx context.Context, what string, do func(context.Context) error) error {
	if err := s.Available(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := s.tables.wait(limited)
	if err != nil {
		err = unprepared(err)
	} else {
		err = s.attempt(limited, do)
	}
	if err != nil && ctx.Err() != nil { // the caller has gone; that is no fault of the database
		return errors.Join(ctx.Err(), err)
	}
	return failed(what, err)
}

func (s *Store) attempt(ctx context.Context, do func(context.Context) error) error {
	return attempt(ctx, s.options.Patience, func(ctx context.Context) error {
		err := do(ctx)
		if codeOf(err) == readOnlyTransaction {
			s.pool.Reset() // all connections lead to the server that was the primary
		}
		return err
	})
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	return s.readIn(ctx, s.lanes.cheap(), what, func(ctx context.Context, tx numbered) error { return do(ctx, tx) })
}

// readPlants is read for a listing, which may be expensive.
func (s *Store) readPlants(ctx context.Context, expensive bool, do func(context.Context, store.Querier) error) error {
	lane := s.lanes.cheap()
	if expensive {
		lane = s.lanes.expensive()
	}
	return s.readIn(ctx, lane, "reading plants", func(ctx context.Context, tx numbered) error { return do(ctx, tx) })
}

func (s *Store) readIn(ctx context.Context, lane lane, what string, do func(context.Context, numbered) error) error {
	o := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	return s.try(ctx, what, func(ctx context.Context) error {
		release, err := lane.enter(ctx)
		if err != nil {
			return err
		}
		defer release()
		err = s.inTx(ctx, o, do)
		if e, ok := errors.AsType[*uncertainError](err); ok {
			return e.err // there was nothing to commit
		}
		return err
	})
}

// write runs do in a transaction that is alone in changing keys, the catalogue and troubles. When it returns nil, what do
// has written is committed.
func (s *Store) write(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	err := s.try(ctx, what, func(ctx context.Context) error {
		o := &sql.TxOptions{Isolation: sql.LevelReadCommitted}
		return s.inTx(ctx, o, func(ctx context.Context, tx numbered) error {
			// At this level of isolation, each statement behind the lock sees all that those who had it before have committed.
			var generation int64
			if err := tx.QueryRowContext(ctx, "SELECT generation FROM catalogue FOR UPDATE").Scan(&generation); err != nil {
				return err
			}
			return do(ctx, tx)
		})
	})
	s.recordWrite(err)
	return err
}

// recordWrite remembers whether writes fail because the disk of the server is full.
func (s *Store) recordWrite(err error) {
	if err == nil || codeOf(err) == diskFull {
		s.full.Store(err != nil)
	}
}

func (s *Store) inTx(ctx context.Context, o *sql.TxOptions, do func(context.Context, numbered) error) error {
	tx, err := s.db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	if err := do(ctx, numbered{tx}); err != nil {
		_ = tx.Rollback() // where that fails the connection is lost, and the transaction with it
		return err
	}
	return commitError(tx.Commit())
}

// numbered is a transaction that takes statements with ? for their values.
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

// ExecContext also replaces a NUL in a text, which PostgreSQL cannot keep: it may stand in a title or in a message. JSON
// is not touched, where it is written as an escape.
func (n numbered) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = strings.ReplaceAll(text, "\x00", "\uFFFD")
		}
	}
	return n.tx.ExecContext(ctx, store.Numbered(query), args...)
}
