package sqliterows

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// database is one connection to a database that is only read.
type database struct {
	ctx      context.Context // of Open; ends if the database computes too long without yielding a row
	cancel   context.CancelCauseFunc
	watchdog *time.Timer
	db       *sql.DB
	conn     *sql.Conn
	budget   *rows.Budget
}

// openDatabase opens a database read-only. Nothing is written, not even next to the file, unless there is a write-ahead
// log, which SQLite reads with the help of a shared-memory file.
func openDatabase(ctx context.Context, f rows.File, b *rows.Budget) (*database, error) {
	path, err := f.Path()
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"trusted_schema(0)", "busy_timeout(2000)"}}
	if !hasContent(path+"-wal") && !hasContent(path+"-journal") {
		q.Set("immutable", "1")
	}
	d := &database{budget: b}
	if d.db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()); err != nil {
		return nil, err
	}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	d.watchdog = time.AfterFunc(b.MaxWait(), func() {
		d.cancel(herb.Invalidf("the database yields no row within %v; publish the result of the view as a table", b.MaxWait()))
	})
	err = rows.Guard("the database", func() error {
		if d.conn, err = d.db.Conn(d.ctx); err != nil {
			return err
		}
		return d.configure(path)
	})
	if err != nil {
		return nil, errors.Join(d.mapError(err), d.Close())
	}
	return d, nil
}

// configure makes SQLite reject a record before it is copied, if it has more bytes than a row may have. It also rejects a
// database whose last page is incomplete, which SQLite would complete with zeros.
func (d *database) configure(path string) error {
	const limitLength = 0        // SQLITE_LIMIT_LENGTH
	const recordHeader = 100_000 // bytes of the header of a record with many columns
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
		return errDamaged(nil)
	}
	if encoding != "UTF-8" {
		limit *= 2 // ASCII has twice as many bytes in UTF-16
	}
	_, err = sqlite.Limit(d.conn, limitLength, limit+recordHeader)
	return err
}

// query runs a query. SQLite interrupts it when the context ends.
func (d *database) query(q string, args ...any) (found *sql.Rows, err error) {
	err = rows.Guard("the database", func() error {
		found, err = d.conn.QueryContext(d.ctx, q, args...)
		return err
	})
	return found, d.mapError(err)
}

// each runs a query and calls visit for every row, whose values are in into.
func (d *database) each(q string, args, into []any, visit func()) error {
	found, err := d.query(q, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return err
		}
		visit()
	}
	return d.mapError(found.Err())
}

// Close closes the connection.
func (d *database) Close() error {
	d.watchdog.Stop()
	d.cancel(nil)
	if d.conn == nil {
		return d.db.Close()
	}
	return errors.Join(d.conn.Close(), d.db.Close())
}

func errDamaged(cause error) error {
	return herb.Wrap(herb.CodeInvalid, cause, "the database is damaged or truncated; restore it, or copy it again with .backup")
}

// hasContent reports whether a file exists and is not empty.
func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// mapError maps an error of SQLite to one that describes the file, or to the reason why the context has ended.
func (d *database) mapError(err error) error {
	if ended := context.Cause(d.ctx); err != nil && ended != nil {
		return ended
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xFF {
	case 11: // SQLITE_CORRUPT
		return errDamaged(err)
	case 26: // SQLITE_NOTADB
		return herb.Wrap(herb.CodeInvalid, err, "the file is not a SQLite database, or it is encrypted; save one that opens without a password")
	case 18: // SQLITE_TOOBIG
		return herb.Invalidf("a row has more than %d bytes; at most %d are possible", d.budget.MaxRecord(), d.budget.MaxRecord())
	case 5, 8, 14: // SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN
		return herb.Wrap(herb.CodeInvalid, err, "the database is being written, or its writer was interrupted; "+
			"close the program that uses it, or publish a copy made with .backup")
	case 1: // SQLITE_ERROR: an invalid view, a missing module
		return herb.Wrap(herb.CodeInvalid, err, "the table cannot be read")
	default:
		return err
	}
}

// table is a table, view or virtual table.
type table struct {
	rows.Table
	kind         string // table, view, virtual table
	withoutRowID bool
}

// listTables lists the tables by name, without those that SQLite uses internally. Views are published if there are no
// tables.
func (d *database) listTables() (tables []table, err error) {
	var t table
	published := "view"
	err = d.each(`SELECT name, iif(type = 'virtual', 'virtual table', type), wr FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`, nil,
		[]any{&t.Name, &t.kind, &t.withoutRowID}, func() {
			tables = append(tables, t)
			if t.kind == "table" {
				published = t.kind
			}
		})
	for i, t := range tables {
		if t.kind != published {
			tables[i].Skipped = "a " + t.kind + ", which is published only by name"
		}
	}
	return tables, err
}

// selectTable returns a table by its name. An empty name selects the only one that is published.
func selectTable(tables []table, name string) (table, error) {
	var all, choices []string
	for _, t := range tables {
		if all = append(all, t.Name); t.Skipped == "" {
			choices = append(choices, t.Name)
		}
	}
	switch {
	case len(tables) == 0:
		return table{}, herb.Invalidf("the database has no tables")
	case name == "" && len(choices) == 0:
		return table{}, herb.Invalidf("the database has only virtual tables, which are published only by name, like file.db#%s; tables: %s",
			all[0], rows.JoinNames(all))
	case name == "" && len(choices) > 1:
		return table{}, herb.Invalidf("the database has %d tables; name one, like file.db#%s; tables: %s",
			len(choices), choices[0], rows.JoinNames(choices))
	case name == "":
		name = choices[0]
	}
	i, err := rows.FindTable("table", name, all)
	return tables[i], err
}
