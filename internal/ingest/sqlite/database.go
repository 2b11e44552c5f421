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

// database is one connection to a database that is only read. It is opened once for all its tables,
// which are read one after the other.
type database struct {
	db        *sql.DB
	conn      *sql.Conn
	maxLength int // bytes of a stored record
	tables    []rows.Table
	kinds     []string // of the tables: table, view, virtual table

	// Of the table that is read.
	ctx         context.Context // ends if the database computes too long
	cancel      context.CancelCauseFunc
	watchdog    *time.Timer
	maxComputed int           // bytes of a value; 0 if values are stored
	slowness    time.Duration // how many times longer than a computation reading may take
	budget      *rows.Budget
}

// openDatabase returns the database of a file, ready to read a table within a budget. The caller
// ends it.
func openDatabase(ctx context.Context, f rows.File, b *rows.Budget) (*database, error) {
	opened, err := f.Document(func() (io.Closer, error) { return connect(ctx, f, b) })
	if err != nil {
		return nil, err
	}
	d := opened.(*database)
	d.begin(ctx, b)
	return d, nil
}

// begin starts to charge a budget. The size of a database bounds the work of reading what is stored
// in it, so that the limit on time is higher then: a busy machine must not be a reason to reject a
// table.
func (d *database) begin(ctx context.Context, b *rows.Budget) {
	d.budget, d.maxComputed, d.slowness = b, 0, 4
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	cancel := d.cancel
	d.watchdog = time.AfterFunc(d.slowness*b.WaitLeft(), func() {
		cancel(herb.Invalidf("the tables and views of the database take too long to compute; publish the results of views as tables"))
	})
}

func (d *database) end() {
	d.watchdog.Stop()
	d.cancel(nil)
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
	d := &database{}
	if d.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()); err != nil {
		return nil, err
	}
	d.begin(ctx, b)
	defer d.end()
	if err = d.guard(func() error { return d.check(path) }); err == nil {
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
	if d.conn, err = d.db.Conn(d.ctx); err != nil {
		return err
	}
	encoding, page, limit := "", int64(0), d.budget.MaxRecord()
	const q = "SELECT encoding, page_size FROM pragma_schema_version, pragma_encoding, pragma_page_size" // the first one reads the file
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

// limitComputed makes SQLite reject large values of a row whose values are computed: unlike those
// of a stored record, their sum is not limited, and SQLite holds all of them in memory.
func (d *database) limitComputed(columns int) error {
	const recordsInMemory = 12
	d.maxComputed, d.slowness = recordsInMemory*d.budget.MaxRecord()/columns, 1
	return d.limitLength(min(d.maxComputed, d.maxLength))
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

// guard calls SQLite and charges for the time. It maps an error to one that describes the file, or
// to the reason why the context has ended.
func (d *database) guard(call func() error) error {
	began := time.Now()
	d.watchdog.Reset(d.slowness * d.budget.WaitLeft())
	err := rows.Guard("the database", call)
	d.watchdog.Stop()
	d.budget.Waited(time.Since(began) / d.slowness)
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
	case 1: // SQLITE_ERROR: an invalid view, a missing module
		cause = "the table cannot be read"
	case 5, 8, 14: // SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN
		cause = "the database is being written, or its writer was interrupted; close the program that uses it, or publish a copy made with .backup"
	case 11: // SQLITE_CORRUPT
		cause = damaged
	case 18: // SQLITE_TOOBIG
		if 0 < d.maxComputed && d.maxComputed < d.budget.MaxRecord() {
			return herb.Invalidf("a value has more than %d bytes, the limit for computed values of so many columns; publish the result as a table",
				d.maxComputed)
		}
		return d.budget.Record(math.MaxInt)
	case 26: // SQLITE_NOTADB
		cause = "the file is not a SQLite database, or it is encrypted; save one that opens without a password"
	default:
		return err
	}
	return herb.Wrap(herb.CodeInvalid, err, "%s", cause)
}
