package admission_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// small has one slot in every lane.
func small() admission.Limits {
	var l admission.Limits
	for i := range l {
		l[i] = admission.Limit{Slots: 1, Wait: time.Second, RetryAfter: 3 * time.Second}
	}
	return l
}

func newController(t *testing.T, rejected func(admission.Lane, admission.Reason)) *admission.Controller {
	t.Helper()
	c, err := admission.New(admission.Options{Limits: small(), Rejected: rejected})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                            string
		cores                           int
		memory                          int64
		cheap, expensive, export, write int
	}{
		{"two cores", 2, 12 << 30, 512, 1, 64, 256},
		{"one core", 1, 12 << 30, 256, 1, 32, 256},
		{"many cores", 64, 256 << 30, 16384, 63, 2048, 256},
		{"little memory", 8, 64 << 20, 64, 1, 8, 256},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := admission.DefaultLimits(tt.cores, tt.memory)
			for lane, want := range map[admission.Lane]int{
				admission.Cheap: tt.cheap, admission.Expensive: tt.expensive, admission.Export: tt.export, admission.Write: tt.write,
			} {
				if l[lane].Slots != want {
					t.Errorf("lane %s has %d slots, want %d", lane, l[lane].Slots, want)
				}
			}
		})
	}
}

func TestNew_needsSlots(t *testing.T) {
	t.Parallel()
	l := small()
	l[admission.Export].Slots = 0
	if _, err := admission.New(admission.Options{Limits: l}); err == nil || !strings.Contains(err.Error(), "export") {
		t.Errorf("got %v", err)
	}
}

// TestAcquire_isolation fills each lane and checks that the others still have their slots.
func TestAcquire_isolation(t *testing.T) {
	t.Parallel()
	for _, full := range admission.Lanes() {
		t.Run(full.String(), func(t *testing.T) {
			t.Parallel()
			c := newController(t, nil)
			if _, err := c.Acquire(t.Context(), full); err != nil {
				t.Fatal(err)
			}
			for _, other := range admission.Lanes() {
				if other == full {
					continue
				}
				release, err := c.Acquire(t.Context(), other)
				if err != nil {
					t.Fatalf("lane %s is blocked by lane %s: %v", other, full, err)
				}
				release()
			}
		})
	}
}

func TestAcquire_rejections(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		reason admission.Reason // empty: the error of the context
	}{
		{"no slot in time", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithCancel(ctx)
		}, admission.ReasonTimeout},
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 10*time.Millisecond)
		}, admission.ReasonDeadline},
		{"client left", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var reported []admission.Reason
				c := newController(t, func(_ admission.Lane, r admission.Reason) { reported = append(reported, r) })
				if _, err := c.Acquire(t.Context(), admission.Expensive); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				_, err := c.Acquire(ctx, admission.Expensive)
				if tt.reason == "" {
					if !errors.Is(err, context.Canceled) || len(reported) > 0 {
						t.Errorf("got %v, reported %v", err, reported)
					}
					return
				}
				if !strings.HasSuffix(err.Error(), "lane expensive: "+string(tt.reason)) || herb.RetryAfterOf(err) != 3*time.Second ||
					herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(herb.MessageOf(err), "lane expensive") {
					t.Errorf("got %v", err)
				}
				if len(reported) != 1 || reported[0] != tt.reason {
					t.Errorf("reported %v", reported)
				}
			})
		})
	}
}

// TestAcquire_queueIsBounded checks that requests beyond the queue are rejected without waiting.
func TestAcquire_queueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counts := make(chan admission.Reason, 100)
		c := newController(t, func(_ admission.Lane, r admission.Reason) { counts <- r })
		release, err := c.Acquire(t.Context(), admission.Cheap)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			go func() {
				if free, err := c.Acquire(t.Context(), admission.Cheap); err == nil {
					free()
				}
			}()
		}
		synctest.Wait()
		full := len(counts)
		if full == 0 || full == 100 {
			t.Errorf("%d of 100 requests were rejected at once", full)
		}
		release()
		synctest.Wait()
		if len(counts) != full || c.InFlight(admission.Cheap) != 0 {
			t.Errorf("waiting requests were rejected although the slot became free: %d, then %d", full, len(counts))
		}
	})
}

