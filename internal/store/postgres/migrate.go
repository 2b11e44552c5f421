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

// migrations upgrade the schema; a released file is never changed. Nodes of the previous release keep working after an
// upgrade, so a migration only adds. A migration that removes what an older program needs follows one release later and sets
// migrations_lock.needs to the lowest version that a program must know.
//
//go:embed migrations/*.sql
var migrations embed.FS

// latest is the version of the last migration.
const latest = 4

// The tables that record applied migrations and let one node at a time apply them.
const (
	migrationsTable = "migrations"
	createLock      = "CREATE TABLE IF NOT EXISTS migrations_lock (one integer PRIMARY KEY, needs bigint NOT NULL)"
	fillLock        = "INSERT INTO migrations_lock (one, needs) VALUES (1, 0) ON CONFLICT (one) DO NOTHING"
	takeLock        = "SELECT needs FROM migrations_lock WHERE one = 1 FOR UPDATE"
)

// migrate applies the missing schema migrations. If several nodes start at once, one applies them and the others wait for a
// row lock. An up-to-date database is not locked and needs no privilege to create tables.
//
// The checks and the preparation are limited to the timeout of a call, so that an unresponsive server fails soon and the
// next call retries.
func migrate(ctx context.Context, config *pgx.ConnConfig, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.MigrationTimeout)
	defer cancel()
	config = config.Copy()
	for _, limit := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		config.RuntimeParams[limit] = "0" // the context sets the limit
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }() // everything is committed or rolled back
	withTimeout := func(do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, o.Timeout)
		defer cancel()
		return retry(ctx, o.RetryBudget, do)
	}
	var done bool
	if err := withTimeout(func(ctx context.Context) (err error) {
		done, err = upToDate(ctx, db)
		return err
	}); err != nil || done {
		return err
	}
	if err := withTimeout(func(ctx context.Context) error { return prepareLock(ctx, db) }); err != nil {
		return err
	}
	return withMigrationLock(ctx, db, func() error { return apply(ctx, db, latest) })
}

// upToDate reports whether no migration is missing, and rejects a database that requires a newer program.
func upToDate(ctx context.Context, db *sql.DB) (bool, error) {
	var version, needs sql.Null[int64]
	err := db.QueryRowContext(ctx, "SELECT max(m.version_id), max(l.needs) FROM "+migrationsTable+" m, migrations_lock l").
		Scan(&version, &needs)
	if codeOf(err) == undefinedTable {
		return false, nil // new database
	}
	if err != nil {
		return false, err
	}
	if needs.V > latest {
		return false, &newerError{needs: needs.V}
	}
	return version.V >= latest, nil
}

// prepareLock creates the row that is locked. PostgreSQL may reject a table that another node creates concurrently; it
// exists at the second attempt.
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

// withMigrationLock runs do while no other node does. If the connection that holds the lock breaks, another node may start;
// a migration is a transaction and fails if its tables exist, so none is applied twice.
func withMigrationLock(ctx context.Context, db *sql.DB, do func() error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // read-only
	if err := tx.QueryRowContext(ctx, takeLock).Scan(new(int64)); err != nil {
		return err
	}
	return do()
}

// apply applies the missing migrations up to a version.
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
