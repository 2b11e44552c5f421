package postgres

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// onConn runs do on a connection of the pool. If the connection does not answer within
// Options.Stall, the idle ones have probably died with it, so they are closed.
func (s *Store) onConn(ctx context.Context, do func(ctx context.Context, conn *sql.Conn, answered func()) error) error {
	err := onConn(ctx, s.db, s.options.Stall, do)
	if errors.Is(err, errStalled) {
		s.pool.Reset()
	}
	return err
}

// onConn runs do on a connection of a database, and fails with errStalled unless do reports within
// a time that the connection has answered: a connection whose packets are dropped on the way has no
// other symptom.
func onConn(
	ctx context.Context, db *sql.DB, stall time.Duration,
	do func(ctx context.Context, conn *sql.Conn, answered func()) error,
) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // returns it to the pool, which discards a broken one
	network, err := networkConn(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer timer.Stop()
	// The driver closes a connection without an answer after another 15 seconds, during which it
	// counts as one of the pool.
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			_ = network.Close() // it is dead anyway
		}
	})
	defer stop()
	err = do(ctx, conn, func() { timer.Stop() })
	if _, uncertain := errors.AsType[*uncertainError](err); err == nil || uncertain ||
		!errors.Is(context.Cause(ctx), errStalled) {
		return err
	}
	return errors.Join(errStalled, err)
}

// networkConn returns the network connection of a database connection.
func networkConn(conn *sql.Conn) (network net.Conn, err error) {
	err = conn.Raw(func(driver any) error {
		network = driver.(*stdlib.Conn).Conn().PgConn().Conn()
		return nil
	})
	return network, err
}
