package telemetry

import (
	"io"
	"sync"
	"time"
)

// mostHeld is how many bytes of lines are held back at most.
const mostHeld = 64 << 10

// lines writes whole lines, one after the other. Those that may wait are written together, because to write one costs as
// much as to make it up.
type lines struct {
	w io.Writer

	mu    sync.Mutex
	delay time.Duration // how long a line may wait for others; 0: none waits
	held  []byte
	timer *time.Timer // runs while there are lines; nil: none ever waited
}

// Write is part of io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, p...)
	return len(p), l.added(len(p))
}

// added sees that lines that were added to what is held get written in time.
func (l *lines) added(n int) error {
	switch {
	case l.delay == 0 || len(l.held) >= mostHeld:
		return l.writeHeld()
	case len(l.held) > n: // the timer runs already
	case l.timer == nil:
		l.timer = time.AfterFunc(l.delay, func() { _ = l.flush() })
	default:
		l.timer.Reset(l.delay)
	}
	return nil
}

// writeHeld writes what is held. What cannot be written is lost: it must not pile up.
func (l *lines) writeHeld() error {
	if len(l.held) == 0 {
		return nil
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	_, err := l.w.Write(l.held)
	l.held = l.held[:0]
	return err
}

// flush writes what is held.
func (l *lines) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writeHeld()
}

// finish writes what is held, and lets no line wait from then on.
func (l *lines) finish() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = 0
	return l.writeHeld()
}
