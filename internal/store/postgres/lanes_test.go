package postgres

import (
	"context"
	"errors"
	"testing"
)

// TestLanes checks how many calls of each kind can run concurrently.
func TestLanes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ conns, expensive, reads int }{
		{1, 1, 1}, // cannot be divided
		{2, 1, 1},
		{4, 1, 3},
		{8, 3, 7},
	} {
		l := newLanes(tt.conns)
		fill := func(lane lane) (entered int, releases []func()) {
			ended, cancel := context.WithCancel(t.Context())
			defer cancel()
			for {
				free := true
				for _, places := range lane {
					free = free && len(places) < cap(places)
				}
				if !free {
					cancel()
				}
				release, err := lane.enter(ended)
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					return entered, releases
				}
				entered, releases = entered+1, append(releases, release)
				if entered > tt.conns {
					return entered, releases
				}
			}
		}
		expensive, releases := fill(l.expensive())
		cheap, more := fill(l.cheap())
		if expensive != tt.expensive || expensive+cheap != tt.reads {
			t.Errorf("%d connections: %d expensive and %d cheap reads; want %d and %d in all", tt.conns, expensive, cheap, tt.expensive, tt.reads)
		}
		for _, release := range append(releases, more...) {
			release()
		}
		if len(l.reads) != 0 || len(l.scans) != 0 {
			t.Errorf("%d connections: %d and %d places are not released", tt.conns, len(l.reads), len(l.scans))
		}
	}
}
