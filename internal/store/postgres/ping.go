package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// believed is for how long a database that did not answer Ping is taken to be away.
const believed = 5 * time.Second

// pinger asks the database on a connection of its own: one of the pool would tell how busy the others are.
type pinger struct {
	config *pgx.ConnConfig
	now    func() time.Time

	mu    sync.Mutex // held while the database is asked
	conn  *pgx.Conn  // nil: none is open
	until atomic.Int64
}

// Ping reports whether the database answers and, after a write that found its disk full, whether it can be written. Where somebody calls it all the time, other calls find out at once that the
// database is away: for a while after a Ping that got no answer they fail without asking it, so that requests do not pile
// up which all wait for the same.
func (s *Store) Ping(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := s.tables.wait(limited)
	if err != nil {
		err = unprepared(err)
	} else {
		err = s.pinger.ask(limited)
	}
	switch {
	case err == nil:
		s.pinger.until.Store(0)
	case !errors.Is(ctx.Err(), context.Canceled): // a caller who has gone says nothing about the database
		s.pinger.until.Store(s.pinger.now().Add(believed).UnixNano())
	}
	if err == nil && s.full.Load() {
		return s.probeWrite(ctx)
	}
	return failed("asking the database", err)
}

// probeWrite writes and removes a row. It is called only while the disk of the server is full.
func (s *Store) probeWrite(ctx context.Context) error {
	const size = 64 << 10
	err := s.write(ctx, "probing the database", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO write_probe (padding) VALUES (?)", make([]byte, size))
		return err
	})
	if err != nil {
		return err
	}
	return s.write(ctx, "probing the database", func(ctx context.Context, tx store.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM write_probe")
		return err
	})
}

// Available returns an error of herb.CodeUnavailable if the database did not answer a moment ago. It asks nobody.
func (s *Store) Available() error {
	if until := s.pinger.until.Load(); until != 0 && s.pinger.now().UnixNano() < until {
		return herb.Errorf(herb.CodeUnavailable, "the database does not answer; try again")
	}
	return nil
}

func (p *pinger) ask(ctx context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		if p.conn, err = pgx.ConnectConfig(ctx, p.config.Copy()); err != nil {
			return err
		}
	}
	var n int
	if err := p.conn.QueryRow(ctx, "SELECT 1").Scan(&n); err != nil {
		_ = p.hangUp() // the next one gets a connection to whichever server is there then
		return err
	}
	return nil
}

// hangUp closes the connection without waiting for a server that may say nothing.
func (p *pinger) hangUp() error {
	if p.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := p.conn.Close(ctx)
	p.conn = nil
	return err
}

// close closes the connection once nobody asks any more.
func (p *pinger) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hangUp()
}
