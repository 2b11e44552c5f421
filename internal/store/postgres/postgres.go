// Package postgres stores plants, keys and the catalogue in a PostgreSQL database, which any number
// of nodes may share.
package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/semaphore"

	"herbarium/internal/dial"
	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// connectTimeout is the time a host has to accept a connection, unless the address sets another.
const connectTimeout = 5 * time.Second

// idleTimeout is how long a node that hangs in a transaction can block others. It is less than the
// default LockTimeout, so that the others wait for it instead of failing.
const idleTimeout = 3 * time.Second

// Options configures a Store. The zero value suits a server. Timeouts in the address of the
// database take precedence. The address also sets the number of connections, pool_max_conns: by
// default 4, or the number of processors if that is higher.
type Options struct {
	StatementTimeout time.Duration // of one statement; 0 means 10 seconds
	LockTimeout      time.Duration // of the wait for the transaction of another node; 0 means 5 seconds
	// Stall is how long a connection may take to answer the first statement of a call, which every
	// server answers at once. Then the connection is considered dead, and the call is repeated on a
	// new one. 0 means 2 seconds.
	Stall       time.Duration
	RetryBudget time.Duration // how long transient failures are retried; 0 means 2 seconds
	// Timeout limits a whole call, even if the database does not respond; a commit that has begun
	// gets the same time again. 0 means 15 seconds.
	Timeout time.Duration
	// of schema migrations, including the wait for another node that applies them; 0 means 10
	// minutes
	MigrationTimeout time.Duration
	Now              func() time.Time // nil means time.Now
	// KeepSchema fails, instead of creating or upgrading tables, if the schema is not one that this
	// program can use.
	KeepSchema bool
	// Upgraded is called after the schema of an existing database was upgraded. nil disables it.
	Upgraded func(from, to int)

	schema  store.Schema  // of the program
	renewal time.Duration // interval at which the program renews its registration
}

func (o Options) withDefaults() Options {
	o.StatementTimeout = cmp.Or(o.StatementTimeout, 10*time.Second)
	o.LockTimeout = cmp.Or(o.LockTimeout, 5*time.Second)
	o.Stall = cmp.Or(o.Stall, 2*time.Second)
	o.RetryBudget = cmp.Or(o.RetryBudget, 2*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.MigrationTimeout = cmp.Or(o.MigrationTimeout, 10*time.Minute)
	o.renewal = cmp.Or(o.renewal, renewal)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	store.Tables
	pool      *pgxpool.Pool
	db        *sql.DB // same connections, for portable SQL
	migration *lazyMigration
	pings     *sql.DB // other connections, because the first ones would measure how busy their pool is
	pingPool  *pgxpool.Pool
	readSlots *semaphore.Weighted
	readWaits atomic.Int64 // reads that waited for one of them
	readWait  atomic.Int64 // nanoseconds of all of them together
	downUntil atomic.Int64 // nanoseconds since 1970; see Ping
	diskFull  atomic.Bool  // the last write failed because the disk of the server is full
	options   Options
	id        string         // of this program in the table programs
	tasks     sync.WaitGroup // in the background
}

// Open returns the database at an address, which is a URL or a list of settings in libpq syntax:
// with several hosts, target_session_attrs and TLS, if needed. It fails if the address is invalid,
// not if the database is down: connections are made, and schema migrations applied, on first use.
// Those fail with herb.CodeRejected while programs that could not use their result use the
// database.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	o = o.withDefaults()
	config, err := configure(address, o)
	if err != nil {
		return nil, err
	}
	return open(ctx, config, o)
}

