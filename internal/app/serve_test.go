package app_test

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"

	"herbarium/internal/app"
	"herbarium/internal/herb"
)

// TestServe_stoppedAtStart checks that a server that is stopped before it has reported that it is
// ready finishes accepted requests like any other.
func TestServe_stoppedAtStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &recorder{Handler: slog.DiscardHandler, onMessage: func(message string) {
		if message == "limits" { // the last message before the server accepts requests
			cancel()
		}
	}}
	c := app.DefaultConfig()
	c.Addr, c.Data = "127.0.0.1:0", t.TempDir()
	err := app.Serve(ctx, c, app.ServeOptions{
		Log:   slog.New(log),
		Ready: func(net.Addr, []herb.Dataset, int) { t.Error("the server reports that it is ready") },
	})
	if err != nil || !slices.Contains(log.messages, "stopping; finishing accepted requests") {
		t.Errorf("error %v, log %q", err, log.messages)
	}
}

// recorder is a log handler that stores the messages.
type recorder struct {
	slog.Handler
	onMessage func(string)
	mu        sync.Mutex
	messages  []string
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, record.Message)
	r.onMessage(record.Message)
	return nil
}
