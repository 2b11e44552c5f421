package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
)

// monitor knows how the parts are that requests depend on. It asks them all the time, so that a probe need not wait for
// one that does not answer.
type monitor struct {
	parts    []*part
	library  func() library.Health
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
	m := &monitor{
		parts:   []*part{{name: "database", ask: d.Store.Ping, every: time.Second, patience: 2 * time.Second}},
		library: d.Library.Health,
		log:     log,
		changed: changed,
	}
	if d.blobs != nil { // each question costs something there
		m.parts = append(m.parts, &part{name: "object store", ask: d.blobs.Ping, every: 5 * time.Second, patience: 5 * time.Second})
	}
	return m
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
	var h httpapi.Health
	for _, p := range m.parts {
		shown := httpapi.Part{Name: p.name}
		if fault := p.fault.Load(); fault != nil {
			shown.Fault = *fault
		}
		h.Parts = append(h.Parts, shown)
	}
	l := m.library()
	datasets := httpapi.Part{Name: "datasets"}
	if l.Failed > 0 { // which ones is nobody's business here; the log tells
		datasets.Fault = fmt.Sprintf("%d of %d cannot be read at the moment", l.Failed, l.Open+l.Fetching+l.Failed+l.Cold)
	}
	h.Parts = append(h.Parts, datasets)
	switch {
	case m.stopping.Load():
		h.Away = "the server is stopping"
	case !l.CanList():
		h.Away = "nothing can be listed here yet"
	}
	return h
}
