package store

import (
	"context"
	"database/sql"
	"time"
)

// Tx is a transaction whose statements use ? placeholders.
type Tx interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Transact runs do in a transaction, commits if do returns nil, and maps driver errors to a herb.Code. what names the
// operation, as in "reading keys". do may be retried in another transaction where that is safe, so it must start from
// scratch each time. The context is that of the transaction.
type Transact func(ctx context.Context, what string, do func(context.Context, Tx) error) error

// Tables stores keys, the catalogue, source errors and the audit log with portable SQL over the tables keys, catalogue,
// datasets, versions, retired, troubles and audit, which every database must have. Times are stored as microseconds since
// 1970.
type Tables struct{ read, write Transact }

// NewTables returns the tables of a database. A read transaction sees one state of the database; write transactions are
// serialized.
func NewTables(read, write Transact) Tables { return Tables{read, write} }

// eachRow calls do for every row and closes the rows.
func eachRow(rows *sql.Rows, do func() error) error {
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		if err := do(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// micros returns the stored form of a time; the zero time is NULL.
func micros(t time.Time) sql.Null[int64] {
	if t.IsZero() {
		return sql.Null[int64]{}
	}
	return sql.Null[int64]{V: t.UnixMicro(), Valid: true}
}

// timeOf is the inverse of micros.
func timeOf(n sql.Null[int64]) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.V).UTC()
}
