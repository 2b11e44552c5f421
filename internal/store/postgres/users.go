package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Programs that use a database have a row in the table programs, so that no migration removes what
// they need. A row counts for expiry after it was renewed, by the clock of the database: a program
// that was killed blocks migrations for that long.
const (
	renewal = 10 * time.Second
	expiry  = 30 * time.Second
)

// addProgram adds or renews a row. It shares the lock of migrations until it is committed: a
// migration sees the row, or the program sees the result of the migration if it reads the schema
// afterwards. The commit waits neither for the disk nor for standbys, because a lost registration
// is repeated.
const addProgram = "WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(" + lockKey + "), " +
	noWait + "), " +
	"stale AS (DELETE FROM programs WHERE seen < now() - interval '1 day') " +
	"INSERT INTO programs (id, schema_version, name, seen) SELECT $1, $2, $3, clock_timestamp() FROM locked " +
	"ON CONFLICT (id) DO UPDATE SET seen = excluded.seen"

const noWait = "set_config('synchronous_commit', 'off', true)"

// register records that this program uses the database. A standby, which can only be read, has no
// effect on migrations.
func (s *Store) register(ctx context.Context, db store.Tx) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	_, err = db.ExecContext(ctx, addProgram, s.id, s.options.schema.Latest(),
		fmt.Sprintf("process %d on %s", os.Getpid(), host))
	if codeOf(err) == readOnlyTransaction {
		return nil
	}
	return err
}

// renew registers this program again, and fails if the schema needs a newer one.
func (s *Store) renew(ctx context.Context, db store.Tx) error {
	if err := s.register(ctx, db); err != nil {
		return err
	}
	have, err := readSchema(ctx, db)
	if err == nil {
		_, err = s.options.schema.Check(have, true)
	}
	return err
}

// keepRegistered renews the registration until the store is closed. If a newer program has migrated
// the schema while this one could not reach the database, and the schema needs a newer program, all
// later calls fail.
func (s *Store) keepRegistered() {
	for {
		select {
		case <-s.migration.closed.Done():
			return
		case <-time.After(s.options.renewal):
		}
		if !s.migration.done.Load() {
			continue // the first call registers
		}
		ctx, cancel := context.WithTimeout(s.migration.closed, s.options.Timeout)
		err := s.onConn(ctx, func(ctx context.Context, conn *sql.Conn, answered func()) error {
			if err := conn.PingContext(ctx); err != nil {
				return err
			}
			answered() // the registration may wait for a migration
			return s.renew(ctx, conn)
		})
		if herb.CodeOf(err) == herb.CodeInvalid {
			s.migration.done.Store(false)
		}
		cancel()
	}
}

// unregister removes the registration. A failure is harmless: the registration expires.
func (s *Store) unregister() {
	if !s.migration.done.Load() || s.Available() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = s.db.ExecContext(ctx, "WITH off AS MATERIALIZED (SELECT "+noWait+
		") DELETE FROM programs USING off WHERE id = $1", s.id)
}

// olderUsers describes the programs with a schema version below needs that use the database. It is
// empty if there are none.
func olderUsers(ctx context.Context, tx store.Tx, needs int) (string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT name, schema_version FROM programs WHERE schema_version < $1 "+
		"AND seen > now() - make_interval(secs => $2) ORDER BY name LIMIT 5", needs, expiry.Seconds())
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	var users []string
	for rows.Next() {
		var name string
		var version int
		if err := rows.Scan(&name, &version); err != nil {
			return "", err
		}
		users = append(users, fmt.Sprintf("%s with schema version %d", name, version))
	}
	if len(users) > 0 {
		users[len(users)-1] += fmt.Sprintf(" (a killed process counts for %d seconds)", int(expiry.Seconds()))
	}
	return strings.Join(users, ", "), rows.Err()
}
