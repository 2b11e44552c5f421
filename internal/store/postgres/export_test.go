package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/store"
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

// OpenWith opens a database as a program with another schema, which renews its registration in
// short intervals.
func OpenWith(ctx context.Context, address string, schema store.Schema, o Options) (*Store, error) {
	o = o.withDefaults()
	o.schema, o.renewal = schema, 10*time.Millisecond
	config, err := configure(address, o)
	if err != nil {
		return nil, err
	}
	return open(ctx, config, o)
}

// CurrentSchema returns the schema of this program.
func CurrentSchema() (store.Schema, error) { return currentSchema() }

// MigrateTo migrates the schema of a new database to a version.
func MigrateTo(ctx context.Context, address string, version int) error {
	schema, err := currentSchema()
	if err != nil {
		return err
	}
	s, err := OpenWith(ctx, address, schema[:version], Options{})
	if err != nil {
		return err
	}
	return errors.Join(s.Migrate(ctx), s.Close())
}

// Connections returns the number of connections ever made.
func (s *Store) Connections() int { return int(s.pool.Stat().NewConnsCount()) }

// SelectObjects describes the tables, columns, indexes and triggers of a database.
const SelectObjects = selectObjects
