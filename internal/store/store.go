// Package store contains what all databases of Herbarium share: the types they store and portable
// SQL. The databases are subpackages.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// The entries of a data folder.
const (
	DatabaseFile = "herbarium.db" // if there is no other database
	VersionsDir  = "versions"     // segment files of published versions
	ChangedFile  = "changed"      // in VersionsDir: change notification and lock; see LockVersions
	PlantsDir    = "plants"       // segment files derived from the plants in the database; they can be deleted
)

// Creation is a plant to be created.
type Creation struct {
	Plant          herb.NewPlant
	IdempotencyKey *IdempotencyKey // nil if the request has none, so that a repetition is another creation
}

// IdempotencyKey identifies repetitions of a request.
type IdempotencyKey struct {
	Credential string      `json:"credential"` // keys of different credentials are independent
	Key        string      `json:"key"`
	Body       herb.Digest `json:"sha256"` // of the request body
}

// IdempotencyRetention is how long idempotency keys are stored. Clients are promised 24 hours; the
// rest is a margin for a migration to another database and for clock differences.
const IdempotencyRetention = 48 * time.Hour

// Outcome is the result of a Creation: a plant, or an error with herb.CodeInvalid.
type Outcome struct {
	Plant    herb.Plant
	Replayed bool // created by an earlier request with the same IdempotencyKey
	Err      error
}

// ErrSuperseded reports that a version did not go live because another one went live first.
var ErrSuperseded = errors.New("another version went live in the meantime")

// Retired is a version that is not in the catalogue and can never enter it again.
type Retired struct {
	Version string
	Since   time.Time
}

// querier runs queries with ? placeholders.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Tx is a transaction whose statements use ? placeholders.
type Tx interface {
	querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Transact runs do in a transaction, commits if do returns nil, and maps driver errors to a
// herb.Code. what names the operation in errors, as in "reading keys". do may be retried in another
// transaction, so it must not depend on state of an earlier attempt. It must use the context it is
// called with.
type Transact func(ctx context.Context, what string, do func(context.Context, Tx) error) error

// Tables stores everything but plants with portable SQL over tables that every database has. Times
// are stored as microseconds since 1970.
type Tables struct{ read, write Transact }

// NewTables returns the tables of a database. A read transaction sees one state of the database;
// write transactions are serialized.
func NewTables(read, write Transact) Tables { return Tables{read, write} }

// ProbeWrite writes and removes a row. Databases call it after a disk error, to detect when writes
// succeed again.
func (s Tables) ProbeWrite(ctx context.Context) error {
	const size = 64 << 10 // more than is left on a nearly full disk
	const what = "probing the database"
	if err := s.writeOne(ctx, what, "INSERT INTO write_probe (padding) VALUES (?)", make([]byte, size)); err != nil {
		return err
	}
	return s.writeOne(ctx, what, "DELETE FROM write_probe")
}

// writeOne runs a statement in a write transaction of its own.
func (s Tables) writeOne(ctx context.Context, what, statement string, args ...any) error {
	return s.write(ctx, what, func(ctx context.Context, tx Tx) error { return exec(ctx, tx, statement, args...) })
}

// readRows returns the rows of a query that runs in a read transaction of its own.
func readRows[T any](
	ctx context.Context, s Tables, what string, scan func(*sql.Rows) (T, error), query string, args ...any,
) (all []T, err error) {
	err = s.read(ctx, what, func(ctx context.Context, tx Tx) error {
		all, err = collect(ctx, tx, scan, query, args...)
		return err
	})
	return all, err
}

// collect runs a query and returns its rows.
func collect[T any](
	ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any,
) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// scanValue scans a row with one column.
func scanValue[T any](rows *sql.Rows) (v T, err error) {
	err = rows.Scan(&v)
	return v, err
}

// exec runs a statement that returns no rows. Callers may join the errors of several statements:
// any error rolls the transaction back, so it does not matter that the statements after it are
// attempted.
func exec(ctx context.Context, tx Tx, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, statement, args...)
	return err
}

// rowsPerStatement is the number of rows that one statement inserts or looks up. Databases limit
// the parameters of a statement.
const rowsPerStatement = 500

// insert inserts rows into the columns of a table, as in "keys (id, name)". suffix follows the rows
// in the statement.
func insert(ctx context.Context, tx Tx, into string, rows [][]any, suffix string) error {
	for chunk := range slices.Chunk(rows, rowsPerStatement) {
		row := "(" + strings.Repeat("?, ", len(chunk[0])-1) + "?)"
		statement := "INSERT INTO " + into + " VALUES " + row + strings.Repeat(", "+row, len(chunk)-1) + " " + suffix
		if err := exec(ctx, tx, statement, slices.Concat(chunk...)...); err != nil {
			return err
		}
	}
	return nil
}

// stamp stores a time as microseconds since 1970, and the zero time as NULL.
type stamp time.Time

// Value implements driver.Valuer.
func (s stamp) Value() (driver.Value, error) {
	if time.Time(s).IsZero() {
		return nil, nil
	}
	return time.Time(s).UnixMicro(), nil
}

// Scan implements sql.Scanner.
func (s *stamp) Scan(v any) error {
	var n sql.Null[int64]
	err := n.Scan(v)
	*s = stamp{}
	if n.Valid {
		*s = stamp(time.UnixMicro(n.V).UTC())
	}
	return err
}

// Numbered replaces the ? placeholders of a statement with $1, $2 and so on. Statements of this
// package use ? for placeholders only.
func Numbered(statement string) string {
	var b strings.Builder
	b.Grow(len(statement) + 16)
	for n := 1; ; n++ {
		before, rest, ok := strings.Cut(statement, "?")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		statement = rest
	}
}

// LockVersions takes a shared lock on a folder of versions while files are written there that are
// not in the catalogue yet, so that no server removes them as leftovers of a killed process.
// Closing the file releases the lock. Where the file system does not support locks, servers go by
// the age of files.
func LockVersions(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, ChangedFile), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filesystem.LockShared(f); err != nil && !errors.Is(err, filesystem.ErrLocksUnsupported) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
