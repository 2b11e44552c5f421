package postgres

import "testing"

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