func open(ctx context.Context, config *pgxpool.Config, o Options) (_ *Store, err error) {
	if o.schema == nil {
		o.schema, err = currentSchema()
		if err != nil {
			return nil, err
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, mapError("opening the database", err)
	}
	// A pool, because it goes on connecting after a Ping has given up: if the first of several
	// hosts does not respond, connecting to the next one takes longer than a Ping waits.
	small := config.Copy()
	small.MaxConns, small.MinConns, small.MinIdleConns = 2, 0, 0 // one may be about to be closed
	pingPool, err := pgxpool.NewWithConfig(ctx, small)
	if err != nil {
		pool.Close()
		return nil, mapError("opening the database", err)
	}
	s := &Store{
		pool: pool, db: stdlib.OpenDBFromPool(pool), pings: stdlib.OpenDBFromPool(pingPool), pingPool: pingPool,
		readSlots: newReadSlots(int(config.MaxConns)), options: o, id: rand.Text(),
	}
	s.migration = newLazyMigration(s.migrate)
	s.Tables = store.NewTables(s.read, s.write)
	s.tasks.Go(s.keepRegistered)
	return s, nil
}

// Migrate applies schema migrations now. Calling it is optional, because every operation does it
// first. It is for callers that want to wait for it and to get an error that explains why the
// database cannot be used and how to fix it.
func (s *Store) Migrate(ctx context.Context) error {
	err := s.migration.wait(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return setupError(s.pool.Config().ConnConfig, err)
}

// configure parses the address and adds defaults.
func configure(address string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil { // the error contains no password
		return nil, herb.Invalidf("invalid database address: %v; "+
			"write it like postgres://user:password@host:5432/database?sslmode=verify-full", err)
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	// also limits requests to cancel
	config.ConnConfig.DialFunc = dial.New(config.ConnConfig.ConnectTimeout).DialContext
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // see onConn
	for name, value := range map[string]string{
		"application_name":                    "herbarium",
		"statement_timeout":                   milliseconds(o.StatementTimeout),
		"lock_timeout":                        milliseconds(o.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(idleTimeout),
	} {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// milliseconds formats a timeout. It never returns 0, which would disable the timeout.
func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10)
}

// Close closes the connections. Acknowledged writes are already committed.
func (s *Store) Close() error {
	s.migration.close()
	s.tasks.Wait()
	s.unregister()
	err := errors.Join(s.pings.Close(), s.db.Close())
	s.pingPool.Close()
	s.pool.Close()
	return err
}

// downTTL is how long the database is considered down after a Ping without an answer.
const downTTL = 5 * time.Second

// Ping reports whether the database answers and, after a write failed because of a full disk,
// whether it can be written. If Ping is called periodically, other calls fail fast while the
// database is down: for downTTL after a Ping without an answer they return an error immediately, so
// that requests do not pile up.
func (s *Store) Ping(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := migrationError(s.migration.wait(limited))
	if err == nil {
		err = s.ping(limited)
	}
	switch {
	case err == nil:
		s.downUntil.Store(0)
	case !errors.Is(ctx.Err(), context.Canceled): // a canceled call is no evidence
		s.downUntil.Store(s.options.Now().Add(downTTL).UnixNano())
	}
	if err == nil && s.diskFull.Load() {
		return s.ProbeWrite(ctx)
	}
	return mapError("pinging the database", err)
}

// ping sends a statement, and sends it again if the connection is lost or has not answered in half
// the time: it may have died without notice.
func (s *Store) ping(ctx context.Context) error {
	end, _ := ctx.Deadline()
	half := min(time.Until(end)/2, s.options.Stall)
	ping := func(ctx context.Context, conn *sql.Conn, _ func()) error { return conn.PingContext(ctx) }
	err := onConn(ctx, s.pings, half, ping)
	if err != nil && ctx.Err() == nil {
		err = onConn(ctx, s.pings, half, ping)
	}
	return err
}

// Available returns an error with herb.CodeUnavailable if the last Ping had no answer. It does no
// I/O.
func (s *Store) Available() error {
	if until := s.downUntil.Load(); until != 0 && s.options.Now().UnixNano() < until {
		return herb.Errorf(herb.CodeUnavailable, "the database does not answer; try again")
	}
	return nil
}
