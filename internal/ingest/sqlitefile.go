package ingest

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"modernc.org/sqlite"

	"herbarium/internal/herb"
)

// maxSQLiteRow is the number of bytes that a row of a database may have.
const maxSQLiteRow = 64 << 20

// sqliteHead is what a database begins with.
const sqliteHead = "SQLite format 3\x00"

// sqliteReader reads the rows of a table or a view.
type sqliteReader struct {
	db     *sql.DB
	rows   *sql.Rows
	names  []string
	table  string
	row    int64
	last   int64             // rowid of the last row; 0: not known
	tell   func(share int64) // of the bytes of the file
	size   int64
	values []any // of the row; behind them the rowid where last is known
	into   []any
	buf    []byte
	ends   []int
	cells  [][]byte
	remove func() error // of a copy that is read; nil: there is none
}

// sqliteTable is something in a database that can be read.
type sqliteTable struct {
	name         string
	kind         string // table, view, virtual
	withoutRowID bool
}

// openSQLite opens the database for reading alone. Nothing is written, not even beside the file, unless there is a
// write-ahead log: it holds what was committed last, and SQLite reads it with the help of a file of its own.
func openSQLite(ctx context.Context, path string) (*sql.DB, *sql.Conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	if err := checkSQLite(abs); err != nil {
		return nil, nil, err
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"trusted_schema(0)", "busy_timeout(2000)"}}
	if !beside(abs, "-wal") && !beside(abs, "-journal") {
		q.Set("immutable", "1")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		const limitLength = 0 // SQLITE_LIMIT_LENGTH
		_, err = sqlite.Limit(conn, limitLength, maxSQLiteRow)
	}
	if err != nil {
		return nil, nil, errors.Join(sqliteError(err), db.Close())
	}
	return db, conn, nil
}

// checkSQLite looks at the head of a database. SQLite takes what is missing of the last page for zeros, so a file that is
// cut off must be told here.
func checkSQLite(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 100)
	n, err := f.ReadAt(head, 0)
	switch {
	case ignoreEOF(err) != nil:
		return err
	case n == 0:
		return nil // a database without tables
	case !strings.HasPrefix(string(head), sqliteHead):
		return herb.Invalidf("the file is no SQLite database, or it is encrypted; give one that can be opened without a password")
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 1 << 16
	}
	pages := int64(0)
	if string(head[24:28]) == string(head[92:96]) { // only then is the number of pages that follows right
		pages = int64(binary.BigEndian.Uint32(head[28:]))
	}
	if n < len(head) || page < 512 || info.Size()%page != 0 || info.Size() < pages*page && !beside(path, "-wal") {
		return errDamagedDatabase(nil)
	}
	return nil
}

func errDamagedDatabase(cause error) error {
	return herb.Wrap(herb.CodeInvalid, cause, "the database is damaged or cut off; restore it, or copy it again with .backup")
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// beside reports whether a file that belongs to a database holds anything.
func beside(path, suffix string) bool {
	info, err := os.Stat(path + suffix)
	return err == nil && info.Size() > 0
}

// newSQLiteReader begins to read a table; an empty name stands for the only one.
func newSQLiteReader(ctx context.Context, path, table string, size int64, tell func(int64)) (s *sqliteReader, err error) {
	defer recoverAs(&err, "the database", debug.SetPanicOnFault(true))
	db, conn, err := openSQLite(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(sqliteError(err), db.Close())
		}
	}()
	tables, err := listTables(ctx, conn)
	if err != nil {
		return nil, err
	}
	t, err := chooseTable(tables, table)
	if err != nil {
		return nil, err
	}
	s = &sqliteReader{db: db, table: t.name, tell: tell, size: size}
	key, err := s.describe(ctx, conn, t)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range s.names {
		list = append(list, "+"+quoteSQL(name)) // the sign keeps the driver from reading the value as what its column is declared as
	}
	order := ""
	if len(key) > 0 {
		order = " ORDER BY " + strings.Join(key, ", ")
		if !t.withoutRowID {
			list = append(list, key[0])
			var last sql.NullInt64
			if err := conn.QueryRowContext(ctx, "SELECT max("+key[0]+") FROM "+quoteSQL(t.name)).Scan(&last); err != nil {
				return nil, err
			}
			s.last = max(last.Int64, 1)
		}
	}
	s.values, s.into = make([]any, len(list)), make([]any, len(list))
	for i := range s.values {
		s.into[i] = &s.values[i]
	}
	s.rows, err = conn.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+quoteSQL(t.name)+order)
	return s, err
}

