package app

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
)

// startup is the progress of a server before it serves requests.
type startup struct {
	concealed bool                   // names and numbers of datasets are not public
	current   atomic.Pointer[string] // what the server is doing; nil once it serves requests
	left      atomic.Int64           // sources that have not been published yet
	ended     chan struct{}          // closed when the server serves requests
}

func newStartup(concealed bool) *startup {
	s := &startup{concealed: concealed, ended: make(chan struct{})}
	s.set("preparing the data folder")
	return s
}

func (s *startup) set(step string) { s.current.Store(&step) }

// publishing sets that a source is being published, after a number of others.
func (s *startup) publishing(ref herb.Ref, done, total int) {
	s.left.Store(int64(total - done - 1))
	if s.concealed {
		s.set("publishing sources")
		return
	}
	s.set(fmt.Sprintf("publishing %s, source %d of %d", ref, done+1, total))
}

// end sets that the server serves requests. It is called once.
func (s *startup) end() {
	s.current.Store(nil)
	close(s.ended)
}

// startWait is how long a request waits for a server that starts.
const startWait = 2 * time.Second

// await waits until the server serves requests, for up to startWait, and returns step.
func (s *startup) await(ctx context.Context) string {
	if s.step() == "" {
		return ""
	}
	select {
	case <-s.ended:
	case <-ctx.Done():
	case <-time.After(startWait):
	}
	return s.step()
}

// step returns what the server is doing, safe to show to clients; empty once it serves requests.
func (s *startup) step() string {
	if step := s.current.Load(); step != nil {
		return *step
	}
	return ""
}

// prepare makes the data ready for requests. It removes leftovers, if the sources may need the
// space, and publishes the sources. A source that cannot be published is reported and does not
// prevent serving the rest; watcher, if there is one, retries it.
func (d *Data) prepare(ctx context.Context, opts ServeOptions, s *startup, watcher *publish.Watcher) error {
	if len(opts.Found.Sources) > 0 {
		if err := d.Versions.Sweep(ctx); err != nil {
			opts.Log.Warn("cannot remove files of interrupted publishes; will retry", "err", err)
		}
	}
	if d.shared == nil { // files of other machines cannot be checked here
		if err := d.RemoveStaleErrors(ctx, false); err != nil {
			return err
		}
	}
	failed, err := d.PublishFound(ctx, opts.Found, s.publishing)
	if err != nil {
		return err
	}
	watcher.Retry(failed)
	s.set("opening datasets")
	if err := d.tolerateUnavailable(d.Library.Refresh(ctx), opts.Log); err != nil || d.shared == nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	d.Library.FindOutdated(limited) // before the server can be ready
	return ctx.Err()
}

// findLimit limits the time in which a server looks for indexes of other releases before it is
// ready. It finds the others in the background.
const findLimit = 30 * time.Second

// announce reports that the server is ready, to the caller and to the service manager.
func (d *Data) announce(ctx context.Context, addr net.Addr, opts ServeOptions) error {
	if opts.Ready != nil {
		datasets, total, err := d.firstDatasets(ctx)
		switch err := d.tolerateUnavailable(err, opts.Log); {
		case ctx.Err() != nil: // requests may have been accepted already
			return nil
		case err != nil:
			return err
		}
		opts.Ready(addr, datasets, total)
	}
	notify(ctx, opts, "READY=1")
	return nil
}

// firstDatasets describes the first datasets and returns the number of all.
func (d *Data) firstDatasets(ctx context.Context) ([]herb.Dataset, int, error) {
	const shown = 5
	live, err := d.Library.Live(ctx)
	if err != nil {
		return nil, 0, err
	}
	datasets, err := d.Library.Datasets(ctx, live[:min(len(live), shown)], false)
	return datasets, len(live), err
}
