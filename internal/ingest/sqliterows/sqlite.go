// Package sqliterows reads tables and views of SQLite databases.
package sqliterows

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"io"
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
			r := &reader{database: db}
			if err := r.start(o.Table); err != nil {
				db.end()
				return nil, err
			}
			return r, nil
		},
		Tables: func(ctx context.Context, f rows.File, _ rows.Options, b *rows.Budget) ([]rows.Table, error) {
			db, err := openDatabase(ctx, f, b)
			if err != nil {
				return nil, err
			}
			db.end()
			return db.tables, nil
		},
	}
}

// source is what a table is read from.
type source struct {
	kind  string // table, view, virtual table
	order string // clause for the order of the rows in the file; empty: a view has its own
}

// listTables lists the tables by name, without those that SQLite uses internally. Views are published if there are no
// tables.
func (d *database) listTables() error {
	found, err := d.query(`SELECT name, iif(type = 'virtual', 'virtual table', type),
		CASE WHEN type <> 'table' THEN ''
			WHEN wr THEN ' ORDER BY ' || (SELECT group_concat(format('"%w"', name), ', ' ORDER BY pk) FROM pragma_table_xinfo(l.name) WHERE pk > 0)
			ELSE ' NOT INDEXED' END
		FROM pragma_table_list AS l
		WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return err
	}
	defer found.Close()
	published := "view"
	for found.Next() {
		var name string
		var s source
		if err := found.Scan(&name, &s.kind, &s.order); err != nil {
			return err
		}
		d.tables, d.sources = append(d.tables, rows.Table{Name: name}), append(d.sources, s)
		if s.kind == "table" {
			published = s.kind
		}
	}
	for i, s := range d.sources {
		if s.kind != published {
			d.tables[i].Skipped = "a " + s.kind + ", which is published only by name"
		}
	}
	return d.guard(found.Err)
}

// selectTable returns the index of a table by its name. An empty name selects the only one that is published.
func selectTable(tables []rows.Table, name string) (int, error) {
	published := rows.Published(tables)
	switch {
	case len(tables) == 0:
		return 0, herb.Invalidf("the database has no tables")
	case name == "" && len(published) == 0:
		return 0, herb.Invalidf("the database has only virtual tables, which are published only by name, like file.db#%s; tables: %s",
			tables[0].Name, rows.JoinNames(rows.Names(tables)))
	case name == "" && len(published) > 1:
		return 0, herb.Invalidf("the database has %d tables; name one, like file.db#%s; tables: %s",
			len(published), published[0], rows.JoinNames(published))
	case name == "":
		name = published[0]
	}
	return rows.FindTable("table", name, tables)
}

// reader implements rows.Rows.
type reader struct {
	*database
	rows    *sql.Rows
	table   string
	columns []rows.Column
	stored  []column
	notes   []string
	row     int
	values  []any // of the row
	into    []any // pointers to values
	buf     []byte
	ends    []int
	cells   [][]byte
}

// start starts to read a table. An empty name selects the only one.
func (r *reader) start(name string) error {
	i, err := selectTable(r.tables, name)
	if err != nil {
		return err
	}
	r.table = r.tables[i].Name
	from := r.sources[i]
	if name == "" {
		r.notes = rows.SelectionNotes(from.kind, r.tables, i)
	}
	if err := r.limitLength(r.maxLength); err != nil { // the last table may have lowered it
		return err
	}
	if err := r.readColumns(); err != nil {
		return err
	}
	if len(r.columns) == 0 {
		return herb.Invalidf("%s %q has no columns", from.kind, r.table)
	}
	if from.kind != "table" || slices.ContainsFunc(r.stored, func(c column) bool { return c.isComputed }) {
		if err := r.limitComputed(len(r.columns)); err != nil {
			return err
		}
	}
	list := make([]string, len(r.columns))
	r.values, r.into = make([]any, len(list)), make([]any, len(list))
	for i, c := range r.columns {
		list[i] = "+" + quote(c.Name) // the sign keeps the driver from converting the value to the declared type
		r.into[i] = &r.values[i]
	}
	r.rows, err = r.query("SELECT " + strings.Join(list, ", ") + " FROM " + quote(r.table) + from.order)
	return err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// readColumns reads the names of the columns and their affinities. These follow the rules of SQLite, except that dates and
// booleans have none: SQLite stores them as text or as numbers.
func (r *reader) readColumns() error {
	found, err := r.query(`SELECT name, CASE
			WHEN type LIKE '%INT%' THEN 'number'
			WHEN type LIKE '%CHAR%' OR type LIKE '%CLOB%' OR type LIKE '%TEXT%' THEN 'text'
			WHEN type LIKE '%BLOB%' THEN ''
			WHEN type LIKE '%REAL%' OR type LIKE '%FLOA%' OR type LIKE '%DOUB%' OR type LIKE '%NUM%' OR type LIKE '%DEC%' THEN 'number'
			ELSE '' END, hidden > 1
		FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, r.table)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var name string
		var c column
		if err := found.Scan(&name, &c.affinity, &c.isComputed); err != nil {
			return err
		}
		r.columns, r.stored = append(r.columns, rows.Column{Name: name}), append(r.stored, c)
	}
	return r.guard(found.Err)
}

// Next implements rows.Rows. The types of columns are known after the last row.
func (r *reader) Next() ([][]byte, error) {
	more := false
	err := r.guard(func() error {
		if more = r.rows.Next(); !more {
			return r.rows.Err()
		}
		return r.rows.Scan(r.into...)
	})
	switch {
	case err != nil:
		return nil, err
	case !more:
		for i := range r.stored {
			r.columns[i].Type = r.stored[i].declaredType()
		}
		return nil, io.EOF
	}
	r.row++
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	for i, v := range r.values {
		if r.buf, err = r.stored[i].appendValue(r.buf, v); err != nil {
			return nil, rows.Damaged(err, fmt.Sprintf("%s, column %q", r.Position(), rows.Clip(r.columns[i].Name)))
		}
		if err := r.budget.Record(len(r.buf)); err != nil { // before the next value is copied
			return nil, err
		}
		r.ends = append(r.ends, len(r.buf))
	}
	r.cells = rows.SplitCells(r.cells[:0], r.buf, r.ends)
	return r.cells, nil
}

func (r *reader) Columns() []rows.Column { return r.columns }

func (r *reader) Options() rows.Options { return rows.Options{Table: r.table} }

func (r *reader) Position() rows.Position { return rows.Position{Table: r.table, Row: r.row} }

func (r *reader) Notes() []string { return r.notes }

func (r *reader) Close() error {
	defer r.end()
	return r.rows.Close()
}

// column describes the values of a column so far.
type column struct {
	affinity   herb.Type // what its declared type says about its values: text, numbers or nothing
	isComputed bool      // by an expression of the table
	isText     bool      // some value is not a number
	isOther    bool      // some value is not text that looks like a date
}

// appendValue appends a value of the column.
func (c *column) appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return b, nil
	case int64:
		c.isOther = true
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		c.isOther = true
		return rows.AppendFloat(b, v, 64), nil
	case string:
		if !utf8.ValidString(v) {
			return b, herb.Invalidf("the text is not valid UTF-8; store it as UTF-8, or as a BLOB")
		}
		c.isText, c.isOther = true, c.isOther || v != "" && !startsWithDate(v)
		return append(b, v...), nil
	case []byte:
		c.isText, c.isOther = true, true
		return base64.StdEncoding.AppendEncode(b, v), nil
	}
	return b, fmt.Errorf("the driver returned a %T", v)
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
