package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// write runs do in a transaction that holds the write lock from its start. When it returns nil, the changes are committed
// and synced.
func (s *Store) write(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	err := inTx(ctx, s.writer, func(tx *sql.Tx) error { return do(ctx, tx) })
	if err == nil || diskFault(err) != "" { // other errors do not concern the disk
		s.writeFailed.Store(err != nil)
	}
	return mapError(what, err)
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, what string, do func(context.Context, store.Tx) error) error {
	return mapError(what, inTx(ctx, s.tables, func(tx *sql.Tx) error { return do(ctx, tx) }))
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
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { // rolled back because ctx ended
		err = context.Cause(ctx)
	}
	return err
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

// primaryCode returns the primary result code of SQLite, 0 for other errors.
func primaryCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isBusy reports whether another connection held a lock for too long.
func isBusy(err error) bool {
	code := primaryCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// diskFault returns a message for an error of the disk or the operating system that is safe to show to clients. It is empty
// for other errors.
func diskFault(err error) string {
	switch code := primaryCode(err); {
	case code == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the database cannot be written: disk full"
	case code == sqlite3.SQLITE_READONLY, errors.Is(err, syscall.EROFS):
		return "the database cannot be written: it is read-only"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the database cannot be opened: too many open files"
	case code == sqlite3.SQLITE_IOERR:
		return "the database cannot be read or written: I/O error"
	case code == sqlite3.SQLITE_CANTOPEN:
		return "the database cannot be opened"
	}
	return ""
}
