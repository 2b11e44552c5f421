package admission

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		arrivals int64
		worked   time.Duration
		want     time.Duration
	}{
		{"no other requests", 0, 10 * time.Millisecond, 0},
		{"one", 1, 10 * time.Millisecond, time.Millisecond},
		{"a share of the work", 1000, 2 * time.Millisecond, 18 * time.Millisecond},
		{"never long", 1000, time.Second, maxPaceWait},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := paceWait(tt.arrivals, tt.worked); got != tt.want {
				t.Errorf("paceWait(%d, %s) = %s, want %s", tt.arrivals, tt.worked, got, tt.want)
			}
		})
	}
}

func newController(t *testing.T) *Controller {
	t.Helper()
	c, err := New(Options{Limits: DefaultLimits(2, 1<<30)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newTicket returns a ticket with a slot of a lane.
func newTicket(t *testing.T, c *Controller, l Lane, client byte) *Ticket {
	t.Helper()
	ticket := c.NewTicket(ClientOf(netip.AddrFrom4([4]byte{192, 0, 2, client})))
	if err := ticket.Enter(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return &ticket
}

// yield reports work and returns how long the query had to wait.
func yield(t *testing.T, ticket *Ticket, steps int, worked time.Duration) (waited time.Duration) {
	t.Helper()
	time.Sleep(worked)
	began := time.Now()
	if err := ticket.Yield(t.Context(), steps, worked); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// TestYield_moves checks when a cheap request moves to the lane Expensive.
func TestYield_moves(t *testing.T) {
	t.Parallel()
	type report struct {
		steps  int
		worked time.Duration
	}
	const us, ms = time.Microsecond, time.Millisecond
	for _, tt := range []struct {
		name    string
		reports []report
		moves   bool
	}{
		{"short", []report{{4096, 10 * us}, {4096, 10 * us}}, false},
		{"many fast steps", []report{{65536, 60 * us}, {65536, 60 * us}, {65536, 60 * us}}, false},
		{"long", []report{{4096, ms / 2}, {4096, ms / 2}, {4096, ms / 2}, {4096, ms / 2}}, true},
		{"it waited for a processor", []report{{4096, 100 * ms}}, false},
		{"slow steps", []report{{4096, 100 * ms}, {4096, 100 * ms}}, true},
		{"announced", []report{{1 << 20, 0}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newController(t)
				ticket := newTicket(t, c, Cheap, 1)
				for _, r := range tt.reports {
					yield(t, ticket, r.steps, r.worked)
				}
				if moved := c.InFlight(Expensive) == 1; moved != tt.moves || moved == (c.InFlight(Cheap) == 1) {
					t.Errorf("%d slots are cheap and %d expensive", c.InFlight(Cheap), c.InFlight(Expensive))
				}
				ticket.Release()
				if c.InFlight(Expensive)+c.InFlight(Cheap) != 0 {
					t.Error("slots are not released")
				}
			})
		})
	}
}

// TestYield_waitingClient checks that a client whose expensive queries wait has no head start with
// another one. Other clients have.
func TestYield_waitingClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		running := newTicket(t, c, Expensive, 1)
		waiting := newTicket(t, c, Cheap, 1)
		go func() {
			if err := waiting.Yield(t.Context(), 1<<20, 0); err != nil {
				t.Error(err)
			}
			waiting.Release()
		}()
		synctest.Wait()
		other := newTicket(t, c, Cheap, 2)
		yield(t, other, 4096, time.Microsecond)
		if c.InFlight(Cheap) != 1 {
			t.Error("the query of another client has moved")
		}
		own, moved := newTicket(t, c, Cheap, 1), false
		go func() {
			if err := own.Yield(t.Context(), 4096, time.Microsecond); err != nil {
				t.Error(err)
			}
			moved = true
			own.Release()
		}()
		synctest.Wait()
		if moved || c.InFlight(Cheap) != 1 {
			t.Error("the query of the same client does not wait for a slot of the lane Expensive")
		}
		running.Release()
		synctest.Wait()
		if !moved {
			t.Error("the query of the same client has got no slot")
		}
	})
}

// TestYield_pace checks that expensive work waits for cheap requests and writes that arrive, and
// for nothing else.
func TestYield_pace(t *testing.T) {
	t.Parallel()
	for lane, waits := range map[Lane]bool{Cheap: true, Write: true, Bulk: false, Publish: false} {
		t.Run(lane.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newController(t)
				ticket := newTicket(t, c, Expensive, 1)
				for range 10 {
					newTicket(t, c, lane, 2).Release()
				}
				if waited := yield(t, ticket, 4096, pacedPiece); waited > 0 != waits {
					t.Errorf("waited %s", waited)
				}
				if waited := yield(t, ticket, 4096, pacedPiece); waited > 0 {
					t.Errorf("waited %s although nothing arrived", waited)
				}
			})
		})
	}
}

// TestYield_running checks that expensive work waits for cheap requests that run, even if none
// arrives.
func TestYield_running(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		for range 3 {
			newTicket(t, c, Cheap, 2)
		}
		ticket := newTicket(t, c, Expensive, 1)
		for range 2 {
			if waited := yield(t, ticket, 4096, pacedPiece); waited != 3*waitPerArrival {
				t.Errorf("waited %s", waited)
			}
		}
	})
}

