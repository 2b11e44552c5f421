package postgres

import (
	"context"
	"crypto/tls"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/singleflight"

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

// Migrations take an advisory lock that ends with their transaction. The key is any number that
// other programs do not use.
const (
	lockKey  = "7522537965569048437"
	takeLock = "SELECT pg_advisory_xact_lock(" + lockKey + ")"
)

// migrate applies the missing schema migrations and registers this program as a user of the
// database. If several nodes start at once, one applies them and the others wait for its lock. An
// up-to-date database needs no privilege to create tables. The check is limited to the timeout of a
// call, so that an unresponsive server fails soon and the next call retries.
func (s *Store) migrate(ctx context.Context) error {
	o := s.options
	ctx, cancel := context.WithTimeout(ctx, o.MigrationTimeout)
	defer cancel()
	config := s.pool.Config().ConnConfig.Copy()
	for _, limit := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		config.RuntimeParams[limit] = "0" // the context sets the limit
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }() // everything is committed or rolled back
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var have store.SchemaState
	if err := retry(limited, o.RetryBudget, func(ctx context.Context) (err error) {
		have, err = readSchema(ctx, db)
		return err
	}); err != nil {
		return err
	}
	missing, err := o.schema.Check(have, o.KeepSchema)
	if err != nil {
		return err
	}
	if !missing {
		if err := checkObjects(limited, db, o.schema); err != nil {
			return err
		}
		return s.renew(limited, db)
	}
	have, err = s.apply(ctx, db)
	if err != nil {
		return err
	}
	if latest := o.schema.Latest(); o.Upgraded != nil && have.Version > 0 && have.Version < latest {
		o.Upgraded(have.Version, latest)
	}
	return nil
}

// readSchema returns the state of the schema, zero for a new database.
func readSchema(ctx context.Context, db store.Tx) (have store.SchemaState, err error) {
	var exists bool
	err = db.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'schema_version' AND pg_table_is_visible(oid))").Scan(
		&exists)
	if err == nil && !exists {
		var tables int
		err = db.QueryRowContext(ctx,
			store.SelectUnversioned(
				"SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)")).Scan(&tables)
		have.Unversioned = tables > 0
		return have, err
	}
	if err != nil {
		return have, err
	}
	return store.ReadSchema(ctx, db)
}

// selectObjects describes the tables, columns, indexes and triggers of a database.
const selectObjects = `
	WITH tables AS (
		SELECT c.oid, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND pg_table_is_visible(c.oid)
	)
	SELECT 'column ' || t.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
		|| CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
	FROM tables AS t JOIN pg_attribute AS a ON a.attrelid = t.oid WHERE a.attnum > 0 AND NOT a.attisdropped
	UNION ALL SELECT 'index ' || c.relname || ' of ' || t.relname
	FROM tables AS t JOIN pg_index AS i ON i.indrelid = t.oid JOIN pg_class AS c ON c.oid = i.indexrelid
	UNION ALL SELECT 'trigger ' || g.tgname || ' of ' || t.relname
	FROM tables AS t JOIN pg_trigger AS g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal
	ORDER BY 1`

// checkObjects fails if a database that is up to date lacks a table, column, index or trigger.
func checkObjects(ctx context.Context, tx store.Tx, schema store.Schema) error {
	current, err := currentSchema()
	if err != nil || schema.Latest() < current.Latest() { // of a test
		return err
	}
	return store.CheckObjects(ctx, tx, selectObjects, objects)
}

// apply applies the missing migrations in one transaction, while no other node does and no program
// registers itself. It returns the state that it found. It fails if programs that could not use the
// result use the database.
func (s *Store) apply(ctx context.Context, db *sql.DB) (have store.SchemaState, err error) {
	schema := s.options.schema
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return have, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	if _, err := tx.ExecContext(ctx, takeLock); err != nil {
		return have, err
	}
	have, err = readSchema(ctx, tx)
	if err != nil {
		return have, err
	}
	missing, err := schema.Check(have, false)
	if err != nil {
		return have, err
	}
	if missing && have.Version > 0 {
		users, err := olderUsers(ctx, tx, schema.Needs())
		if err != nil {
			return have, err
		}
		if users != "" {
			return have, schema.InUse(have, users)
		}
	}
	if missing {
		if err := schema.Apply(ctx, tx, have); err != nil {
			return have, err
		}
		if err := checkObjects(ctx, tx, schema); err != nil {
			return have, err
		}
	}
	if err := s.register(ctx, tx); err != nil {
		return have, err
	}
	return have, tx.Commit()
}

