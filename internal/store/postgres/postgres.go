// Package postgres keeps plants, keys and the catalogue in a PostgreSQL database, which any number of nodes may use at once.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// connectTimeout is how long a host may take to accept a connection, unless the address says otherwise.
const connectTimeout = 5 * time.Second

// Options adjust a Store. The zero value is what a server wants. What the address of the database says about a timeout
// or the pool goes before what is said here.
type Options struct {
	// MaxConns is how many connections there may be at once. Zero means 4, or one a processor if that is more. One of them
	// is reserved for writes, and half of the others, rounded up, for cheap reads.
	MaxConns int
	// StatementTimeout is how long the database may work on one statement. Zero means 10 seconds.
	StatementTimeout time.Duration
	// LockTimeout is how long the database may wait for the transaction of another node, and how long a node that stops
	// in the middle of a transaction may keep others waiting. Zero means 5 seconds.
	LockTimeout time.Duration
	// Patience is how long something that failed for the time being is tried again. Zero means 2 seconds.
	Patience time.Duration
	// Timeout is how long a call may take in all, also when the database says nothing; a commit that has begun may take as
	// long again. Zero means 15 seconds.
	Timeout time.Duration
	// MigrationTimeout is how long bringing the tables up to date may take, the wait for another node that does it
	// included. Zero means 10 minutes.
	MigrationTimeout time.Duration
	// Now tells the time. Nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		value *time.Duration
		zero  time.Duration
	}{
		{&o.StatementTimeout, 10 * time.Second},
		{&o.LockTimeout, 5 * time.Second},
		{&o.Patience, 2 * time.Second},
		{&o.Timeout, 15 * time.Second},
		{&o.MigrationTimeout, 10 * time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Store is an open database. Its methods may be called at the same time.
type Store struct {
	store.Tables
	pool    *pgxpool.Pool
	db      *sql.DB // the same connections, for the statements that all databases share
	tables  *preparation
	pinger  *pinger
	lanes   lanes
	full    atomic.Bool // the last write failed because the disk of the server is full
	options Options
}

// Open returns the database at an address, which is a URL or a list of settings, as libpq takes them: with several hosts,
// target_session_attrs and TLS, if need be. It fails where the address cannot be understood, and not because the database
// does not answer: it connects when it is used, and brings the tables up to date before that.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	o = o.withDefaults()
	config, err := configure(address, o)
	if err != nil {
		return nil, err
	}
	return open(ctx, config, o)
}

func open(ctx context.Context, config *pgxpool.Config, o Options) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failed("opening the database", err)
	}
	s := &Store{pool: pool, db: stdlib.OpenDBFromPool(pool), lanes: newLanes(int(config.MaxConns)), options: o}
	s.tables = &preparation{migrate: func(ctx context.Context) error { return migrate(ctx, config.ConnConfig, o) }}
	s.pinger = &pinger{config: config.ConnConfig, now: o.Now}
	s.Tables = store.NewTables(s.read, s.write)
	return s, nil
}

// Migrate brings the tables up to date now. It need not be called: whatever uses the database does it first. It is for
// those who want to wait for it, and to know why a database cannot be used, which its error tells along with what to do.
func (s *Store) Migrate(ctx context.Context) error {
	err := s.tables.wait(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return unusable(s.pool.Config().ConnConfig, err)
}

// configure reads the address and adds what it leaves open.
func configure(address string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil { // its text has no password
		return nil, herb.Invalidf("the address of the database is not right: %v; "+
			"it is written like postgres://user:password@host:5432/database?sslmode=verify-full", err)
	}
	if o.MaxConns > math.MaxInt32 || o.MaxConns < 0 {
		return nil, herb.Invalidf("%d connections to the database are not possible; choose from 1 to %d, or 0 for the usual number",
			o.MaxConns, math.MaxInt32)
	}
	if o.MaxConns > 0 && !poolSizeIn(address) {
		config.MaxConns = int32(o.MaxConns)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"application_name":                    "herbarium",
		"statement_timeout":                   milliseconds(o.StatementTimeout),
		"lock_timeout":                        milliseconds(o.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(o.LockTimeout),
	} {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// poolSizeIn reports whether an address says how many connections there may be: it is then a setting that the
// connections themselves know as well, because no pool takes it out.
func poolSizeIn(address string) bool {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return false
	}
	_, given := config.RuntimeParams["pool_max_conns"]
	return given
}

// milliseconds is how a timeout is written. None that is asked for becomes 0, which would mean none at all.
func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10)
}

// Close closes the connections. What was acknowledged is committed already.
func (s *Store) Close() error {
	s.tables.close()
	err := errors.Join(s.pinger.close(), s.db.Close())
	s.pool.Close()
	return err
}
