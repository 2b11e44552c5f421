package app

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
)

func TestMonitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var answer atomic.Value // func(context.Context) error
		answer.Store(func(context.Context) error { return nil })
		var reported atomic.Bool
		m := &monitor{
			dependencies: []*dependency{
				{
					name: "database", interval: time.Second, timeout: 2 * time.Second,
					ping: func(ctx context.Context) error { return answer.Load().(func(context.Context) error)(ctx) },
				},
			},
			library: func() library.Health { return library.Health{Read: time.Now()} },
			log:     slog.New(slog.DiscardHandler),

			starting: func() string { return "" },
			report:   func(_ string, up bool) { reported.Store(up) },
		}
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()

		for _, step := range []struct {
			name  string
			ask   func(context.Context) error
			fault string
		}{
			{"well", func(context.Context) error { return nil }, ""},
			{"lost", func(context.Context) error { return herb.Errorf(herb.CodeUnavailable, "it is away") },
				"it is away"},
			{"failing within", func(context.Context) error { return errors.New("10.0.0.7: refused") },
				"it does not answer"},
			{"silent", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "it does not answer"},
			{"back", func(context.Context) error { return nil }, ""},
		} {
			answer.Store(step.ask)
			time.Sleep(4 * time.Second) // fake time
			synctest.Wait()
			want := httpapi.Health{Dependencies: map[string]string{"database": step.fault, "datasets": ""}}
			if diff := cmp.Diff(want, m.Health()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
			if reported.Load() != (step.fault == "") {
				t.Errorf("%s: reported up %t", step.name, reported.Load())
			}
		}
		m.stop()
		if m.Health().NotReady == "" {
			t.Error("a server that stops is ready")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestMonitor_lag checks that a server reports datasets that may be outdated, and stays ready.
func TestMonitor_lag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name   string
			health library.Health
			want   string
		}{
			{"up to date", library.Health{Read: time.Now().Add(-lagLimit), Open: 1}, ""},
			{"lagging", library.Health{Read: time.Now().Add(-12 * time.Second), Open: 1},
				"the catalogue was last read 12 seconds ago; later versions are missing"},
			{"lagging and failing", library.Health{Read: time.Now().Add(-time.Minute), Open: 1, Failed: 1},
				"1 of 2 cannot be read"},
			{"never read", library.Health{Restored: true, Open: 1}, ""},
		} {
			m := &monitor{library: func() library.Health { return tt.health }, starting: func() string { return "" }}
			want := httpapi.Health{Dependencies: map[string]string{"datasets": tt.want}}
			if diff := cmp.Diff(want, m.Health()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}

// TestMonitor_indexes checks that the server names how far the rebuild of indexes is, and is ready
// meanwhile.
func TestMonitor_indexes(t *testing.T) {
	t.Parallel()
	state := library.Health{Read: time.Now(), Open: 1, Outdated: 3, Rebuilt: 5}
	m := &monitor{library: func() library.Health { return state }, starting: func() string { return "" }}
	if h := m.Health(); h.NotReady != "" ||
		h.Dependencies["indexes"] != "3 wait to be rebuilt after an upgrade; 5 are done" {
		t.Errorf("%+v", h)
	}
	m.concealed = true
	if h := m.Health(); h.Dependencies["indexes"] != "some wait to be rebuilt after an upgrade" {
		t.Errorf("concealed: %+v", h)
	}
	state.Outdated = 0
	if h := m.Health(); h.Dependencies["indexes"] != "" {
		t.Errorf("when all are rebuilt: %+v", h)
	}
}
