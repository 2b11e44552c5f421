package app

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// monitor knows how the parts are that requests depend on. It asks them all the time, so that a probe need not wait for
// one that does not answer.
type monitor struct {
	parts    []*part
	log      *slog.Logger
	changed  func(name string, well bool) // told at each look; nil: nobody is told
	stopping atomic.Bool
}

// part is one of them.
type part struct {
	name     string
	ask      func(context.Context) error
	every    time.Duration
	patience time.Duration // how long it may take to answer
	fault    atomic.Pointer[string]
}

// monitor returns a monitor of what the data is kept in.
func (d *Data) monitor(log *slog.Logger, changed func(name string, well bool)) *monitor {
	return &monitor{
		parts:   []*part{{name: "database", ask: d.Store.Ping, every: time.Second, patience: 2 * time.Second}},
		log:     log,
		changed: changed,
	}
}

// Run asks all parts until ctx ends.
func (m *monitor) Run(ctx context.Context) error {
	var asking sync.WaitGroup
	for _, p := range m.parts {
		asking.Go(func() {
			for {
				m.look(ctx, p)
				select {
				case <-ctx.Done():
					return
				case <-time.After(p.every):
				}
			}
		})
	}
	asking.Wait()
	return nil
}

// look asks one part, and tells the log if it is no longer as it was.
func (m *monitor) look(ctx context.Context, p *part) {
	limited, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	err := p.ask(limited)
	if ctx.Err() != nil {
		return
	}
	var now *string
	if err != nil {
		now = new(describeFault(limited, err))
	}
	before := p.fault.Swap(now)
	switch {
	case now != nil && before == nil:
		m.log.Error("a part is lost; what does not need it is still answered", "part", p.name, "err", err)
	case now == nil && before != nil:
		m.log.Info("a part is back", "part", p.name)
	}
	if m.changed != nil {
		m.changed(p.name, now == nil)
	}
}

// describeFault says what is wrong in words that anybody may read.
func describeFault(ctx context.Context, err error) string {
	if ctx.Err() != nil || herb.CodeOf(err) == herb.CodeInternal {
		return "it does not answer"
	}
	return herb.MessageOf(err)
}

// stop has the server call itself not ready.
func (m *monitor) stop() { m.stopping.Store(true) }

// Health tells how the parts were when they were last asked.
func (m *monitor) Health() httpapi.Health {
	h := httpapi.Health{Parts: make([]httpapi.Part, len(m.parts))}
	if m.stopping.Load() {
		h.Away = "the server is stopping"
	}
	for i, p := range m.parts {
		h.Parts[i] = httpapi.Part{Name: p.name}
		if fault := p.fault.Load(); fault != nil {
			h.Parts[i].Fault = *fault
		}
	}
	return h
}
