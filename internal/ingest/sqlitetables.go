package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// listTables lists what can be read, in the order of names. Tables that SQLite keeps for itself are left out.
func listTables(ctx context.Context, conn *sql.Conn) ([]sqliteTable, error) {
	rows, err := conn.QueryContext(ctx, `SELECT name, type, wr FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []sqliteTable
	for rows.Next() {
		var t sqliteTable
		if err := rows.Scan(&t.name, &t.kind, &t.withoutRowID); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, rows.Err()
}

// published are the tables that are published when none is named; views where there are no tables.
func published(tables []sqliteTable) []string {
	var names []string
	for _, kind := range []string{"table", "view"} {
		for _, t := range tables {
			if t.kind == kind {
				names = append(names, t.name)
			}
		}
		if names != nil {
			break
		}
	}
	return names
}

// tablesIn lists the tables of a database that are published when none is named.
func tablesIn(ctx context.Context, path string) (names []string, err error) {
	defer recoverAs(&err, "the database", debug.SetPanicOnFault(true))
	db, conn, err := openSQLite(ctx, path)
	if err != nil {
		return nil, err
	}
	tables, err := listTables(ctx, conn)
	if err := errors.Join(sqliteError(err), conn.Close(), db.Close()); err != nil {
		return nil, err
	}
	return published(tables), nil
}

func chooseTable(tables []sqliteTable, name string) (sqliteTable, error) {
	choices := published(tables)
	switch {
	case len(tables) == 0:
		return sqliteTable{}, herb.Invalidf("the database has no tables")
	case name == "" && len(choices) == 0:
		return sqliteTable{}, herb.Invalidf("the database has only virtual tables, which are not published unless named; name one, "+
			"like file.db#%s; tables: %s", tables[0].name, listed(namesOf(tables)))
	case name == "" && len(choices) == 1:
		name = choices[0]
	case name == "":
		return sqliteTable{}, herb.Invalidf("the database has %d tables; name one, like file.db#%s; tables: %s",
			len(choices), choices[0], listed(choices))
	}
	for _, fold := range []bool{false, true} {
		for _, t := range tables {
			if t.name == name || fold && strings.EqualFold(t.name, name) {
				return t, nil
			}
		}
	}
	all := namesOf(tables)
	return sqliteTable{}, herb.Invalidf("there is no table %q%s tables: %s", clip(name), didYouMean(name, all), listed(all))
}

func namesOf(tables []sqliteTable) []string {
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

// didYouMean suggests the nearest of some choices, up to the semicolon behind it.
func didYouMean(name string, choices []string) string {
	if c, ok := text.Closest(name, choices); ok {
		return fmt.Sprintf("; did you mean %q?", c)
	}
	return ";"
}

// listed lists names for a message.
func listed(names []string) string {
	const most = 50
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
