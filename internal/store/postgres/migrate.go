package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// migrations bring a database from one version to the next; a file that was released is never changed. Nodes of the last
// release go on working with tables that a newer one has brought up to date, so a migration only adds. One that takes
// away what an older program needs comes a release later, and says so by setting migrations_lock.needs to the least
// version that a program must know.
//
//go:embed migrations/*.sql
var migrations embed.FS

// latest is the version of the last migration.
const latest = 3

// The tables that tell which migrations were applied, and that let one node at a time apply them.
const (
	migrationsTable = "migrations"
	createLock      = "CREATE TABLE IF NOT EXISTS migrations_lock (one integer PRIMARY KEY, needs bigint NOT NULL)"
	fillLock        = "INSERT INTO migrations_lock (one, needs) VALUES (1, 0) ON CONFLICT (one) DO NOTHING"
	takeLock        = "SELECT needs FROM migrations_lock WHERE one = 1 FOR UPDATE"
)

// migrate brings the tables up to date. Of several nodes that start at once, one does it and the others wait for the lock
// of a row. A database that is up to date is not locked, and needs no right to create tables.
//
// What only looks and prepares may take no longer than a call. So a server that is silent is given up soon, and the next
// call tries again.
func migrate(ctx context.Context, config *pgx.ConnConfig, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.MigrationTimeout)
	defer cancel()
	config = config.Copy()
	for _, limit := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		config.RuntimeParams[limit] = "0" // the context limits all of it
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }() // all of it is committed or given up
	again := func(do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, o.Timeout)
		defer cancel()
		return attempt(ctx, o.Patience, do)
	}
	var done bool
	if err := again(func(ctx context.Context) (err error) {
		done, err = upToDate(ctx, db)
		return err
	}); err != nil || done {
		return err
	}
	if err := again(func(ctx context.Context) error { return prepareLock(ctx, db) }); err != nil {
		return err
	}
	return locked(ctx, db, func() error { return apply(ctx, db, latest) })
}

// upToDate reports whether nothing is to be done, and refuses a database that is not for this program.
func upToDate(ctx context.Context, db *sql.DB) (bool, error) {
	var version, needs sql.Null[int64]
	err := db.QueryRowContext(ctx, "SELECT max(m.version_id), max(l.needs) FROM "+migrationsTable+" m, migrations_lock l").
		Scan(&version, &needs)
	if codeOf(err) == undefinedTable {
		return false, nil // a new database
	}
	if err != nil {
		return false, err
	}
	if needs.V > latest {
		return false, &newerError{needs: needs.V}
	}
	return version.V >= latest, nil
}

// prepareLock makes the row that is locked. PostgreSQL may refuse a table that another node creates in the same moment;
// then it is there the next time.
func prepareLock(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, createLock)
	if slices.Contains([]string{uniqueViolation, duplicateTable, duplicateObject}, codeOf(err)) {
		_, err = db.ExecContext(ctx, createLock)
	}
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, fillLock)
	return err
}

// locked runs do while no other node runs it. When the connection that holds the lock breaks, another node may begin; a
// migration is a transaction of its own and fails where its tables are there already, so none is applied twice.
func locked(ctx context.Context, db *sql.DB, do func() error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	var needs int64
	if err := tx.QueryRowContext(ctx, takeLock).Scan(&needs); err != nil {
		return err
	}
	return do()
}

// apply applies the migrations that are missing up to a version, if another node has not done it.
func apply(ctx context.Context, db *sql.DB, version int64) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	table, err := database.NewStore(database.DialectPostgres, migrationsTable)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider("", db, files, goose.WithStore(table), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return fmt.Errorf("the migrations of the database: %w", err)
	}
	return nil
}
