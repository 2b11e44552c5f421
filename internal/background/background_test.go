package background_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/background"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// work returns work that calls run, and counts how often it runs.
func work(name string, runs *int, run func(ctx context.Context, t *background.Task) error) background.Work {
	return background.Work{
		Name: name, What: "building " + name, Total: 100,
		Hold: func() (func(), error) { return func() {}, nil },
		Run: func(ctx context.Context, t *background.Task) error {
			*runs++
			return run(ctx, t)
		},
	}
}

// TestDo_join checks that requests for the same result share one task, which goes on when the
// request that started it has left, and that a request that waits too long is told the rest.
func TestDo_join(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, runs := background.New(slog.New(slog.DiscardHandler)), 0
		defer p.Close()
		w := work("a", &runs, func(_ context.Context, t *background.Task) error {
			time.Sleep(30 * time.Second)
			t.SetDone(25)
			time.Sleep(90 * time.Second)
			return nil
		})
		first, leave := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); leave() }()
		if err := p.Do(first, background.MaxWait, w); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that leaves: %v", err)
		}
		err := p.Do(t.Context(), background.MaxWait, w)
		if herb.CodeOf(err) != herb.CodeUnavailable || herb.RetryAfterOf(err) != 10*time.Second {
			t.Errorf("without progress: %v, retry after %s", err, herb.RetryAfterOf(err))
		}
		err = p.Do(t.Context(), background.MaxWait, w) // until 41 s
		if herb.RetryAfterOf(err) != 123*time.Second ||
			!strings.Contains(herb.MessageOf(err), "building a (25 % done); try again in 2m3s") {
			t.Errorf("with progress: %v, retry after %s", err, herb.RetryAfterOf(err))
		}
		if err := p.Do(t.Context(), -1, w); err != nil || runs != 1 {
			t.Errorf("%v after %d runs", err, runs)
		}
	})
}

// TestDo_failure checks that a failure and a panic end a task, that they are reported to requests
// and in the log, and that the work is not repeated for each request.
func TestDo_failure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		run  func() error
		code herb.Code
		log  string
	}{
		{"error", func() error { return errors.New("disk on fire") }, herb.CodeUnavailable, "disk on fire"},
		{"panic", func() error { panic("lost") }, herb.CodeInternal, "background_test.go"},
		{"no space", func() error { return herb.Errorf(herb.CodeNoSpace, "full") }, herb.CodeNoSpace, "full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				p, runs := background.New(slog.New(slog.NewTextHandler(&log, nil))), 0
				defer p.Close()
				w := work("a", &runs, func(context.Context, *background.Task) error { return tt.run() })
				for range 3 {
					if err := p.Do(t.Context(), background.MaxWait, w); herb.CodeOf(err) != tt.code {
						t.Errorf("got %v", err)
					}
				}
				if runs != 1 || !strings.Contains(log.String(), tt.log) {
					t.Errorf("%d runs; log %s", runs, &log)
				}
				time.Sleep(time.Minute + time.Second)
				_ = p.Do(t.Context(), background.MaxWait, w)
				if runs != 2 {
					t.Errorf("%d runs after a minute", runs)
				}
			})
		})
	}
}

// TestDo_lanes checks that requests that wait hold no slot, that the number of tasks is bounded,
// and that the tasks of one client do not delay those of another.
func TestDo_lanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var limits admission.Limits
		for l := range limits {
			limits[l] = admission.Limit{Slots: 2, Wait: time.Second}
		}
		c, err := admission.New(admission.Options{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		p := background.New(slog.New(slog.DiscardHandler))
		defer p.Close()
		running, most := 0, 0
		request := func(client, name string) error {
			ticket := c.NewTicket(admission.ClientOfKey(client))
			defer ticket.Release()
			ctx := query.WithPacer(t.Context(), &ticket)
			if err := ticket.Enter(ctx, admission.Cheap); err != nil {
				return err
			}
			runs := 0
			return p.Do(ctx, background.MaxWait, work(name, &runs, func(context.Context, *background.Task) error {
				running++
				most = max(most, running)
				time.Sleep(15 * time.Second)
				running--
				return nil
			}))
		}
		var greedy sync.WaitGroup
		for i := range 8 {
			greedy.Go(func() { _ = request("greedy", string(rune('a'+i))) }) // most are told to try again
			synctest.Wait()
		}
		if n := c.InFlight(admission.Cheap); n != 0 {
			t.Errorf("%d requests that wait hold a slot", n)
		}
		if err := request("honest", "z"); err != nil || most > 2 {
			t.Errorf("another client: %v; %d tasks ran at once", err, most)
		}
		greedy.Wait()
		time.Sleep(10 * time.Minute) // queued tasks that no request waits for do not run any more
		if running != 0 {
			t.Errorf("%d tasks run", running)
		}
	})
}

// TestClose checks that no task survives the pool.
func TestClose(t *testing.T) {
	t.Parallel()
	p, runs := background.New(slog.New(slog.DiscardHandler)), 0
	begun := make(chan struct{})
	w := work("a", &runs, func(ctx context.Context, _ *background.Task) error {
		close(begun)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	var asking sync.WaitGroup
	asking.Go(func() {
		if err := p.Do(t.Context(), -1, w); herb.CodeOf(err) != herb.CodeUnavailable {
			t.Errorf("a task that is canceled: %v", err)
		}
	})
	<-begun
	p.Close()
	asking.Wait()
	if err := p.Do(t.Context(), -1, w); herb.CodeOf(err) != herb.CodeUnavailable || runs != 1 {
		t.Errorf("after the pool is closed: %v, %d runs", err, runs)
	}
}
