package postgres

import (
	"context"
	"errors"
	"time"

	"herbarium/internal/herb"
)

// downTTL is how long the database is considered down after a Ping without an answer.
const downTTL = 5 * time.Second

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
		err = s.pings.QueryRowContext(limited, "SELECT 1").Scan(new(int))
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

// Available returns an error with herb.CodeUnavailable if the last Ping had no answer. It does no I/O.
func (s *Store) Available() error {
	if until := s.downUntil.Load(); until != 0 && s.options.Now().UnixNano() < until {
		return herb.Errorf(herb.CodeUnavailable, "the database does not answer; try again")
	}
	return nil
}
