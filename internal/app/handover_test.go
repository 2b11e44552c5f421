package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/library"
)

// fakeServers records what a server says, and returns what is set.
type fakeServers struct {
	mu      sync.Mutex
	serving bool
	others  bool
	err     error
}

func (f *fakeServers) SetServing(_ context.Context, serving bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serving = serving
	return f.err
}

func (f *fakeServers) IsServedElsewhere(context.Context) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.others, f.err
}

// TestHandover checks when a server that was upgraded is not ready because of its indexes, and that
// it never becomes so later.
func TestHandover(t *testing.T) {
	t.Parallel()
	errDown := errors.New("the database is down")
	for name, tt := range map[string]struct {
		others *fakeServers
		change func(f *fakeServers, h *library.Health) // after a minute
		ready  [3]bool                                 // at once, after the change, after the limit
	}{
		"alone":            {&fakeServers{}, nil, [3]bool{true, true, true}},
		"without database": {&fakeServers{err: errDown, others: true}, nil, [3]bool{false, true, true}},
		"another is ready": {&fakeServers{others: true}, nil, [3]bool{false, false, true}},
		"others stop": {
			&fakeServers{others: true}, func(f *fakeServers, _ *library.Health) { f.others = false },
			[3]bool{false, true, true},
		},
		"database fails": {
			&fakeServers{others: true}, func(f *fakeServers, _ *library.Health) { f.err = errDown },
			[3]bool{false, true, true},
		},
		"rebuilt": {
			&fakeServers{others: true}, func(_ *fakeServers, h *library.Health) { h.Pending = 0 },
			[3]bool{false, true, true},
		},
		"others start later": {
			&fakeServers{}, func(f *fakeServers, _ *library.Health) { f.others = true },
			[3]bool{true, true, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				state, others := library.Health{Read: time.Now(), Open: 1, Cold: 2, Outdated: 2, Pending: 2}, tt.others
				m := &monitor{library: func() library.Health { return state }, starting: func() string { return "" }}
				m.handover.servers = others
				m.handover.elsewhere.Store(true)
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { _ = m.Run(ctx) })
				check := func(i int) {
					t.Helper()
					synctest.Wait()
					state.Read = time.Now()
					notReady := m.Health().NotReady
					if (notReady == "") != tt.ready[i] || notReady != "" && !strings.Contains(notReady, "2 datasets") {
						t.Errorf("%d: not ready: %q, want ready %t", i, notReady, tt.ready[i])
					}
					others.mu.Lock()
					defer others.mu.Unlock()
					if want := tt.ready[i] && state.Pending == 0; others.err == nil && others.serving != want {
						t.Errorf("%d: recorded as serving %t, want %t", i, others.serving, want)
					}
				}
				check(0)
				time.Sleep(time.Minute)
				if tt.change != nil {
					synctest.Wait()
					others.mu.Lock()
					tt.change(others, &state)
					others.mu.Unlock()
				}
				time.Sleep(handoverDown + handoverEvery)
				check(1)
				time.Sleep(handoverLimit)
				check(2)
				m.stop()
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if others.serving && others.err == nil {
					t.Error("a server that stops is recorded as serving")
				}
				stop()
				running.Wait()
			})
		})
	}
}
