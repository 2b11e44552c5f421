package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"

	"herbarium/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// objects are the tables, columns, indexes and triggers of a database that is up to date.
//
//go:embed schema.txt
var objects string

// currentSchema returns the schema of this program.
func currentSchema() (store.Schema, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return store.LoadSchema(folder)
}

// migrate applies the missing schema migrations in one transaction, unless programs use the
// database that could not use the result. It returns the state that it found. An up-to-date
// database is not locked.
func (s *Store) migrate(ctx context.Context, path string) (have store.SchemaState, err error) {
	schema := s.options.schema
	have, err = readSchema(ctx, s.writer)
	if err != nil {
		return have, err
	}
	missing, err := schema.Check(have, s.options.KeepSchema)
	if err == nil && !missing {
		err = checkObjects(ctx, s.writer, schema)
	}
	if err != nil || !missing {
		return have, err
	}
	var older olderUsers
	defer func() { older.close() }() // after the commit
	err = inTx(ctx, s.writer, func(tx *sql.Tx) error {
		have, err = readSchema(ctx, tx) // another process may have migrated it meanwhile
		if err != nil {
			return err
		}
		if missing, err := schema.Check(have, false); err != nil || !missing {
			return err
		}
		older, err = excludeOlder(path, schema.Needs())
		if err != nil {
			return err
		}
		if older.users != "" {
			return schema.InUse(have, older.users)
		}
		if err := schema.Apply(ctx, tx, have); err != nil {
			return err
		}
		return checkObjects(ctx, tx, schema)
	})
	return have, err
}

// selectObjects describes the tables, columns, indexes and triggers of a database.
const selectObjects = `
	SELECT 'column ' || t.name || '.' || c.name || ' ' || c.type || iif(c."notnull", ' not null', '') || iif(c.pk, ' key', '')
	FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
	UNION ALL SELECT type || ' ' || name || ' of ' || tbl_name FROM sqlite_schema
	WHERE type IN ('index', 'trigger') AND name NOT LIKE 'sqlite_%' ORDER BY 1`

// checkObjects fails if a database that is up to date lacks a table, column, index or trigger.
func checkObjects(ctx context.Context, tx store.Tx, schema store.Schema) error {
	current, err := currentSchema()
	if err != nil || schema.Latest() < current.Latest() { // of a test
		return err
	}
	return store.CheckObjects(ctx, tx, selectObjects, objects)
}

// readSchema returns the state of the schema, zero for a new database.
func readSchema(ctx context.Context, tx store.Tx) (have store.SchemaState, err error) {
	var tables int
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'").Scan(&tables)
	if err == nil && tables == 0 {
		err = tx.QueryRowContext(ctx,
			store.SelectUnversioned("SELECT name FROM sqlite_schema WHERE type = 'table'")).Scan(&tables)
		have.Unversioned = tables > 0
		return have, err
	}
	if err != nil {
		return have, err
	}
	return store.ReadSchema(ctx, tx)
}

// Inspection describes a database file.
type Inspection struct {
	Version int    // of its schema
	Latest  int    // version of the schema that this program uses
	Damage  string // the first problem that SQLite found; empty if there is none
}

// Inspect reads the schema version of a database and checks its structure. Unlike Open, it neither
// creates nor migrates it. Servers may use the database at the same time.
func Inspect(ctx context.Context, path string) (i Inspection, err error) {
	schema, err := currentSchema()
	if err != nil {
		return i, err
	}
	i.Latest = schema.Latest()
	db, err := connect(path, busyTimeout, url.Values{"mode": {"rw"}, "_pragma": {"query_only(1)"}})
	if err != nil {
		return i, mapError("opening the database "+path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	have, err := readSchema(ctx, db)
	if err == nil {
		var missing bool
		missing, err = schema.Check(have, false)
		if err == nil && !missing {
			err = checkObjects(ctx, db, schema)
		}
	}
	i.Version = have.Version
	if err != nil {
		return i, mapError("opening the database "+path, err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&i.Damage); err != nil {
		return i, mapError("checking the database "+path, err)
	}
	if i.Damage == "ok" {
		i.Damage = ""
	}
	return i, nil
}
