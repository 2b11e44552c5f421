package admission_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// limits has the same number of slots in every lane.
func limits(slots int) admission.Limits {
	var l admission.Limits
	for i := range l {
		l[i] = admission.Limit{Slots: slots, Wait: time.Second, RetryAfter: 3 * time.Second}
	}
	return l
}

func newController(t *testing.T, slots int, rejected func(admission.Lane, admission.Reason)) *admission.Controller {
	t.Helper()
	c, err := admission.New(admission.Options{Limits: limits(slots), Rejected: rejected})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clientAddr returns the address of the client with a number.
func clientAddr(n byte) admission.Client {
	return admission.ClientOf(netip.AddrFrom4([4]byte{192, 0, 2, n}))
}

// enter admits a request of a client.
func enter(ctx context.Context, c *admission.Controller, l admission.Lane, client byte) (*admission.Ticket, error) {
	t := c.NewTicket(clientAddr(client))
	return &t, t.Enter(ctx, l)
}

// mustEnter admits a request of a client that must not be rejected.
func mustEnter(t *testing.T, c *admission.Controller, l admission.Lane, client byte) *admission.Ticket {
	t.Helper()
	ticket, err := enter(t.Context(), c, l, client)
	if err != nil {
		t.Fatalf("lane %s, client %d: %v", l, client, err)
	}
	return ticket
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                          string
		cores                         int
		memory                        int64
		cheap, expensive, bulk, write int
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
				admission.Cheap: tt.cheap, admission.Expensive: tt.expensive, admission.Bulk: tt.bulk,
				admission.Write: tt.write,
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
	l := limits(1)
	l[admission.Bulk].Slots = 0
	if _, err := admission.New(admission.Options{Limits: l}); err == nil || !strings.Contains(err.Error(), "bulk") {
		t.Errorf("got %v", err)
	}
}

// TestClientOf checks which addresses share the slots of one client.
func TestClientOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8:1:2::3", "2001:db8:1:2:4:5:6:7", true},
		{"2001:db8:1:2::3", "2001:db8:1:3::3", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
	} {
		a, b := admission.ClientOf(netip.MustParseAddr(tt.a)), admission.ClientOf(netip.MustParseAddr(tt.b))
		if (a == b) != tt.same {
			t.Errorf("%s is %v, %s is %v", tt.a, a, tt.b, b)
		}
	}
	if zero := admission.ClientOf(netip.Addr{}); zero != (admission.Client{}) {
		t.Errorf("the zero address is %v", zero)
	}
}

// TestEnter_isolation fills each lane and checks that the others still have their slots.
func TestEnter_isolation(t *testing.T) {
	t.Parallel()
	for _, full := range admission.Lanes() {
		t.Run(full.String(), func(t *testing.T) {
			t.Parallel()
			c := newController(t, 1, nil)
			mustEnter(t, c, full, 1)
			for _, other := range admission.Lanes() {
				if other != full {
					mustEnter(t, c, other, 1).Release()
				}
			}
		})
	}
}

// TestEnter_waited checks that the time of requests that wait is reported, whether they are
// admitted or rejected, and that of others is not.
func TestEnter_waited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		c, err := admission.New(admission.Options{
			Limits: limits(1), Waited: func(l admission.Lane, took time.Duration) {
				if l != admission.Bulk {
					t.Errorf("lane %s", l)
				}
				waits = append(waits, took)
			}})
		if err != nil {
			t.Fatal(err)
		}
		first := mustEnter(t, c, admission.Bulk, 1)
		time.AfterFunc(300*time.Millisecond, first.Release)
		second := mustEnter(t, c, admission.Bulk, 2)
		if _, err := enter(t.Context(), c, admission.Bulk, 3); err == nil {
			t.Error("admitted without a free slot")
		}
		second.Release()
		if len(waits) != 2 || waits[0] != 300*time.Millisecond || waits[1] != time.Second {
			t.Errorf("waits %v", waits)
		}
	})
}

