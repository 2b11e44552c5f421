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

// claims claims work that one node does for all. Its claims are in the catalogue.
type claims struct {
	catalogue Catalogue
	node      string // identifies this process
	now       func() time.Time
}

// claim claims work that one node does for all, and extends the claim until end is called. claimed
// is false if another node does the work. While the catalogue is down, every node does it.
func (c claims) claim(ctx context.Context, name string) (end func(), claimed bool) {
	extend := func(ctx context.Context) (bool, error) {
		limited, cancel := context.WithTimeout(ctx, catalogueWait)
		defer cancel()
		now := c.now()
		return c.catalogue.Claim(limited, name, c.node, now, now.Add(claimFor))
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
		_ = c.catalogue.EndClaim(limited, name, c.node, c.now()) // otherwise it expires
	}, true
}
