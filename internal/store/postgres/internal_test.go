package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

func TestConfigure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		address string
		options Options
		want    map[string]string
		conns   int32
	}{
		"defaults": {
			"postgres://a,b/x?target_session_attrs=read-write&pool_max_conns=7", Options{},
			map[string]string{
				"statement_timeout": "10000", "lock_timeout": "5000", "idle_in_transaction_session_timeout": "3000",
				"application_name": "herbarium",
			}, 7,
		},
		"options": {
			"postgres:///x?lock_timeout=4&application_name=test&pool_max_conns=3",
			Options{StatementTimeout: time.Nanosecond, LockTimeout: time.Minute},
			map[string]string{
				"statement_timeout": "1", "lock_timeout": "4", "idle_in_transaction_session_timeout": "3000",
				"application_name": "test",
			}, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := configure(tt.address, tt.options.withDefaults())
			if err != nil {
				t.Fatal(err)
			}
			for parameter, want := range tt.want {
				if got := c.ConnConfig.RuntimeParams[parameter]; got != want {
					t.Errorf("%s is %q; want %q", parameter, got, want)
				}
			}
			if c.MaxConns != tt.conns {
				t.Errorf("%d connections; want %d", c.MaxConns, tt.conns)
			}
			if c.ConnConfig.ConnectTimeout != connectTimeout {
				t.Errorf("connecting may take %v", c.ConnConfig.ConnectTimeout)
			}
		})
	}
}

func reported(code string) error { return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code}) }

// TestRetry counts the attempts of a call that fails once, and checks the error of one that always
// fails.
func TestRetry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		runs int
		code herb.Code // if every attempt fails
	}{
		{reported(serializationFailure), 2, herb.CodeUnavailable},
		{reported(deadlockDetected), 2, herb.CodeUnavailable},
		{reported("57P01"), 2, herb.CodeUnavailable}, // the server shuts down
		{reported("57P03"), 2, herb.CodeUnavailable}, // or starts
		{reported("57P05"), 2, herb.CodeUnavailable}, // it has ended an idle session,
		{reported("25P03"), 2, herb.CodeUnavailable}, // an idle transaction,
		{reported("25P04"), 2, herb.CodeUnavailable}, // or a long one
		{reported("08006"), 2, herb.CodeUnavailable},
		{reported(readOnlyTransaction), 2, herb.CodeUnavailable},
		{io.ErrUnexpectedEOF, 2, herb.CodeUnavailable},
		{reported(lockNotAvailable), 1, herb.CodeUnavailable},
		{reported(queryCanceled), 1, herb.CodeUnavailable},
		{reported("53300"), 1, herb.CodeUnavailable}, // too many connections
		{&uncertainError{io.EOF}, 1, herb.CodeUnavailable},
		{reported("23505"), 1, herb.CodeInternal},
		{reported("28P01"), 1, herb.CodeInternal}, // the password is wrong
		{herb.Errorf(herb.CodeNotFound, "no"), 1, herb.CodeNotFound},
		{store.ErrSuperseded, 1, herb.CodeInternal},
	} {
		runs := 0
		_ = retry(t.Context(), time.Minute, func(context.Context) error {
			runs++
			if runs > 1 {
				return nil
			}
			return tt.err
		})
		if runs != tt.runs {
			t.Errorf("%v: run %d times; want %d", tt.err, runs, tt.runs)
		}
		err := retry(t.Context(), 0, func(context.Context) error { return tt.err })
		if err := mapError("testing", err); herb.CodeOf(err) != tt.code || !errors.Is(err, tt.err) {
			t.Errorf("%v became %v; want the code %q", tt.err, err, tt.code)
		}
	}
}

func TestCommitError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err       error
		uncertain bool
	}{
		{nil, false},
		{reported(serializationFailure), false},
		{reported("23505"), false},
		{reported("57P01"), true}, // also reported after a commit that waited for a standby
		{reported(queryCanceled), true},
		{io.EOF, true},
		{context.DeadlineExceeded, true},
	} {
		if _, uncertain := errors.AsType[*uncertainError](commitError(tt.err)); uncertain != tt.uncertain {
			t.Errorf("%v: uncertain is %t", tt.err, uncertain)
		}
	}
}

// TestReadSlots checks how many reads can run concurrently.
func TestReadSlots(t *testing.T) {
	t.Parallel()
	for conns, reads := range map[int]int64{1: 1, 2: 1, 4: 3, 8: 7} {
		s := newReadSlots(conns)
		if !s.TryAcquire(reads) || s.TryAcquire(1) {
			t.Errorf("%d connections do not permit %d reads, or more", conns, reads)
		}
	}
}

// TestLazyMigration_shared has many callers wait for one attempt, with different deadlines. They
// share its failure, and the next call tries again.
func TestLazyMigration_shared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts, fault := 0, errors.New("away")
		p := newLazyMigration(func(ctx context.Context) error {
			attempts++
			time.Sleep(time.Minute)
			return fault
		})
		wait := func(limit time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			return p.wait(ctx)
		}
		together := func(want error) {
			t.Helper()
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := wait(time.Second); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a caller with a short deadline got %v", err)
				}
			})
			for range 5 {
				wg.Go(func() {
					if err := wait(time.Hour); !errors.Is(err, want) {
						t.Errorf("got %v; want %v", err, want)
					}
				})
			}
			wg.Wait()
		}
		together(fault)
		fault = nil
		together(nil)
		if err := wait(0); err != nil {
			t.Errorf("once it is done: %v", err)
		}
		if attempts != 2 {
			t.Errorf("%d attempts; want 2", attempts)
		}
	})
}

// TestLazyMigration_close cancels the running attempt and releases all callers that wait for it.
func TestLazyMigration_close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newLazyMigration(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		waited := make(chan error, 1)
		go func() { waited <- p.wait(t.Context()) }()
		synctest.Wait()
		p.close()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := p.wait(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("afterwards: %v", err)
		}
	})
}