func TestEnter_rejections(t *testing.T) {
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
				c := newController(t, 1, func(_ admission.Lane, r admission.Reason) { reported = append(reported, r) })
				first := mustEnter(t, c, admission.Expensive, 1)
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				_, err := enter(ctx, c, admission.Expensive, 2)
				switch {
				case tt.reason == "":
					if !errors.Is(err, context.Canceled) || len(reported) > 0 {
						t.Errorf("got %v, reported %v", err, reported)
					}
				case !strings.HasSuffix(err.Error(), "lane expensive: "+string(tt.reason)) ||
					herb.RetryAfterOf(err) != 3*time.Second ||
					herb.CodeOf(err) != herb.CodeUnavailable ||
					!strings.Contains(herb.MessageOf(err), "lane expensive"):
					t.Errorf("got %v", err)
				case len(reported) != 1 || reported[0] != tt.reason:
					t.Errorf("reported %v", reported)
				}
				first.Release()
				mustEnter(t, c, admission.Expensive, 3) // the request that gave up has left the queue
			})
		})
	}
}

// TestEnter_queueIsBounded checks that requests beyond the queue are rejected without waiting.
func TestEnter_queueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counts := make(chan admission.Reason, 100)
		c := newController(t, 1, func(_ admission.Lane, r admission.Reason) { counts <- r })
		first := mustEnter(t, c, admission.Cheap, 1)
		for range 100 {
			go func() {
				if ticket, err := enter(t.Context(), c, admission.Cheap, 1); err == nil {
					ticket.Release()
				}
			}()
		}
		synctest.Wait()
		full := len(counts)
		if full == 0 || full == 100 {
			t.Errorf("%d of 100 requests were rejected at once", full)
		}
		first.Release()
		synctest.Wait()
		if len(counts) != full || c.InFlight(admission.Cheap) != 0 {
			t.Errorf("waiting requests were rejected although the slot became free: %d, then %d", full, len(counts))
		}
	})
}

// TestEnter_idle lets one client take as many slots as it can and leave them idle. Other clients
// still get some.
func TestEnter_idle(t *testing.T) {
	t.Parallel()
	for _, lane := range []admission.Lane{admission.Bulk, admission.Publish} {
		t.Run(lane.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const slots = 64
				c := newController(t, slots, nil)
				held := func(client byte) (n int) {
					for _, err := enter(t.Context(), c, lane, client); err == nil; _,
						err = enter(t.Context(), c, lane, client) {
						n++
					}
					return n
				}
				for client, want := range []int{48, 12, 3} { // three quarters of what is left
					if n := held(byte(client)); n != want {
						t.Errorf("client %d holds %d slots, want %d", client, n, want)
					}
				}
				mustEnter(t, c, lane, 9)
			})
		})
	}
}

// TestEnter_oneClient checks that one client can use all slots of a lane in which it only holds
// them while the server works.
func TestEnter_oneClient(t *testing.T) {
	t.Parallel()
	for _, lane := range []admission.Lane{admission.Cheap, admission.Expensive, admission.Write} {
		c := newController(t, 8, nil)
		for range 8 {
			mustEnter(t, c, lane, 1)
		}
	}
}

// TestEnter_turns fills the queue of a lane with requests of one client. Requests of another one
// that arrive later take turns with them.
func TestEnter_turns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t, 1, nil)
		running := mustEnter(t, c, admission.Expensive, 1)
		type admitted struct {
			client byte
			ticket *admission.Ticket
		}
		order := make(chan admitted, 100)
		send := func(client byte, n int) {
			for range n {
				go func() {
					if ticket, err := enter(t.Context(), c, admission.Expensive, client); err == nil {
						order <- admitted{client, ticket}
					}
				}()
				synctest.Wait()
			}
		}
		send(1, 30) // more than the queue has room for
		send(2, 3)
		var got []byte
		for range 8 {
			running.Release()
			synctest.Wait()
			next := <-order
			got, running = append(got, next.client+'0'), next.ticket
		}
		// One request of the first client came before; after that, clients alternate.
		if string(got) != "12121211" && string(got) != "21212111" {
			t.Errorf("admitted in the order %s", got)
		}
	})
}

func TestTicket(t *testing.T) {
	t.Parallel()
	c := newController(t, 1, nil)
	ticket := c.NewTicket(clientAddr(1))
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
	for _, l := range []admission.Lane{admission.Cheap, admission.Cheap, admission.Expensive, admission.Publish,
		admission.Bulk} {
		if err := ticket.Enter(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		held(l)
	}
	if err := ticket.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	held(admission.Bulk, admission.Expensive)
	ticket.Idle()
	held(admission.Bulk)
	ticket.Release()
	ticket.Release()
	held()
}
