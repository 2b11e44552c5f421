package background

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// MaxWait is how long a request waits for tasks, in total.
const MaxWait = 20 * time.Second

// Bounds of Retry-After of requests whose wait has ended.
const (
	minRetry = time.Second
	maxRetry = 10 * time.Minute
	// queuedRetry is sent while the progress of a task is not known. It is shorter than
	// abandonedAfter.
	queuedRetry = 10 * time.Second
)

// Task is work that goes on when the requests that wait for it leave. It is safe for concurrent
// use.
type Task struct {
	ended chan struct{}
	err   error // set before ended is closed

	mu      sync.Mutex
	what    string
	begun   time.Time // zero while the task waits for a slot
	done    int64
	total   int64 // 0: unknown
	waiting int   // requests
	asked   time.Time
}

// ErrInProgress is the cause of the error of a request whose wait has ended before the task.
var ErrInProgress = errors.New("the task has not ended")

// NewTask returns a task that waits for its turn. what says what it does, in messages: "building
// the Parquet file of a/b".
func NewTask(what string) *Task {
	return &Task{ended: make(chan struct{}), what: what, asked: time.Now()}
}

// Begin starts to measure the work of the task, or of the part of it that takes most of the time.
func (t *Task) Begin(what string, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.what, t.begun, t.done, t.total = what, time.Now(), 0, total
}

// SetDone reports how many units of the work are done.
func (t *Task) SetDone(units int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = units
}

// End records the result of the task.
func (t *Task) End(err error) {
	t.err = err
	close(t.ended)
}

// Ended returns a channel that is closed when the task has ended.
func (t *Task) Ended() <-chan struct{} { return t.ended }

// Err returns the error of a task that has ended.
func (t *Task) Err() error { return t.err }

// Wait waits for the task, at most for a limit; negative: until ctx is done. The request of ctx
// holds no slot meanwhile. It returns the error of the task; one with herb.CodeUnavailable and the
// time to try again if the task takes longer.
func (t *Task) Wait(ctx context.Context, limit time.Duration) error {
	t.count(1)
	defer t.count(-1)
	err := query.Wait(ctx, limit, t.ended)
	select {
	case <-t.ended:
		if err == nil {
			err = t.err
		}
		return err
	default:
	}
	if err != nil {
		return err
	}
	return t.inProgressError()
}

func (t *Task) count(requests int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting += requests
	t.asked = time.Now()
}

// isAbandoned reports whether no request waits for a task, and none has for some time.
func (t *Task) isAbandoned() bool {
	const abandonedAfter = time.Minute
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting == 0 && time.Since(t.asked) > abandonedAfter
}

// inProgressError is the error for a request whose wait has ended.
func (t *Task) inProgressError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	wait, percent := queuedRetry, int64(0)
	if t.done > 0 && t.total > 0 {
		percent = 100 * min(t.done, t.total) / t.total
		wait = time.Duration(float64(time.Since(t.begun)) * float64(max(t.total-t.done, 0)) / float64(t.done))
	}
	wait = min(max(wait.Round(time.Second), minRetry), maxRetry)
	return &herb.Error{
		Code: herb.CodeUnavailable, RetryAfter: wait, Err: ErrInProgress,
		Message: fmt.Sprintf("still %s (%d %% done); try again in %s", t.what, percent, wait),
	}
}
