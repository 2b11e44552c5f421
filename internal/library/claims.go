package library

import (
	"context"
	"sync"
	"time"
)

const (
	// claimFor is how long the claim of a node lasts that does not extend it. Clocks of nodes may
	// differ by up to claimFor - claimEvery.
	claimFor = time.Minute
	// claimEvery is the interval at which a claim is extended.
	claimEvery = 15 * time.Second
	// claimRetry is the interval at which a node tries to claim what another node does.
	claimRetry = 2 * time.Second
)

// claimRebuild waits until this node may rebuild the index of the version of a fetch: it has a
// slot, and no other node of the same release rebuilds the index. The caller calls release at the
// end.
func (l *Library) claimRebuild(ctx context.Context, f *fetch) (release func(), err error) {
	for {
		releaseSlot, err := l.rebuilds.acquireSlot(ctx, f)
		if err != nil || !l.shared() {
			return releaseSlot, err
		}
		endClaim, claimed := l.claim(ctx, RebuiltName(f.version.Version))
		if claimed {
			return func() {
				endClaim()
				releaseSlot()
			}, nil
		}
		releaseSlot()
		select {
		case <-time.After(claimRetry):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// claim claims work that one node does for all, and extends the claim until end is called. claimed
// is false if another node does the work. While the catalogue is down, every node does it.
func (l *Library) claim(ctx context.Context, name string) (end func(), claimed bool) {
	extend := func(ctx context.Context) (bool, error) {
		limited, cancel := context.WithTimeout(ctx, catalogueWait)
		defer cancel()
		now := l.opts.Now()
		return l.catalogue.Claim(limited, name, l.node, now, now.Add(claimFor))
	}
	claimed, err := extend(ctx)
	if err == nil && !claimed {
		return nil, false
	}
	extending, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { every(extending, claimEvery, func() { _, _ = extend(extending) }) })
	return func() {
		cancel()
		running.Wait()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), catalogueWait)
		defer cancel()
		_ = l.catalogue.EndClaim(limited, name, l.node, l.opts.Now()) // otherwise it expires
	}, true
}
