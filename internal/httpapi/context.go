package httpapi

import (
	"context"
	"sync"
	"time"
)

// requestContext is the context of a request: that of its client, with a deadline. Unlike that of context.WithDeadline, its timer
// starts when something first waits for Done: most requests only check Err, and a timer costs them more than their query.
type requestContext struct {
	client   context.Context // canceled when the client disconnects; has no deadline
	deadline time.Time

	mu     sync.Mutex
	timed  context.Context // with the deadline; nil until it is needed
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (c *requestContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements context.Context.
func (c *requestContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.client, c.deadline)
	}
	return c.timed.Done()
}

// Err implements context.Context.
func (c *requestContext) Err() error {
	current := c.current()
	if err := current.Err(); err != nil || current != c.client || time.Now().Before(c.deadline) {
		return err
	}
	return context.DeadlineExceeded
}

// Value implements context.Context. It lets package context derive contexts without a goroutine for each.
func (c *requestContext) Value(key any) any { return c.current().Value(key) }

// current returns the context with the timer, or that of the client if there is no timer.
func (c *requestContext) current() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed != nil {
		return c.timed
	}
	return c.client
}

// end stops the timer.
func (c *requestContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}
