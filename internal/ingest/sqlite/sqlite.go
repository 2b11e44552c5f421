// Package sqlite reads tables of SQLite databases.
package sqlite

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
	"herbarium/internal/ingest/geometry"
	"herbarium/internal/ingest/rows"
)

// Format returns the SQLite format.
func Format() rows.Format {
	return rows.Format{
		Name:       "sqlite",
		Extensions: []string{".db", ".sqlite", ".sqlite3", ".gpkg"},
		Matches:    func(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) },
		Open: func(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
			db, err := openDatabase(ctx, f, b)
			if err != nil {
				return nil, err
			}
			r := &reader{database: db}
			if err := r.start(o.Table); err != nil {
				return nil, err
			}
			return r, nil
		},
		Tables: func(ctx context.Context, f rows.File, _ rows.Options, b *rows.Budget) ([]rows.Table, error) {
			db, err := openDatabase(ctx, f, b)
			if err != nil {
				return nil, err
			}
			return db.tables, nil
		},
	}
}

// listTables lists the tables by name, without those that SQLite uses internally or to store
// virtual tables, and without those that describe the others of a GeoPackage. It does not use
// pragma_table_list, which expands all views. SQLite has checked that the schema describes every
// object by its kind and name.
func (d *database) listTables() error {
	found, err := d.query(`WITH objects AS (
			SELECT name, iif(type = 'table' AND ifnull(rootpage, 0) = 0, 'virtual table', type) AS kind
			FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\')
		SELECT name, kind FROM objects
		WHERE NOT (name LIKE 'gpkg\_%' ESCAPE '\' AND EXISTS (SELECT 1 FROM objects WHERE name = 'gpkg_contents'))
			AND (kind <> 'table' OR name NOT IN (SELECT name || '_' || value FROM objects, json_each(
				'["config", "content", "data", "docsize", "idx", "node", "parent", "rowid", "segdir", "segments", "stat"]')
			WHERE kind = 'virtual table'))
		ORDER BY name`)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var name, kind string
		if err := found.Scan(&name, &kind); err != nil {
			return err
		}
		t := rows.Table{Name: name}
		if kind != "table" {
			t.Skipped = "a " + kind + ", which is not published"
		}
		d.tables = append(d.tables, t)
	}
	return d.guard(found.Err)
}

// selectTable returns the index of a table by its name. An empty name selects the only one.
func selectTable(tables []rows.Table, name string) (int, error) {
	published := rows.Published(tables)
	switch {
	case len(tables) == 0:
		return 0, herb.Invalidf("the database has no tables")
	case len(published) == 0:
		return 0, notStored(tables[0])
	case name == "" && len(published) > 1:
		return 0, herb.Invalidf("the database has %d tables; name one, like file.db#%s; tables: %s",
			len(published), published[0], rows.JoinNames(published))
	case name == "":
		name = published[0]
	}
	i, err := rows.FindTable("table", name, tables)
	if err == nil && tables[i].Skipped != "" {
		err = notStored(tables[i])
	}
	return i, err
}

