package postgres

import (
	"context"
	"errors"
	"testing"
)

// TestLane checks how many reads can run concurrently.
func TestLane(t *testing.T) {
	t.Parallel()
	for conns, reads := range map[int]int{1: 1, 2: 1, 4: 3, 8: 7} {
		l := newLane(conns)
		for range reads {
			release, err := l.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer release()
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.enter(canceled); !errors.Is(err, context.Canceled) {
			t.Errorf("%d connections: more than %d reads, %v", conns, reads, err)
		}
	}
}
