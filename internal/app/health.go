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

// monitor checks the dependencies of requests periodically, so that a probe does not wait for one
// that does not respond.
type monitor struct {
	dependencies []*dependency
	library      func() library.Health
	log          *slog.Logger
	report       func(name string, up bool) // called after each check
	concealed    bool                       // do not report how many datasets there are
	starting     func() string              // what the server does before it serves requests; empty afterwards
	stopping     atomic.Bool
	handover     handover
}

// dependency is a service that requests need.
type dependency struct {
	name     string
	ping     func(context.Context) error
	interval time.Duration
	timeout  time.Duration // of one check
	logged   bool          // its failures are logged elsewhere
	fault    atomic.Pointer[string]
}

// monitor returns a monitor of the database, the object store and the library.
func (d *Data) monitor(log *slog.Logger, starting *startup, report func(name string, up bool)) *monitor {
	m := &monitor{
		dependencies: []*dependency{
			{name: "database", ping: d.Store.Ping, interval: time.Second, timeout: 2 * time.Second}},
		library: d.Library.Health,
		log:     log,
		report:  report,

		concealed: d.concealed,
		starting:  starting.step,
	}
	if d.shared != nil {
		m.handover.servers = d.shared
		m.handover.elsewhere.Store(true) // until it is known
	}
	m.dependencies = append(m.dependencies,
		&dependency{name: "sources", ping: d.checkSources, interval: 10 * time.Second, timeout: 5 * time.Second,
			logged: true})
	if d.blobs != nil { // requests to it cost money
		m.dependencies = append(m.dependencies, &dependency{name: "object store", ping: d.blobs.Ping,
			interval: 5 * time.Second, timeout: 5 * time.Second})
	}
	return m
}

// checkSources fails if sources could not be published. The error is public, so it names none. It
// stores what could not be stored before, and clears the errors of files that are gone.
func (d *Data) checkSources(ctx context.Context) error {
	if err := d.Publisher.StoreSourceErrors(ctx); err == nil && d.shared == nil {
		_ = d.Publisher.RemoveStaleErrors(ctx, true) // the next check tries again
	}
	found, err := d.Publisher.SourceErrors(ctx)
	failed := 0
	for _, e := range found {
		if !e.Skipped {
			failed++
		}
	}
	if err != nil || failed == 0 {
		return err
	}
	number := herb.Plural(failed, "source", "sources")
	if d.concealed {
		number = "some sources"
	}
	return herb.Errorf(herb.CodeRejected, "%s could not be published; 'herbarium datasets list' says why", number)
}

// Run checks all dependencies until ctx is done.
func (m *monitor) Run(ctx context.Context) error {
	var checking sync.WaitGroup
	for _, p := range m.dependencies {
		checking.Go(func() {
			for {
				m.check(ctx, p)
				select {
				case <-ctx.Done():
					return
				case <-time.After(p.interval):
				}
			}
		})
	}
	checking.Go(func() {
		m.handover.run(ctx, func() bool { return m.Health().NotReady == "" && m.library().Pending == 0 })
	})
	checking.Wait()
	return nil
}

// check checks one dependency and logs when its state changes.
func (m *monitor) check(ctx context.Context, p *dependency) {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err := p.ping(limited)
	if ctx.Err() != nil {
		return
	}
	var now *string
	if err != nil {
		now = new(herb.MessageOf(err))
		// the endpoint is public, so it shows no details
		if limited.Err() != nil || herb.CodeOf(err) == herb.CodeInternal {
			now = new("it does not answer")
		}
	}
	before := p.fault.Swap(now)
	switch {
	case p.logged:
	case now != nil && before == nil:
		m.log.Error("dependency down; serving degraded", "part", p.name, "err", err)
	case now == nil && before != nil:
		m.log.Info("dependency up again", "part", p.name)
	}
	m.report(p.name, now == nil)
}

// lagLimit is the age of the last read of the catalogue from which changes may be missing. The
// catalogue is read every second, and a lost connection delays it by less.
const lagLimit = 10 * time.Second

// stop makes the server not ready.
func (m *monitor) stop() { m.stopping.Store(true) }

// Health returns the results of the last checks.
func (m *monitor) Health() httpapi.Health {
	l := m.library()
	h := httpapi.Health{Dependencies: map[string]string{"datasets": ""}}
	for _, p := range m.dependencies {
		h.Dependencies[p.name] = ""
		if fault := p.fault.Load(); fault != nil {
			h.Dependencies[p.name] = *fault
		}
	}
	if l.Failed > 0 { // the log names them; this page is public
		h.Dependencies["datasets"] = fmt.Sprintf("%d of %d cannot be read", l.Failed, l.Open+l.Fetching+l.Failed+l.Cold)
		if m.concealed {
			h.Dependencies["datasets"] = "some cannot be read"
		}
	} else if age := time.Since(l.Read); !l.Read.IsZero() && age > lagLimit {
		h.Dependencies["datasets"] = fmt.Sprintf(
			"the catalogue was last read %d seconds ago; later versions are missing", int(age.Seconds()))
	}
	if l.Outdated > 0 {
		h.Dependencies["indexes"] = fmt.Sprintf("%d wait to be rebuilt after an upgrade; %d are done",
			l.Outdated, l.Rebuilt)
		if m.concealed {
			h.Dependencies["indexes"] = "some wait to be rebuilt after an upgrade"
		}
	}
	switch step := m.starting(); {
	case m.stopping.Load():
		h.NotReady = "the server is stopping"
	case step != "":
		h.NotReady = "the server is starting: " + step
	case !l.CanList():
		h.NotReady = "no dataset can be listed yet"
	case m.handover.isWaiting(l.Pending):
		h.NotReady = herb.Plural(l.Pending, "dataset is", "datasets are") +
			" listed by other nodes until the indexes are rebuilt after an upgrade"
		if m.concealed {
			h.NotReady = "some datasets are listed by other nodes until the indexes are rebuilt after an upgrade"
		}
	}
	return h
}
