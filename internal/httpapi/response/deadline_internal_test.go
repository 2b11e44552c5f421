package response

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline checks when the context of a request ends, whether something waits for it or asks
// only.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		does  func(d *deadline, disconnect func())
		err   error
		cause error
	}{
		{"in time", func(*deadline, func()) { time.Sleep(time.Second - 1) }, nil, nil},
		{"too late", func(*deadline, func()) { time.Sleep(time.Second) }, context.Canceled, context.DeadlineExceeded},
		{"disconnected", func(_ *deadline, disconnect func()) { disconnect() }, context.Canceled, context.Canceled},
		{"stopped", func(d *deadline, _ func()) {
			d.stop()
			time.Sleep(time.Hour)
		}, nil, nil},
		{"resumed in time", func(d *deadline, _ func()) {
			time.Sleep(time.Second / 2)
			d.stop()
			time.Sleep(time.Hour)
			d.resume()
			time.Sleep(time.Second/2 - 1)
		}, nil, nil},
		{"resumed too late", func(d *deadline, _ func()) {
			time.Sleep(time.Second / 2)
			d.stop()
			time.Sleep(time.Hour)
			d.resume()
			time.Sleep(time.Second / 2)
		}, context.Canceled, context.DeadlineExceeded},
	} {
		for _, waits := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					client, disconnect := context.WithCancel(t.Context())
					d := newDeadline(client, time.Now().Add(time.Second))
					var child context.Context = d
					if waits {
						var cancel func()
						child, cancel = context.WithCancel(d)
						defer cancel()
					}
					tt.does(d, disconnect)
					synctest.Wait()
					if err := child.Err(); !errors.Is(err, tt.err) || !errors.Is(context.Cause(child), tt.cause) {
						t.Errorf("waits %t: %v, %v", waits, err, context.Cause(child))
					}
					d.finish()
					disconnect()
					if d.Err() == nil || child.Err() == nil {
						t.Error("the context has not ended with its request")
					}
				})
			})
		}
	}
}
