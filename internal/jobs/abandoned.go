package jobs

import (
	"context"
	"sync"
	"time"
)

// sweepEvery is the interval at which Run looks for publishes of servers that have died.
const sweepEvery = 5 * time.Second

// Run ends publishes of servers that have died until ctx is done. It also removes the files that
// they have left, once.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	sweep := sync.OnceFunc(func() {
		if err := s.opts.Versions.Sweep(ctx); err != nil {
			s.opts.Log.Warn("cannot remove files of interrupted publishes; will retry", "err", err)
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			sweep()
			s.endAbandoned(ctx)
		}
	}
}
