package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// write runs do in a transaction that holds the write lock from its start. When it returns nil, the changes are committed
// and synced.
func (s *Store) write(ctx context.Context, what string, do func(*sql.Tx) error) error {
	err := mapError(what, inTx(ctx, s.writer, do))
	s.writes.record(err)
	return err
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, what string, do func(*sql.Tx) error) error {
	return mapError(what, inTx(ctx, s.reader, do))
}

// tables returns the tables that use portable SQL.
func (s *Store) tables() store.Tables {
	transact := func(in func(context.Context, string, func(*sql.Tx) error) error) store.Transact {
		return func(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
			return in(ctx, what, func(tx *sql.Tx) error { return do(ctx, tx) })
		}
	}
	return store.NewTables(transact(s.read), transact(s.write))
}

func inTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
		return err
	}
	return tx.Commit()
}

// mapError maps a driver error to a herb.Code: a database that is busy or cannot be written is unavailable, an error that
// has a code keeps it, and anything else is internal.
func mapError(what string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return e
	}
	err = fmt.Errorf("%s: %w", what, err)
	if isBusy(err) {
		return herb.Wrap(herb.CodeUnavailable, err, "the database is busy; try again")
	}
	if fault := diskFault(err); fault != "" {
		return herb.Wrap(herb.CodeUnavailable, err, "%s", fault)
	}
	return err
}

// isBusy reports whether another connection held a lock for too long.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	primary := e.Code() & 0xff
	return primary == sqlite3.SQLITE_BUSY || primary == sqlite3.SQLITE_LOCKED
}