// TestYield_expensiveRequests lets requests arrive that turn out to be expensive after they were
// admitted.
func TestYield_expensiveRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := DefaultLimits(2, 1<<30)
		limits[Expensive].Slots = 2
		c, err := New(Options{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		ticket := newTicket(t, c, Expensive, 1)
		for range 10 {
			other := newTicket(t, c, Cheap, 2)
			yield(t, other, 1<<20, 0)
			other.Release()
		}
		if waited := yield(t, ticket, 4096, pacedPiece); waited > 0 {
			t.Errorf("waited %s for requests of the same lane", waited)
		}
	})
}

// TestYield_exports checks that requests that compute their results take turns with the exports of
// others.
func TestYield_exports(t *testing.T) {
	t.Parallel()
	for _, lane := range []Lane{Bulk, Cheap} {
		t.Run(lane.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newController(t)
				first, second := newTicket(t, c, lane, 1), newTicket(t, c, Bulk, 2)
				yield(t, first, 1<<20, 0)
				var worked bool
				go func() {
					if err := second.Work(t.Context()); err != nil {
						t.Error(err)
					}
					worked = true
					second.Idle()
				}()
				synctest.Wait()
				yield(t, first, 4096, pacedPiece)
				if !worked || c.InFlight(Expensive) != 1 {
					t.Error("the other export has not worked")
				}
				first.Release()
				synctest.Wait()
			})
		})
	}
}

// TestYield_otherClients checks that a long query passes its slot on to those of other clients, and
// that no other query of its own client starts before it is finished.
func TestYield_otherClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		var order []string
		query := func(name string, client byte, pieces int) {
			go func() {
				ticket := newTicket(t, c, Cheap, client)
				defer ticket.Release()
				for range pieces + 1 { // the first report moves it
					yield(t, ticket, 1<<20, pacedPiece)
					order = append(order, name)
				}
			}()
			time.Sleep(pacedPiece / 8)
			synctest.Wait()
		}
		query("a", 1, 3)
		time.Sleep(pacedPiece)
		query("A", 1, 1)
		query("b", 2, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := strings.Join(order, ""); got != "ababaaAA" || c.InFlight(Expensive) != 0 || c.InFlight(Cheap) != 0 {
			t.Errorf("pieces ran in the order %s; %d slots are taken", got, c.InFlight(Expensive))
		}
	})
}

// TestYield_canceled checks that a query that ends while it waits for its slot leaves nothing
// behind.
func TestYield_canceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		first, second := newTicket(t, c, Expensive, 1), newTicket(t, c, Cheap, 2)
		go func() {
			if err := second.Yield(t.Context(), 1<<20, 0); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(pacedPiece)
		if err := first.Yield(ctx, 4096, pacedPiece); !errors.Is(err, context.DeadlineExceeded) ||
			c.InFlight(Expensive) != 1 {
			t.Errorf("%v; %d slots are taken", err, c.InFlight(Expensive))
		}
		first.Release()
		second.Release()
		third := newTicket(t, c, Expensive, 1)
		third.Release()
		if c.InFlight(Expensive) != 0 {
			t.Errorf("%d slots are taken", c.InFlight(Expensive))
		}
	})
}

// TestPause checks that a chunk holds a slot while it is produced and while it waits for requests
// that arrived meanwhile, and that short chunks are paced together.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		ticket := newTicket(t, c, Bulk, 1)
		for chunk, want := range []time.Duration{0, 2 * waitPerArrival} {
			if err := ticket.Work(t.Context()); err != nil || c.InFlight(Expensive) != 1 {
				t.Fatalf("%d slots are taken, %v", c.InFlight(Expensive), err)
			}
			newTicket(t, c, Cheap, 2).Release()
			time.Sleep(pacedPiece / 2) // the work
			began := time.Now()
			ticket.Pause(t.Context())
			if time.Since(began) != want || c.InFlight(Expensive) != 0 {
				t.Errorf("chunk %d: waited %s; %d slots are taken", chunk, time.Since(began), c.InFlight(Expensive))
			}
			newTicket(t, c, Cheap, 2).Release() // while the chunk is sent, which does not count
		}
		if c.InFlight(Bulk) != 1 {
			t.Error("the slot of the export is released")
		}
	})
}

// TestAwait checks that a client with a slot of the lane Build does not get the last free one, and
// that a slot that becomes free goes to the client that has built for the shortest time.
func TestAwait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t) // with two slots
		var order []string
		finish := map[string]chan bool{"a": make(chan bool), "b": make(chan bool), "c": make(chan bool)}
		build := func(key string) {
			go func() {
				ticket := c.NewTicket(ClientOfKey(key))
				if err := ticket.Await(t.Context(), Build); err != nil {
					t.Error(err)
				}
				order = append(order, key)
				<-finish[key]
				ticket.Release()
			}()
			synctest.Wait()
		}
		for _, key := range []string{"a", "a", "b", "b", "c", "c"} {
			build(key)
		}
		for _, step := range []struct {
			ends  string // after a time
			after time.Duration
			order string
		}{
			{"", 0, "ab"}, {"b", time.Second, "abc"}, {"c", time.Millisecond, "abcc"}, {"c", time.Millisecond, "abccb"},
			{"b", 0, "abccb"},
			{"a", 0, "abccba"}, {"a", 0, "abccba"},
		} {
			if step.ends != "" {
				time.Sleep(step.after)
				finish[step.ends] <- true
				synctest.Wait()
			}
			if got := strings.Join(order, ""); got != step.order {
				t.Errorf("builds started in the order %s, want %s", got, step.order)
			}
		}
		if c.InFlight(Build) != 0 {
			t.Errorf("%d slots are taken", c.InFlight(Build))
		}
	})
}
