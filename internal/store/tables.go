package store

import (
	"context"
	"database/sql"
	"time"
)

// Tx is a transaction whose statements have ? for their values.
type Tx interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Transact runs do in a transaction, which is committed when do returns nil, and gives the error its place among ours.
// what names the work, as in "reading keys". Where that does no harm, do is run again in another transaction when one
// has failed, so it starts from nothing each time. The context is that of the transaction.
type Transact func(ctx context.Context, what string, do func(context.Context, Tx) error) error

// Tables keeps keys, the catalogue and troubles with portable SQL over the tables keys, catalogue, datasets, versions,
// retired and troubles, which every database must have. Times are kept as microseconds since 1970.
type Tables struct{ read, write Transact }

// NewTables returns the tables of a database. A transaction of read sees one state of the database; one of write is alone
// from its start on.
func NewTables(read, write Transact) Tables { return Tables{read, write} }

// each calls do for every row and closes the rows.
func each(rows *sql.Rows, do func() error) error {
	defer func() { _ = rows.Close() }() // rows.Err tells what matters
	for rows.Next() {
		if err := do(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// micros is how a time is stored; the zero time is NULL.
func micros(t time.Time) sql.Null[int64] {
	if t.IsZero() {
		return sql.Null[int64]{}
	}
	return sql.Null[int64]{V: t.UnixMicro(), Valid: true}
}

// timeOf reads what micros has stored.
func timeOf(n sql.Null[int64]) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.V).UTC()
}
