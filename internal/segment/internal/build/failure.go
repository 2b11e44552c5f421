package build

import (
	"context"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/herb"
)

// recovered calls f and returns its error. It converts a panic, which is a bug, to a
// *herb.PanicError, because a panic would end the process, which may be a server, and no caller can
// recover the panic of another goroutine. Each goroutine of a build calls it once, at its top.
// So do InMemory, and Create, which must remove its files.
func recovered(f func() error) (err error) {
	defer herb.Recover(&err)
	return f()
}

// start runs f in a goroutine of a group. If it fails, the build is canceled.
func (w *tempDir) start(group *errgroup.Group, f func() error) {
	group.Go(func() error {
		err := recovered(f)
		if err != nil {
			w.cancel(err)
		}
		return err
	})
}

// err returns the reason why the build is canceled: its first error, or the cause of the caller's
// context. It returns nil while the build may continue.
func (w *tempDir) err() error { return context.Cause(w.ctx) }

// wait waits for a signal, or until the build is canceled, and returns err.
func (w *tempDir) wait(signal <-chan struct{}) error {
	select {
	case <-signal:
	case <-w.ctx.Done():
	}
	return w.err()
}
