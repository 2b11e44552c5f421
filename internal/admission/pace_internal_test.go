package admission

import (
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

// TestPace checks that expensive work waits for cheap requests and writes that arrive, and for nothing else.
func TestPace(t *testing.T) {
	t.Parallel()
	for lane, waits := range map[Lane]bool{Cheap: true, Write: true, Expensive: false, Export: false} {
		t.Run(lane.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newController(t)
				pause := c.Pace(t.Context())
				for range 10 {
					release, err := c.Acquire(t.Context(), lane)
					if err != nil {
						t.Fatal(err)
					}
					release()
				}
				begin := time.Now()
				pause(pacedPiece)
				if waited := time.Since(begin) > 0; waited != waits {
					t.Errorf("waited %s", time.Since(begin))
				}
				begin = time.Now()
				if pause(pacedPiece); time.Since(begin) > 0 {
					t.Errorf("waited %s although nothing arrived", time.Since(begin))
				}
			})
		})
	}
}

// TestAcquirePaced checks that a step holds a slot while it works and while it waits for requests that arrived meanwhile.
func TestAcquirePaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		ticket := c.NewTicket()
		release, err := AcquirePaced(NewContext(t.Context(), &ticket))
		if err != nil || c.InFlight(Expensive) != 1 {
			t.Fatalf("%d slots are taken, %v", c.InFlight(Expensive), err)
		}
		if _, err := c.Acquire(t.Context(), Cheap); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pacedPiece) // the work
		begin := time.Now()
		if release(); time.Since(begin) != waitPerArrival || c.InFlight(Expensive) != 0 {
			t.Errorf("waited %s; %d slots are taken", time.Since(begin), c.InFlight(Expensive))
		}
	})
}

// TestPace_expensiveRequests lets requests arrive that turn out to be expensive after they were admitted.
func TestPace_expensiveRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newController(t)
		pause := c.Pace(t.Context())
		for range 10 {
			ticket := c.NewTicket()
			for _, lane := range []Lane{Cheap, Expensive} {
				if err := ticket.Enter(t.Context(), lane); err != nil {
					t.Fatal(err)
				}
			}
			ticket.Release()
		}
		begin := time.Now()
		if pause(pacedPiece); time.Since(begin) > 0 {
			t.Errorf("waited %s for requests of the same lane", time.Since(begin))
		}
	})
}
