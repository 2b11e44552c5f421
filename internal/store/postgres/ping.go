package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
)

// downTTL is how long the database is considered down after a Ping without an answer.
const downTTL = 5 * time.Second

// pinger pings the database on its own connection: one of the pool would measure how busy the pool is.
type pinger struct {
	config *pgx.ConnConfig
	now    func() time.Time

	mu        sync.Mutex // held during a ping
	conn      *pgx.Conn  // nil if closed
	downUntil atomic.Int64
}

// Ping reports whether the database answers and, after a write failed because of a full disk, whether it can be written. If
// Ping is called periodically, other calls fail fast while the database is down: for downTTL after a Ping without an answer
// they return an error immediately, so that requests do not pile up.
func (s *Store) Ping(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := s.migration.wait(limited)
	if err != nil {
		err = migrationError(err)
	} else {
		err = s.pinger.ping(limited)
	}
	switch {
	case err == nil:
		s.pinger.downUntil.Store(0)
	case !errors.Is(ctx.Err(), context.Canceled): // a canceled call is no evidence
		s.pinger.downUntil.Store(s.pinger.now().Add(downTTL).UnixNano())
	}
	if err == nil && s.diskFull.Load() {
		return s.ProbeWrite(ctx)
	}
	return mapError("pinging the database", err)
}

// Available returns an error with herb.CodeUnavailable if the last Ping had no answer. It does no I/O.
func (s *Store) Available() error {
	if until := s.pinger.downUntil.Load(); until != 0 && s.pinger.now().UnixNano() < until {
		return herb.Errorf(herb.CodeUnavailable, "the database does not answer; try again")
	}
	return nil
}

func (p *pinger) ping(ctx context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		if p.conn, err = pgx.ConnectConfig(ctx, p.config.Copy()); err != nil {
			return err
		}
	}
	if err := p.conn.QueryRow(ctx, "SELECT 1").Scan(new(int)); err != nil {
		_ = p.closeConn() // reconnect to whichever server is primary then
		return err
	}
	return nil
}

// closeConn closes the connection without waiting for an unresponsive server.
func (p *pinger) closeConn() error {
	if p.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := p.conn.Close(ctx)
	p.conn = nil
	return err
}

// close closes the connection once no ping is running.
func (p *pinger) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closeConn()
}
