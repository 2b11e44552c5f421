package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func newRequestContext(t *testing.T) (*requestContext, context.CancelFunc) {
	client, disconnect := context.WithCancel(t.Context())
	return &requestContext{client: client, deadline: time.Now().Add(time.Second)}, disconnect
}

// TestRequestContext ends a context in each way, with and without something that waits for it.
func TestRequestContext(t *testing.T) {
	t.Parallel()
	for _, wait := range []bool{false, true} {
		for want, end := range map[error]func(disconnect context.CancelFunc){
			nil:                      func(context.CancelFunc) {},
			context.Canceled:         func(disconnect context.CancelFunc) { disconnect() },
			context.DeadlineExceeded: func(context.CancelFunc) { time.Sleep(time.Second) },
		} {
			synctest.Test(t, func(t *testing.T) {
				c, disconnect := newRequestContext(t)
				defer disconnect()
				defer c.end()
				var done <-chan struct{}
				if wait {
					done = c.Done()
				}
				if err := c.Err(); err != nil {
					t.Fatalf("it begins with %v", err)
				}
				end(disconnect)
				synctest.Wait()
				if err := c.Err(); !errors.Is(err, want) {
					t.Errorf("wait %t: the error is %v, want %v", wait, err, want)
				}
				if !wait {
					done = c.Done() // closed by now if the context has ended
				}
				select {
				case <-done:
					if want == nil {
						t.Error("Done is closed early")
					}
				default:
					if want != nil {
						t.Errorf("wait %t: Done is not closed after %v", wait, want)
					}
				}
			})
		}
	}
}

// TestRequestContext_children checks that derived contexts end with it.
func TestRequestContext_children(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, disconnect := newRequestContext(t)
		defer disconnect()
		child, cancel := context.WithCancel(c)
		defer cancel()
		if at, ok := child.Deadline(); !ok || !at.Equal(c.deadline) {
			t.Errorf("the deadline is %v, %t", at, ok)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if child.Err() != context.DeadlineExceeded {
			t.Errorf("got %v", child.Err())
		}
		c.end()
	})
}
