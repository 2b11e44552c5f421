package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
)

// Inspection describes a database file.
type Inspection struct {
	Version int    // of its schema
	Latest  int    // version of the schema that this program uses
	Damage  string // the first problem that SQLite found; empty if there is none
}

// Inspect reads the schema version of a database and checks its structure. Unlike Open, it neither creates nor migrates it.
// Servers may use the database at the same time.
func Inspect(ctx context.Context, path string) (i Inspection, err error) {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return i, err
	}
	i.Latest = len(steps)
	db, err := connect(path, Options{}.withDefaults(), url.Values{"mode": {"rw"}, "_pragma": {"query_only(1)"}})
	if err != nil {
		return i, mapError("opening the database "+path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if i.Version, err = versionOf(ctx, db, i.Latest); err != nil {
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