// notStored returns the error for a view or a virtual table.
func notStored(t rows.Table) error {
	return herb.Invalidf("%q is %s, because its rows are computed; store them: CREATE TABLE copy AS SELECT * FROM %s",
		rows.Clip(t.Name), t.Skipped, quote(rows.Clip(t.Name)))
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

func (r *reader) start(name string) error {
	i, err := selectTable(r.tables, name)
	if err != nil {
		return err
	}
	r.table = r.tables[i].Name
	if name == "" {
		r.notes = rows.SelectionNotes("table", r.tables, i)
	}
	if err := r.readColumns(); err != nil {
		return err
	}
	list := make([]string, len(r.columns))
	r.values, r.into = make([]any, len(list)), make([]any, len(list))
	for i, c := range r.columns {
		list[i] = "+" + quote(c.Name) // the sign keeps the driver from converting the value to the declared type
		r.into[i] = &r.values[i]
	}
	index, err := r.storedOrder()
	if err != nil {
		return err
	}
	r.rows, err = r.query("SELECT " + strings.Join(list, ", ") + " FROM " + quote(r.table) + index)
	return err
}

// storedOrder returns the clause that makes SQLite read the rows in the order of the file, without
// sorting them. A table without row IDs is stored as the index of its primary key: it has no column
// for them.
func (r *reader) storedOrder() (index string, err error) {
	return index, r.guard(func() error {
		return r.conn.QueryRowContext(r.ctx,
			`SELECT ifnull(max(format(' INDEXED BY "%w"', name)), ' NOT INDEXED') FROM pragma_index_list(?) AS l
			WHERE origin = 'pk' AND NOT EXISTS (SELECT 1 FROM pragma_index_xinfo(l.name) WHERE cid = -1)`, r.table).Scan(&index)
	})
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// readColumns reads the names of the columns and their affinities. These follow the rules of
// SQLite, except that dates and booleans have none: SQLite stores them as text or as numbers.
// Columns that are computed when they are read are left out.
func (r *reader) readColumns() error {
	found, err := r.query(`SELECT name, CASE
			WHEN type LIKE '%INT%' THEN 'number'
			WHEN type LIKE '%CHAR%' OR type LIKE '%CLOB%' OR type LIKE '%TEXT%' THEN 'text'
			WHEN type LIKE '%BLOB%' THEN ''
			WHEN type LIKE '%REAL%' OR type LIKE '%FLOA%' OR type LIKE '%DOUB%' OR type LIKE '%NUM%' OR type LIKE '%DEC%' THEN 'number'
			ELSE '' END, type, hidden = 2
		FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, r.table)
	if err != nil {
		return err
	}
	defer found.Close()
	var computed []string
	for found.Next() {
		var name, declared string
		var c column
		isComputed := false
		if err := found.Scan(&name, &c.affinity, &declared, &isComputed); err != nil {
			return err
		}
		c.isGeometry = isGeometry(name, declared)
		if isComputed {
			computed = append(computed, name)
			continue
		}
		r.columns, r.stored = append(r.columns, rows.Column{Name: name}), append(r.stored, c)
	}
	if len(computed) > 0 {
		r.notes = append(r.notes, "not published, because it is computed when it is read: "+rows.JoinNames(computed)+
			"; declare the column as STORED")
	}
	return r.guard(found.Err)
}

// isGeometry reports whether the declared type or the name of a column says that it is a geometry.
func isGeometry(name, declared string) bool {
	kinds := []string{"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
		"geometrycollection"}
	kind, _, _ := strings.Cut(strings.ToLower(declared), " ") // such as POINT Z
	return slices.Contains(kinds, kind) || geometry.IsUsual(name)
}

// Next implements rows.Rows. The types of columns are known after the last row.
func (r *reader) Next() ([][]byte, error) {
	more := false
	err := r.guard(func() error {
		more = r.rows.Next()
		if !more {
			return r.rows.Err()
		}
		return r.rows.Scan(r.into...)
	})
	switch {
	case err != nil:
		return nil, err
	case !more:
		for i := range r.stored {
			r.columns[i].Type, r.columns[i].Numbers = r.stored[i].declaredType(), r.stored[i].hasNumber
		}
		return nil, io.EOF
	}
	r.row++
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	for i, v := range r.values {
		r.buf, err = r.stored[i].appendValue(r.buf, v)
		if err != nil {
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
func (r *reader) Layout() herb.Layout   { return herb.Layout{} }

func (r *reader) Position() rows.Position { return rows.Position{Table: r.table, Row: r.row} }

func (r *reader) Notes() []string {
	notes := slices.Clip(r.notes)
	for i, c := range r.stored {
		if c.binaries > 0 && (c.isGeometry || c.geometries > 0) {
			notes = append(notes, fmt.Sprintf("column %q: %s not a geometry as WKB and listed as base64",
				rows.Clip(r.columns[i].Name), herb.Plural(c.binaries, "value is", "values are")))
		}
	}
	return notes
}

func (r *reader) Close() error { return r.rows.Close() }

// column describes the values of a column so far.
type column struct {
	affinity  herb.Type // what its declared type says about its values: text, numbers or nothing
	isText    bool      // some value is not a number
	hasNumber bool      // some value is a number
	isOther   bool      // some value is not text that looks like a date

	isGeometry bool // its declared type is a geometry
	geometries int  // values that were listed as well-known text
	binaries   int  // values that were listed as base64
}

func (c *column) appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return b, nil
	case int64:
		c.isOther, c.hasNumber = true, true
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		c.isOther, c.hasNumber = true, true
		return rows.AppendFloat(b, v, 64), nil
	case string:
		if !utf8.ValidString(v) {
			return b, herb.Invalidf("the text is not valid UTF-8; store it as UTF-8, or as a BLOB")
		}
		c.isText, c.isOther = true, c.isOther || v != "" && !startsWithDate(v)
		return append(b, v...), nil
	case []byte:
		c.isText, c.isOther = true, true
		return c.appendBytes(b, v), nil
	}
	return b, fmt.Errorf("the driver returned a %T", v)
}

// appendBytes appends a geometry of a GeoPackage, or one as WKB in a column that is declared as a
// geometry, as well-known text, and other bytes in base64.
func (c *column) appendBytes(b, v []byte) []byte {
	wkt, ok := geometry.AppendGeoPackage(b, v)
	if !ok && c.isGeometry {
		wkt, ok = geometry.AppendWKT(b, v)
	}
	switch {
	case ok:
		c.geometries++
		return wkt
	case len(v) > 0:
		c.binaries++
	}
	return base64.StdEncoding.AppendEncode(b, v)
}

// declaredType returns the type of a column once all values have been read. SQLite enforces no
// types: numbers are declared only if all values are stored as numbers. Dates are stored as text,
// so a text column of dates is left to inference.
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