// lazyMigration applies schema migrations before the first use of the tables. The database may be
// down when a node starts, so the first call that needs the tables does it, and the next one
// retries after a failure.
type lazyMigration struct {
	migrate func(context.Context) error
	done    atomic.Bool
	running singleflight.Group
	closed  context.Context
	cancel  context.CancelCauseFunc
}

func newLazyMigration(migrate func(context.Context) error) *lazyMigration {
	p := &lazyMigration{migrate: migrate}
	p.closed, p.cancel = context.WithCancelCause(context.Background())
	return p
}

var errClosed = errors.New("the database is closed")

// wait returns once the schema is up to date, the running attempt has failed or ctx is done. The
// attempt continues after its callers have returned: a migration may take longer than one request
// may wait.
func (p *lazyMigration) wait(ctx context.Context) error {
	if p.done.Load() {
		return nil
	}
	select {
	case attempt := <-p.running.DoChan("", p.run):
		return attempt.Err
	case <-ctx.Done():
		return fmt.Errorf("waiting for schema migrations: %w", ctx.Err())
	}
}

func (p *lazyMigration) run() (any, error) {
	err := context.Cause(p.closed)
	if err == nil && !p.done.Load() { // the previous attempt may have just ended
		err = p.migrate(p.closed)
		p.done.Store(err == nil)
	}
	return nil, err
}

// close cancels the running attempt and waits for its end.
func (p *lazyMigration) close() {
	p.cancel(errClosed)
	<-p.running.DoChan("", p.run)
}

// Inspection describes a database server and the schema of the database.
type Inspection struct {
	Version  int    // of the schema; 0 if the database is new
	Latest   int    // version of the schema that this program uses
	Server   string // version of the server
	ReadOnly bool   // the server is a standby, or set to read-only
	Exposed  bool   // the connection leaves this machine and is not encrypted
	// ClockOffset is the time of the server minus the local time. Accuracy is half the time of the
	// request.
	ClockOffset, Accuracy time.Duration
}

// Inspect connects to the database at an address and describes it. Unlike a Store, it does not
// migrate the schema. The error explains why the database cannot be used and how to fix it.
func Inspect(ctx context.Context, address string) (i Inspection, err error) {
	schema, err := currentSchema()
	if err != nil {
		return i, err
	}
	i.Latest = schema.Latest()
	config, err := configure(address, Options{}.withDefaults())
	if err != nil {
		return i, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return i, setupError(config.ConnConfig, err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if err := i.readServer(ctx, conn); err != nil {
		return i, setupError(config.ConnConfig, err)
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer func() { err = errors.Join(err, db.Close()) }()
	have, err := readSchema(ctx, db)
	i.Version = have.Version
	if err == nil {
		var missing bool
		missing, err = schema.Check(have, false)
		if err == nil && !missing {
			err = checkObjects(ctx, db, schema)
		}
	}
	return i, setupError(config.ConnConfig, err)
}

// readServer describes the server of a connection.
func (i *Inspection) readServer(ctx context.Context, conn *pgx.Conn) error {
	addr, remote := conn.PgConn().Conn().RemoteAddr().(*net.TCPAddr)
	_, encrypted := conn.PgConn().Conn().(*tls.Conn)
	i.Exposed = remote && !addr.IP.IsLoopback() && !encrypted
	var readOnly string
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('transaction_read_only')").
		Scan(&i.Server, &readOnly); err != nil {
		return err
	}
	i.ReadOnly = readOnly == "on"
	var now time.Time
	sent := time.Now()
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return err
	}
	i.Accuracy = time.Since(sent) / 2
	i.ClockOffset = now.Sub(sent.Add(i.Accuracy))
	return nil
}
