package response

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// deadline is the context of a request. It is canceled when the client disconnects and, with
// context.DeadlineExceeded as its cause, when the time of the request is over. It has no timer
// until something waits for it: most requests end before.
type deadline struct {
	context.Context                               // of the client
	waited          atomic.Pointer[waitedContext] // nil until Done was called

	mu      sync.Mutex
	end     time.Time
	stopped bool          // time does not count
	left    time.Duration // when it was stopped
}

// waitedContext is a context that is canceled at the deadline.
type waitedContext struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// newDeadline returns the context of a request that must end at a time.
func newDeadline(client context.Context, end time.Time) *deadline {
	return &deadline{Context: client, end: end}
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.wait().Done() }

// Err implements context.Context.
func (d *deadline) Err() error {
	w := d.waited.Load()
	if w == nil {
		if !d.isOver() {
			return d.Context.Err()
		}
		w = d.wait()
		w.cancel(context.DeadlineExceeded)
	}
	return w.Err()
}

// Value implements context.Context.
func (d *deadline) Value(key any) any {
	if w := d.waited.Load(); w != nil {
		return w.Value(key) // also those of the client
	}
	return d.Context.Value(key)
}

func (d *deadline) isOver() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.stopped && !time.Now().Before(d.end)
}

// wait returns the context that others can wait for.
func (d *deadline) wait() *waitedContext {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.waited.Load(); w != nil {
		return w
	}
	w := &waitedContext{}
	w.Context, w.cancel = context.WithCancelCause(d.Context)
	w.timer = time.AfterFunc(time.Until(d.end), func() { w.cancel(context.DeadlineExceeded) })
	if d.stopped {
		w.timer.Stop()
	}
	d.waited.Store(w)
	return w
}

// stop stops the time of the request. It reports false if it was stopped before.
func (d *deadline) stop() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return false
	}
	d.left, d.stopped = time.Until(d.end), true
	if w := d.waited.Load(); w != nil {
		w.timer.Stop()
	}
	return true
}

// resume lets the time continue after stop.
func (d *deadline) resume() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end, d.stopped = time.Now().Add(d.left), false
	if w := d.waited.Load(); w != nil {
		w.timer.Reset(d.left)
	}
}

// finish cancels the context at the end of the request.
func (d *deadline) finish() {
	d.stop()
	w := d.waited.Load()
	if w != nil {
		w.cancel(nil)
	}
}
