package admission_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	rejected := 0
	b := admission.NewBudget(limit, func() { rejected++ })
	large, other, small := b.NewReservation(admission.Client{}), b.NewReservation(admission.Client{}),
		b.NewReservation(admission.Client{})
	const most = limit / 4 * 3 / 4 * 3 // of one client
	if err := large.Grow(t.Context(), most); err != nil || !large.IsLarge() || b.Used() != most {
		t.Fatalf("a large one: %v; %d bytes are used", err, b.Used())
	}
	err := other.Grow(t.Context(), 100<<10)
	if herb.CodeOf(err) != herb.CodeUnavailable || herb.RetryAfterOf(err) <= 0 || rejected != 1 || other.Bytes() != 0 {
		t.Errorf("more for large reservations: %v, %d rejected", err, rejected)
	}
	for to := int64(16 << 10); to <= 64<<10; to *= 2 {
		if !small.TryGrow(to) || small.IsLarge() || small.Bytes() != to {
			t.Fatalf("a small reservation of %d bytes fails beside large ones", to)
		}
	}
	if small.TryGrow(65 << 10) {
		t.Error("a small reservation becomes large, and there is no room for it")
	}
	if b.Used() != most+64<<10 {
		t.Errorf("%d bytes are used", b.Used())
	}
	large.Release()
	large.Release() // has no effect
	if !small.TryGrow(limit / 2) {
		t.Error("a small reservation cannot become large although there is room")
	}
	small.Release()
	if b.Used() != 0 {
		t.Errorf("%d bytes are used after all were released", b.Used())
	}
	if !large.TryGrow(most) {
		t.Error("released bytes cannot be reserved again")
	}
}

// TestBudget_shares checks that a client that has reserved and waits for as much as it can does not
// delay another one.
func TestBudget_shares(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"small": 16 << 10, "large": 128 << 10} {
		b := admission.NewBudget(8<<20, nil)
		greedy, honest := admission.ClientOfKey("greedy"), admission.ClientOfKey("honest")
		granted := 0
		for room := true; room; granted++ {
			r := b.NewReservation(greedy)
			room = r.TryGrow(size)
		}
		if r := b.NewReservation(honest); granted < 32 || !r.TryGrow(size) {
			t.Errorf("%s: no room for another client after %d reservations of one", name, granted)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for range 100 {
			waiting.Go(func() {
				r := b.NewReservation(greedy)
				_ = r.Grow(ctx, size) // is canceled or rejected
			})
		}
		for range 8 {
			r := b.NewReservation(honest)
			if err := r.Grow(t.Context(), size); err != nil {
				t.Errorf("%s: beside a client that waits: %v", name, err)
			}
		}
		cancel()
		waiting.Wait()
	}
}

// TestBudget_waits checks that a reservation waits for another one to be released, and for no
// longer than its context.
func TestBudget_waits(t *testing.T) {
	t.Parallel()
	b := admission.NewBudget(1<<20, nil)
	first, second, third := b.NewReservation(admission.Client{}), b.NewReservation(admission.Client{}),
		b.NewReservation(admission.Client{})
	if !first.TryGrow(1 << 19) {
		t.Fatal("the budget is empty")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := second.Grow(canceled, 1<<19); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was canceled: %v", err)
	}
	if err := third.Grow(t.Context(), 1<<21); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("more than the budget: %v", err)
	}
	for herb.CodeOf(second.Grow(t.Context(), 1<<19)) == herb.CodeUnavailable { // the first times, nothing was released
		first.Release()
	}
	if second.Bytes() != 1<<19 {
		t.Errorf("%d bytes are reserved", second.Bytes())
	}
}

func TestReservation_zero(t *testing.T) {
	t.Parallel()
	var r admission.Reservation
	if err := r.Grow(t.Context(), 1<<40); err != nil || r.Bytes() != 0 {
		t.Errorf("got %v, %d bytes", err, r.Bytes())
	}
	r.Release()
}