func TestTicket(t *testing.T) {
	t.Parallel()
	c := newController(t, nil)
	ticket := c.NewTicket()
	held := func(want ...admission.Lane) {
		t.Helper()
		for _, l := range admission.Lanes() {
			n := 0
			for _, w := range want {
				if w == l {
					n++
				}
			}
			if got := c.InFlight(l); got != n {
				t.Errorf("lane %s runs %d requests, want %d", l, got, n)
			}
		}
	}
	for _, l := range []admission.Lane{admission.Cheap, admission.Cheap, admission.Expensive, admission.Export} {
		if err := ticket.Enter(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		held(l)
	}
	ticket.Release()
	ticket.Release()
	held()
}

// stubSource calls back when a query runs.
type stubSource struct{ run func() }

func (s stubSource) List(context.Context, *query.Request) (query.Page, error) {
	s.run()
	return query.Page{}, nil
}

func (s stubSource) Stream(context.Context, *query.Request) (query.Stream, error) {
	s.run()
	return query.Stream{}, nil
}

func (s stubSource) Facets(context.Context, *query.FacetRequest) (query.Facets, error) {
	s.run()
	return query.Facets{}, nil
}

func (s stubSource) Grid(context.Context, *query.GridRequest) (query.Grid, error) {
	s.run()
	return query.Grid{}, nil
}

// TestLimit checks in which lanes a query runs, and which slot its request holds afterwards.
func TestLimit(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "name", Type: herb.TypeText, Filterable: true, Searchable: true}}
	tests := []struct {
		name, query   string
		records       int
		running, then []admission.Lane
	}{
		{"cheap", "", 1_000_000, []admission.Lane{admission.Cheap}, []admission.Lane{admission.Cheap}},
		{"small dataset", "search=a*", 10, []admission.Lane{admission.Cheap}, []admission.Lane{admission.Cheap}},
		{"expensive", "search=a*", 1_000_000, []admission.Lane{admission.Expensive}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newController(t, nil)
			lanes := func() (taken []admission.Lane) {
				for _, l := range admission.Lanes() {
					if c.InFlight(l) > 0 {
						taken = append(taken, l)
					}
				}
				return taken
			}
			ran := false
			var running []admission.Lane
			source := admission.LimitQueries(tt.records, stubSource{func() { ran, running = true, lanes() }})
			ticket := c.NewTicket()
			if err := ticket.Enter(t.Context(), admission.Cheap); err != nil {
				t.Fatal(err)
			}
			req, err := query.Parse(tt.query, fields)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := source.List(admission.NewContext(t.Context(), &ticket), req); err != nil {
				t.Fatal(err)
			}
			if !ran || !slices.Equal(running, tt.running) || !slices.Equal(lanes(), tt.then) {
				t.Errorf("ran in %v and then held %v; want %v and %v", running, lanes(), tt.running, tt.then)
			}
		})
	}
}

// TestLimit_stream checks that finding the result of an export takes an expensive slot in addition to that of the export.
func TestLimit_stream(t *testing.T) {
	t.Parallel()
	c := newController(t, nil)
	during := -1
	source := admission.LimitQueries(1_000_000, stubSource{func() {
		during = c.InFlight(admission.Export) + c.InFlight(admission.Expensive)
	}})
	ticket := c.NewTicket()
	if err := ticket.Enter(t.Context(), admission.Export); err != nil {
		t.Fatal(err)
	}
	req, err := query.Parse("search=a*", []herb.Field{{Name: "name", Type: herb.TypeText, Searchable: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Stream(admission.NewContext(t.Context(), &ticket), req); err != nil {
		t.Fatal(err)
	}
	if during != 2 || c.InFlight(admission.Export) != 1 || c.InFlight(admission.Expensive) != 0 {
		t.Errorf("held %d slots while the result was found, then %d and %d", during,
			c.InFlight(admission.Export), c.InFlight(admission.Expensive))
	}
}
