package build

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/herb"
)

// failure is the panic value of a failed build.
type failure struct{ err error }

// check ends the build if err is not nil. A build is many nested calls that fail only if a
// temporary file cannot be written or read, or if the build is canceled, and then it fails as a
// whole. So these calls do not return errors.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// catch calls f and returns the error with which it failed. Another panic is an error too: it would
// end the process, which may be a server.
func catch(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			err = &herb.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	f()
	return nil
}

// start runs f in a goroutine of a group. If it fails, the build is canceled.
func (w *tempDir) start(group *errgroup.Group, f func()) {
	group.Go(func() error {
		err := catch(f)
		if err != nil {
			w.cancel(err)
		}
		return err
	})
}

// checkContext ends the build if it is canceled.
func (w *tempDir) checkContext() { check(context.Cause(w.ctx)) }

// wait waits for a signal. It ends the build if it is canceled.
func (w *tempDir) wait(signal <-chan struct{}) {
	select {
	case <-signal:
	case <-w.ctx.Done():
	}
	w.checkContext()
}
