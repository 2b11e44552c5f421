package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

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
		if older, err = excludeOlder(path, schema.Needs()); err != nil {
			return err
		}
		if older.users != "" {
			return schema.InUse(have, older.users)
		}
		err = schema.Apply(ctx, tx, have)
		if have.Version == 0 && err != nil && strings.Contains(err.Error(), "already exists") {
			return herb.Wrap(herb.CodeInvalid, err, "the database has tables of another program, or of a herbarium before version "+
				"0.9.0; use another data folder and publish the files again")
		}
		return err
	})
	return have, err
}

// readSchema returns the state of the schema, zero for a new database.
func readSchema(ctx context.Context, tx store.Tx) (have store.SchemaState, err error) {
	var tables int
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'").Scan(&tables)
	if err != nil || tables == 0 {
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
		_, err = schema.Check(have, false)
	}
	if i.Version = have.Version; err != nil {
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
