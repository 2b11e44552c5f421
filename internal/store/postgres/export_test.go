package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// TakeLock is the statement with which a node waits while another one migrates the schema.
const TakeLock = takeLock

// OpenTraced is Open with a tracer of all statements.
func OpenTraced(ctx context.Context, address string, o Options, tracer pgx.QueryTracer) (*Store, error) {
	o = o.withDefaults()
	config, err := configure(address, o)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = tracer
	return open(ctx, config, o)
}

// MigrateTo migrates the schema of a new database to a version.
func MigrateTo(ctx context.Context, address string, version int64) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	return apply(ctx, db, version)
}

// Connections returns the number of connections ever made.
func (s *Store) Connections() int { return int(s.pool.Stat().NewConnsCount()) }
