package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLazyMigration_shared has many callers wait for one attempt, with different deadlines. They share its failure, and the next
// call tries again.
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

// TestLazyMigration_close cancels the running attempt and releases everyone who waits for it.
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
