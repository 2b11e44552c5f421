package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const damaged = "the database is damaged or truncated; restore it, or copy it again with .backup"

// maxSchema is the number of bytes of a value while the schema is read. SQLite then loads its
// statistics, whose tables may have computed columns: on short values, every function is fast.
const maxSchema = 100_000

// Time for reading the schema, whatever expressions its tables of statistics have. It is
// proportional to the size of the file, because a busy machine must not be a reason to reject it.
const (
	schemaTime        = 10 * time.Second
	schemaTimePerByte = time.Microsecond
)

// database is one connection to a database that is only read. It is opened once for all its tables,
// which are read one after the other.
//
// Nothing of the file is computed: views and virtual tables are not read, and neither are columns
// that are generated when they are read. A single call of a function, such as instr with two long
// texts, takes hours and cannot be interrupted, and the expansion of nested views has no bound on
// memory. Stored rows are charged to the budget, and reading them ends between two rows.
type database struct {
	db        *sql.DB
	conn      *sql.Conn
	maxLength int // bytes of a stored record
	tables    []rows.Table

	// Of the table that is read.
	ctx    context.Context
	budget *rows.Budget
}

// openDatabase returns the database of a file, ready to read a table within a budget.
func openDatabase(ctx context.Context, f rows.File, b *rows.Budget) (*database, error) {
	opened, err := f.Document(func() (io.Closer, error) { return connect(ctx, f, b) })
	if err != nil {
		return nil, err
	}
	d := opened.(*database)
	d.ctx, d.budget = ctx, b
	return d, nil
}

// connect opens a database read-only and lists its tables. Nothing is written, not even next to the
// file, unless there is a write-ahead log, which SQLite reads with the help of a shared-memory
// file.
func connect(ctx context.Context, f rows.File, b *rows.Budget) (*database, error) {
	path, err := f.Path()
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, err
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"trusted_schema(0)", "busy_timeout(2000)"}}
	if !hasContent(path+"-wal") && !hasContent(path+"-journal") {
		q.Set("immutable", "1")
	}
	limited, cancel := context.WithTimeoutCause(ctx, schemaTime+time.Duration(f.Size())*schemaTimePerByte,
		herb.Invalidf("the schema of the database takes too long to read; drop its tables of statistics, "+
			"sqlite_stat1 and sqlite_stat4"))
	defer cancel()
	d := &database{ctx: limited, budget: b}
	d.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	err = d.guard(func() error { return d.check(path) })
	if err == nil {
		err = d.listTables()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// check reads the header of the database and limits the size of its records. It rejects a database
// whose last page is incomplete, which SQLite would complete with zeros.
func (d *database) check(path string) (err error) {
	const recordHeader = 100_000 // bytes of the header of a record with many columns
	d.conn, err = d.db.Conn(d.ctx)
	if err != nil {
		return err
	}
	if err := d.limitLength(maxSchema); err != nil {
		return err
	}
	encoding, page, limit := "", int64(0), d.budget.MaxRecord()
	// the first one reads the file
	const q = "SELECT encoding, page_size FROM pragma_schema_version, pragma_encoding, pragma_page_size"
	if err := d.conn.QueryRowContext(d.ctx, q).Scan(&encoding, &page); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size()%page != 0 {
		return herb.Invalidf(damaged)
	}
	if encoding != "UTF-8" {
		limit *= 2 // ASCII has twice as many bytes in UTF-16
	}
	d.maxLength = limit + recordHeader
	return d.limitLength(d.maxLength)
}

// limitLength makes SQLite reject a record or a value before it is copied, if it has more than n
// bytes.
func (d *database) limitLength(n int) error {
	const limitLength = 0 // SQLITE_LIMIT_LENGTH
	_, err := sqlite.Limit(d.conn, limitLength, n)
	return err
}

func (d *database) query(q string, args ...any) (found *sql.Rows, err error) {
	return found, d.guard(func() error {
		found, err = d.conn.QueryContext(d.ctx, q, args...)
		return err
	})
}

func (d *database) Close() error {
	if d.conn == nil {
		return d.db.Close()
	}
	return errors.Join(d.conn.Close(), d.db.Close())
}

// guard calls SQLite. It maps an error to one that describes the file, or to the reason why the
// context has ended.
func (d *database) guard(call func() error) error {
	err := rows.Guard("the database", call)
	if err == nil {
		return nil
	}
	if ended := context.Cause(d.ctx); ended != nil {
		return ended
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	cause := ""
	switch e.Code() & 0xFF {
	case 1: // SQLITE_ERROR
		cause = "the table cannot be read"
	case 5, 8, 14: // SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN
		cause = "the database is being written, or its writer was interrupted; close the program that uses it, or " +
			"publish a copy made with .backup"
	case 11: // SQLITE_CORRUPT
		cause = damaged
	case 18: // SQLITE_TOOBIG
		if d.maxLength == 0 {
			return herb.Invalidf("the schema or the statistics of the database have a value of more than %d bytes; "+
				"publish a copy of the table in another database", maxSchema)
		}
		return d.budget.Record(math.MaxInt)
	case 26: // SQLITE_NOTADB
		cause = "the file is not a SQLite database, or it is encrypted; save one that opens without a password"
	default:
		return err
	}
	return herb.Wrap(herb.CodeInvalid, err, "%s", cause)
}
