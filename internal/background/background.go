// Package background runs work that several requests may wait for, such as building the Parquet
// file of a version: one task at a time for each result, as many at once as the server has slots,
// shared between the clients that have asked first. A task goes on when these leave.
package background

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// How long the error of a task is returned before the work is tried again.
const (
	failedFor      = time.Minute
	unavailableFor = 5 * time.Second // if the server had no memory, or the object store was down
)

// maxFailures is the maximum number of failures that are remembered.
const maxFailures = 1000

// Pool runs tasks. It is safe for concurrent use.
type Pool struct {
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	tasks  map[string]*Task   // by name
	failed map[string]failure // by name
}

// failure is the error of a task that has ended.
type failure struct {
	err   error
	until time.Time
}

// New returns a pool without tasks.
func New(log *slog.Logger) *Pool {
	p := &Pool{log: log, tasks: map[string]*Task{}, failed: map[string]failure{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Work describes a task.
type Work struct {
	Name  string // identifies the result
	What  string // see NewTask
	Total int64  // units of the work
	// Hold keeps what the task needs, such as an open version, until release is called. It is
	// called once, when the task is created.
	Hold func() (release func(), err error)
	// Run does the work and reports its progress. The context is not that of a request.
	Run func(ctx context.Context, t *Task) error
}

// Close cancels all tasks and waits for them. No task starts afterwards.
func (p *Pool) Close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.running.Wait()
}

// Do waits for the task with the name of the work, which it creates unless there is one, and
// returns its error. The error has herb.CodeUnavailable and the time to try again if the task takes
// longer than limit, see Task.Wait, or has failed a short time ago.
func (p *Pool) Do(ctx context.Context, limit time.Duration, w Work) error {
	t, err := p.join(ctx, w)
	if err != nil {
		return err
	}
	return t.Wait(ctx, limit)
}

// join returns the task with the name of the work.
func (p *Pool) join(ctx context.Context, w Work) (*Task, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tasks[w.Name]; t != nil {
		return t, nil
	}
	if p.ctx.Err() != nil {
		return nil, herb.Errorf(herb.CodeUnavailable, "the server is stopping; try again")
	}
	if f, isFailed := p.failed[w.Name]; isFailed && time.Now().Before(f.until) {
		return nil, f.err
	}
	delete(p.failed, w.Name)
	release, err := w.Hold()
	if err != nil {
		return nil, err
	}
	t := NewTask(w.What)
	p.tasks[w.Name] = t
	taskCtx, pacer := p.ctx, query.BackgroundPacer(nil)
	if of := query.PacerOf(ctx); of != nil {
		pacer = of.Background()
		taskCtx = query.WithPacer(p.ctx, pacer)
	}
	p.running.Go(func() {
		err := p.run(taskCtx, pacer, w, t)
		release()
		p.end(w, t, err)
	})
	return t, nil
}

// errAbandoned is the error of a task that no request waited for when its turn came.
var errAbandoned = herb.Errorf(herb.CodeUnavailable, "no request waited; try again")

// run runs a task when there is a slot for it.
func (p *Pool) run(ctx context.Context, pacer query.BackgroundPacer, w Work, t *Task) (err error) {
	defer herb.Recover(&err)
	if pacer != nil {
		if err := pacer.Begin(ctx); err != nil {
			return err
		}
		defer pacer.End()
	}
	if t.isAbandoned() {
		return errAbandoned
	}
	t.Begin(w.What, w.Total)
	return w.Run(ctx, t)
}

// end records the result of a task. Errors that name a cause for the client are returned as they
// are, and others as herb.CodeUnavailable: the work may succeed later.
func (p *Pool) end(w Work, t *Task, err error) {
	name := w.Name
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tasks, name)
	isStopped := p.ctx.Err() != nil
	if err != nil && !isStopped && err != errAbandoned && herb.CodeOf(err) != herb.CodeGone {
		attrs := []any{"task", name, "err", err}
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			attrs = append(attrs, "stack", string(bug.Stack))
		}
		p.log.Error("background task failed; will retry when it is requested again", attrs...)
		err = p.recordFailure(name, w.What, err)
	}
	if isStopped && errors.Is(err, context.Canceled) {
		err = herb.Errorf(herb.CodeUnavailable, "the server is stopping; try again")
	}
	t.End(err)
}

// recordFailure remembers the failure of a task, and returns the error for the requests that wait
// for it.
func (p *Pool) recordFailure(name, what string, err error) error {
	now, retry := time.Now(), failedFor
	for other, f := range p.failed {
		if len(p.failed) >= maxFailures || now.After(f.until) {
			delete(p.failed, other)
		}
	}
	if herb.CodeOf(err) == herb.CodeUnavailable {
		retry = unavailableFor
	}
	if _, isBug := errors.AsType[*herb.PanicError](err); !isBug && herb.CodeOf(err) == herb.CodeInternal {
		err = &herb.Error{
			Code: herb.CodeUnavailable, Err: err, RetryAfter: failedFor,
			Message: what + " failed; the log of the server has the reason; try again in a minute",
		}
	}
	p.failed[name] = failure{err, now.Add(retry)}
	return err
}
