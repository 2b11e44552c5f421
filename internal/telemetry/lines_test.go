package telemetry_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/telemetry"
)

// written is a writer that counts.
type written struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	times int
	err   error
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times++
	if w.err != nil {
		return 0, w.err
	}
	return w.buf.Write(p)
}

func (w *written) lines() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Count(w.buf.Bytes(), []byte("\n"))
}

func delayed(t *testing.T, w *written) *slog.Logger {
	t.Helper()
	log, err := telemetry.NewLog(w, telemetry.LogOptions{Format: telemetry.FormatJSON, Delay: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestNewLog_delay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		do    func(t *testing.T, log *slog.Logger)
		lines int
		times int
	}{
		{"a line waits", func(_ *testing.T, log *slog.Logger) { log.Info("a") }, 0, 0},
		{"and not for ever", func(_ *testing.T, log *slog.Logger) {
			log.Info("a")
			time.Sleep(4 * time.Millisecond)
			log.Info("b", "not plain", 1.5)
			time.Sleep(time.Millisecond)
		}, 2, 1},
		{"each time", func(_ *testing.T, log *slog.Logger) {
			for range 3 {
				log.Info("a")
				time.Sleep(6 * time.Millisecond)
			}
		}, 3, 3},
		{"a warning does not", func(_ *testing.T, log *slog.Logger) {
			log.Info("a")
			log.Warn("b")
			log.Info("c")
		}, 2, 1},
		{"nor an error of another kind", func(_ *testing.T, log *slog.Logger) {
			log.With("x", 1).Info("a")
			log.WithGroup("g").Error("b", "err", errors.New("no"))
		}, 2, 1},
		{"many do not", func(_ *testing.T, log *slog.Logger) {
			for range 3 {
				log.Info(strings.Repeat("x", 30_000))
			}
			log.Info("more")
		}, 3, 1},
		{"all are written at the end", func(t *testing.T, log *slog.Logger) {
			log.Info("a")
			log.Info("b")
			if err := telemetry.Finish(log); err != nil {
				t.Error(err)
			}
		}, 2, 1},
		{"and none waits after it", func(t *testing.T, log *slog.Logger) {
			if err := telemetry.Finish(log); err != nil {
				t.Error(err)
			}
			log.Info("a")
			log.Info("b")
		}, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var w written
				tt.do(t, delayed(t, &w))
				synctest.Wait()
				if w.lines() != tt.lines || w.times != tt.times {
					t.Errorf("%d lines were written in %d pieces; want %d in %d", w.lines(), w.times, tt.lines, tt.times)
				}
			})
		})
	}
}

// TestNewLog_delayFails sees that what cannot be written is reported where somebody asks, and is not kept.
func TestNewLog_delayFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := written{err: errors.New("the disk is full")}
		log := delayed(t, &w)
		log.Info("lost")
		if err := telemetry.Finish(log); !errors.Is(err, w.err) {
			t.Errorf("got %v; want %v", err, w.err)
		}
		w.err = nil
		log.Info("written")
		if got := w.buf.String(); strings.Contains(got, "lost") || !strings.Contains(got, "written") {
			t.Errorf("got %q", got)
		}
	})
}

// TestNewLog_manyAtOnce sees that lines are whole, whoever writes them, and that none is missing at the end.
func TestNewLog_manyAtOnce(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 500
	var w written
	log := delayed(t, &w)
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			for j := range each {
				switch j % 3 {
				case 0:
					log.Info("plain", "n", i*each+j)
				case 1:
					log.Info("not <plain>", "n", i*each+j)
				default:
					log.Warn("warning", "n", i*each+j)
				}
			}
		})
	}
	running.Wait()
	if err := telemetry.Finish(log); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(w.buf.String()) {
		_, n, ok := strings.Cut(strings.TrimSuffix(line, "}\n"), `,"n":`)
		if !ok || !strings.HasPrefix(line, `{"time":"`) || !strings.HasSuffix(line, "}\n") {
			t.Fatalf("%q is not one line", line)
		}
		seen[n] = true
	}
	for n := range writers * each {
		if !seen[fmt.Sprint(n)] {
			t.Fatalf("line %d is missing", n)
		}
	}
}
