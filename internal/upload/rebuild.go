package upload

import (
	"context"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// rebuildEvery is the interval at which Run looks for outdated versions.
const rebuildEvery = 5 * time.Second

// Run removes what a server that died during a publish has left, once, ends publishes of servers
// that have died, and rebuilds outdated versions from their kept sources until ctx is done: after
// an upgrade of the program that changes the format of segments or the rules of text, nobody has to
// send the files again. A version is outdated once it is requested. Each is tried once; nodes that
// try it at the same time agree on one result.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(rebuildEvery)
	defer tick.Stop()
	tried := map[string]bool{} // versions
	sweep := sync.OnceFunc(func() {
		if err := s.opts.Library.Sweep(ctx); err != nil {
			s.opts.Log.Warn("cannot remove files of interrupted publishes; will retry", "err", err)
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			sweep() // a server that died may have left files
			s.endAbandoned(ctx)
			s.rebuildOutdated(ctx, tried)
		}
	}
}

// rebuildOutdated rebuilds the outdated versions that were not tried yet, one after the other.
func (s *Service) rebuildOutdated(ctx context.Context, tried map[string]bool) {
	for _, v := range s.opts.Library.Outdated() {
		if tried[v.Version] || ctx.Err() != nil {
			continue
		}
		tried[v.Version] = true
		log := s.opts.Log.With("dataset", v.Ref.String(), "version", v.Version)
		if err := s.rebuild(ctx, v); err != nil {
			log.Error("cannot rebuild outdated version; publish the dataset again", "err", err)
			continue
		}
		log.Info("outdated version rebuilt from its source")
	}
}

// rebuild publishes the kept source of a live version again, by its settings.
func (s *Service) rebuild(ctx context.Context, v herb.LiveVersion) error {
	f, err := s.Restore(ctx, v.Ref)
	if err != nil {
		return err
	}
	p, err := s.Start(ctx, Request{
		Ref: v.Ref, File: f, Live: v.Version, Force: true,
		Actor: herb.Actor{Name: "server", Origin: "rebuilt after an upgrade", Note: "sha256 " + f.SHA256},
	})
	if err != nil {
		return err
	}
	<-p.Done()
	if r := p.Record(); r.Code != "" {
		return herb.Errorf(r.Code, "%s", r.Result.Error)
	}
	return nil
}
