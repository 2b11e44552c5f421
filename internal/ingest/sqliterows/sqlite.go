// Package sqliterows reads tables and views of SQLite databases.
package sqliterows

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Format returns the SQLite format.
func Format() rows.Format {
	return rows.Format{
		Name:       "sqlite",
		Extensions: []string{".db", ".sqlite", ".sqlite3"},
		Matches:    func(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) },
		Open: func(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
			db, err := openDatabase(ctx, f, b)
			if err != nil {
				return nil, err
			}
			r, err := newReader(db, o.Table)
			if err != nil {
				return nil, errors.Join(err, db.Close())
			}
			return r, nil
		},
		Tables: func(ctx context.Context, f rows.File, _ rows.Options, b *rows.Budget) (listed []rows.Table, err error) {
			db, err := openDatabase(ctx, f, b)
			if err != nil {
				return nil, err
			}
			tables, err := db.listTables()
			for _, t := range tables {
				listed = append(listed, t.Table)
			}
			return listed, errors.Join(err, db.Close())
		},
	}
}

// reader implements rows.Rows.
type reader struct {
	db      *database
	rows    *sql.Rows
	table   string
	columns []rows.Column
	stored  []column
	notes   []string
	row     int64
	values  []any // of the row
	into    []any // pointers to values
	buf     []byte
	ends    []int
	cells   [][]byte
}

// newReader starts to read a table. An empty name selects the only one.
func newReader(db *database, name string) (*reader, error) {
	tables, err := db.listTables()
	if err != nil {
		return nil, err
	}
	t, err := selectTable(tables, name)
	if err != nil {
		return nil, err
	}
	r := &reader{db: db, table: t.Name}
	if name == "" && len(tables) > 1 {
		var others []string
		for _, o := range tables {
			if o != t {
				others = append(others, o.Name)
			}
		}
		r.notes = []string{fmt.Sprintf("only the %s %q is published; add # and a name to the file to publish another: %s",
			t.kind, t.Name, rows.JoinNames(others))}
	}
	order, err := r.describe(t)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(r.columns))
	r.values, r.into = make([]any, len(list)), make([]any, len(list))
	for i, c := range r.columns {
		list[i] = "+" + quote(c.Name) // the sign keeps the driver from converting the value to the declared type
		r.into[i] = &r.values[i]
	}
	r.rows, err = db.query("SELECT " + strings.Join(list, ", ") + " FROM " + quote(t.Name) + order)
	return r, err
}

// describe reads the columns of a table and returns the ORDER BY clause: a table has the order of its rows in the file, a
// view its own.
func (r *reader) describe(t table) (order string, err error) {
	var names []string
	var primary []string // columns of the primary key, by position
	var name, declared string
	var position int
	err = r.db.each("SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", []any{t.Name},
		[]any{&name, &declared, &position}, func() {
			names = append(names, strings.ToLower(name))
			r.columns, r.stored = append(r.columns, rows.Column{Name: name}), append(r.stored, column{affinity: affinityOf(declared)})
			primary = append(primary, make([]string, max(0, position-len(primary)))...)
			if position > 0 {
				primary[position-1] = quote(name)
			}
		})
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", herb.Invalidf("%s %q has no columns", t.kind, t.Name)
	}
	if err := r.db.budget.Columns(len(names)); err != nil || t.kind != "table" {
		return "", err
	}
	if t.withoutRowID {
		return " ORDER BY " + strings.Join(primary, ", "), nil
	}
	for _, alias := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.Contains(names, alias) {
			return " ORDER BY " + alias, nil
		}
	}
	return "", nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Columns implements rows.Rows. Types are known after the last row.
func (r *reader) Columns() []rows.Column { return r.columns }

// Options implements rows.Rows.
func (r *reader) Options() rows.Options { return rows.Options{Table: r.table} }

// Position implements rows.Rows.
func (r *reader) Position() rows.Position { return rows.Position{Table: r.table, Row: int(r.row)} }

// Notes implements rows.Rows.
func (r *reader) Notes() []string { return r.notes }

// Next implements rows.Rows.
func (r *reader) Next() ([][]byte, error) {
	more := false
	r.db.watchdog.Reset(r.db.budget.MaxWait())
	err := rows.Guard("the database", func() error {
		if more = r.rows.Next(); !more {
			return r.rows.Err()
		}
		return r.rows.Scan(r.into...)
	})
	switch {
	case err != nil:
		return nil, r.db.mapError(err)
	case !more:
		for i := range r.stored {
			r.columns[i].Type = r.stored[i].declaredType()
		}
		return nil, io.EOF
	}
	r.row++
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	for i, v := range r.values {
		if err := r.appendValue(&r.stored[i], v); err != nil {
			return nil, rows.Damaged(err, fmt.Sprintf("%s, column %q", r.Position(), rows.Clip(r.columns[i].Name)))
		}
		if err := r.db.budget.Record(len(r.buf)); err != nil {
			return nil, err
		}
		r.ends = append(r.ends, len(r.buf))
	}
	r.cells = rows.SplitCells(r.cells[:0], r.buf, r.ends)
	return r.cells, nil
}

func (r *reader) appendValue(c *column, v any) error {
	switch v := v.(type) {
	case nil:
	case int64:
		c.isOther = true
		r.buf = strconv.AppendInt(r.buf, v, 10)
	case float64:
		c.isOther = true
		r.buf = rows.AppendFloat(r.buf, v, 64)
	case string:
		if !utf8.ValidString(v) {
			return herb.Invalidf("the text is not valid UTF-8; store it as UTF-8, or as a BLOB")
		}
		c.isText = true
		c.isOther = c.isOther || v != "" && !startsWithDate(v)
		r.buf = append(r.buf, v...)
	case []byte:
		c.isText, c.isOther = true, true
		r.buf = base64.StdEncoding.AppendEncode(r.buf, v)
	default:
		return fmt.Errorf("the driver returned a %T", v)
	}
	return nil
}

// Close implements rows.Rows.
func (r *reader) Close() error { return errors.Join(r.rows.Close(), r.db.Close()) }

// column describes the values of a column so far.
type column struct {
	affinity herb.Type // what its declared type says about its values: text, numbers or nothing
	isText   bool      // some value is not a number
	isOther  bool      // some value is not text that looks like a date
}

// affinityOf follows the rules of SQLite, except that dates and booleans have no affinity: SQLite stores them as text or
// as numbers.
func affinityOf(declared string) herb.Type {
	for _, rule := range []struct {
		affinity herb.Type
		parts    string
	}{
		{herb.TypeNumber, "INT"},
		{herb.TypeText, "CHAR|CLOB|TEXT"},
		{"", "BLOB"},
		{herb.TypeNumber, "REAL|FLOA|DOUB|NUM|DEC"},
	} {
		if regexp.MustCompile("(?i)" + rule.parts).MatchString(declared) {
			return rule.affinity
		}
	}
	return ""
}

// declaredType returns the type of a column once all values have been read. SQLite enforces no types: numbers are declared
// only if all values are stored as numbers. Dates are stored as text, so a text column of dates is left to inference.
func (c *column) declaredType() herb.Type {
	if c.affinity == herb.TypeNumber && !c.isText || c.affinity == herb.TypeText && c.isOther {
		return c.affinity
	}
	return ""
}

// startsWithDate reports whether text begins like 2024-02-29.
func startsWithDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s[:min(len(s), len(time.DateOnly))])
	return err == nil
}