// describe reads the columns of a table, and returns what its rows are ordered by.
func (s *sqliteReader) describe(ctx context.Context, conn *sql.Conn, t sqliteTable) (key []string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", t.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	primary := map[int]string{}
	for rows.Next() {
		var name string
		var pk int
		if err := rows.Scan(&name, &pk); err != nil {
			return nil, err
		}
		s.names = append(s.names, name)
		if pk > 0 {
			primary[pk] = quoteSQL(name)
		}
	}
	switch err := rows.Err(); {
	case err != nil:
		return nil, err
	case len(s.names) == 0:
		return nil, herb.Invalidf("%s %q has no columns", t.kind, t.name)
	case len(s.names) > MaxColumns:
		return nil, herb.Invalidf("there are %d columns, and there can be %d", len(s.names), MaxColumns)
	case t.kind != "table":
		return nil, nil
	case t.withoutRowID:
		for i := 1; i <= len(primary); i++ {
			key = append(key, primary[i])
		}
		return key, nil
	}
	for _, alias := range []string{"rowid", "_rowid_", "oid"} {
		taken := func(name string) bool { return strings.EqualFold(name, alias) }
		if !slices.ContainsFunc(s.names, taken) {
			return []string{alias}, nil
		}
	}
	return nil, nil
}

func quoteSQL(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// columns implements rowReader.
func (s *sqliteReader) columns() []string { return s.names }

// position implements rowReader.
func (s *sqliteReader) position() string { return fmt.Sprintf("table %q, row %d", s.table, s.row) }

// next implements rowReader.
func (s *sqliteReader) next() (cells [][]byte, err error) {
	defer recoverAs(&err, "the database", debug.SetPanicOnFault(true))
	if !s.rows.Next() {
		if err := s.rows.Err(); err != nil {
			return nil, sqliteError(err)
		}
		return nil, io.EOF
	}
	s.row++
	if err := s.rows.Scan(s.into...); err != nil {
		return nil, sqliteError(err)
	}
	if s.last > 0 && s.row%4096 == 0 {
		if id, ok := s.values[len(s.names)].(int64); ok && id > 0 {
			s.tell(int64(float64(id) / float64(s.last) * float64(s.size)))
		}
	}
	s.buf, s.ends = s.buf[:0], s.ends[:0]
	for i := range s.names {
		switch v := s.values[i].(type) {
		case nil:
		case int64:
			s.buf = strconv.AppendInt(s.buf, v, 10)
		case float64:
			s.buf = appendFloat(s.buf, v, 64)
		case string:
			if !utf8.ValidString(v) {
				return nil, herb.Invalidf("%s, column %q: the text is not valid UTF-8; store it as UTF-8, or as a BLOB", s.position(), s.names[i])
			}
			s.buf = append(s.buf, v...)
		case []byte:
			s.buf = base64.StdEncoding.AppendEncode(s.buf, v)
		default:
			return nil, fmt.Errorf("%s, column %q: the driver returned a %T", s.position(), s.names[i], v)
		}
		s.ends = append(s.ends, len(s.buf))
	}
	s.cells = s.cells[:0]
	start := 0
	for _, end := range s.ends {
		s.cells = append(s.cells, s.buf[start:end])
		start = end
	}
	return s.cells, nil
}

// Close gives back the database.
func (s *sqliteReader) Close() error {
	err := errors.Join(s.rows.Close(), s.db.Close())
	if s.remove != nil {
		err = errors.Join(err, s.remove())
	}
	return err
}

// sqliteError says what an error of SQLite means for the file.
func sqliteError(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xFF {
	case 11, 26: // SQLITE_CORRUPT, SQLITE_NOTADB
		return errDamagedDatabase(err)
	case 18: // SQLITE_TOOBIG
		return herb.Invalidf("a row has more than %d bytes, which is the most that one may have", maxSQLiteRow)
	case 5, 8, 14: // SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN
		return herb.Wrap(herb.CodeInvalid, err, "the database is being written, or what wrote it was interrupted; "+
			"close the program that uses it, or publish a copy made with .backup")
	case 1: // SQLITE_ERROR: a view that cannot be read, a module that is missing
		return herb.Wrap(herb.CodeInvalid, err, "the table cannot be read")
	default:
		return err
	}
}
