package publish

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/publish/receive"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// SourcePublisher publishes sources, as Publisher does.
type SourcePublisher interface {
	Publish(ctx context.Context, s ingest.Source, opts Options) (versions.Result, error)
}

// Library opens the versions of datasets.
type Library interface {
	AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error)
}

// Versions describes the versions of datasets, and has their sources.
type Versions interface {
	LiveVersion(ctx context.Context, ref herb.Ref) (herb.Dataset, error)
	OpenSource(ctx context.Context, ref herb.Ref, version string) (io.ReadCloser, herb.Dataset, error)
	Sweep(ctx context.Context) error
	NewSorter(ctx context.Context, records, keySize int) (*versions.Sorter, error)
}

// QueueStore stores the states of publishes for all nodes.
type QueueStore interface {
	AddPublish(ctx context.Context, p store.Publish, expired time.Time) error
	UpdatePublish(ctx context.Context, p store.Publish) error
	EndPublish(ctx context.Context, p store.Publish, read time.Time, entry *herb.AuditEntry) (bool, error)
	AbandonedPublishes(ctx context.Context, before time.Time) ([]store.Publish, error)
	Publish(ctx context.Context, id string) (store.Publish, error)
	AddAuditEntry(ctx context.Context, e herb.AuditEntry) error
}

// QueueOptions configures a Queue. Publisher, Library, Versions, Store, Files and Dir are required.
type QueueOptions struct {
	Publisher SourcePublisher
	Library   Library
	Versions  Versions
	Store     QueueStore
	Files     *receive.Receiver
	Dir       string           // folder of intermediate files, which have no names
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil disables logging
	// Observe is called after each publish with its duration since the file was received. nil
	// disables it.
	Observe func(status versions.Status, took time.Duration)
	// Admission shares publishes between keys; nil means default limits.
	Admission *admission.Controller
}

// Queue publishes received files in the background: as many at a time as the lanes of package
// admission allow, with turns for each key. It is safe for concurrent use.
//
// The node that runs a publish renews its state in the database, so that every node can return it.
// A state that was not renewed for a while belongs to a server that has died: another one ends the
// publish as failed. The file and all intermediate files have no names or are removed by package
// versions, so that nothing is left.
type Queue struct {
	opts QueueOptions
	stop context.CancelCauseFunc
	ctx  context.Context // of all publishes
	work sync.WaitGroup

	waiting atomic.Int64 // publishes without a slot to build
	mu      sync.Mutex
	stopped bool
	running map[string]*running // by ID
}

// NewQueue returns an empty queue.
func NewQueue(opts QueueOptions) *Queue {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Admission == nil {
		opts.Admission, _ = admission.New(admission.Options{Limits: admission.DefaultLimits(1, 0)}) // they are valid
	}
	q := &Queue{opts: opts, running: map[string]*running{}}
	q.ctx, q.stop = context.WithCancelCause(context.Background())
	return q
}

// errStopping is the cause of the cancellation of publishes when the server stops.
var errStopping = herb.Errorf(herb.CodeUnavailable, "the server is stopping; nothing has changed; send the file again")

// Stop cancels the publishes and waits until they have ended. Later ones fail.
func (q *Queue) Stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.stop(errStopping)
	q.work.Wait()
}

// Start publishes a file in the background and closes it. State returns how far it is.
func (q *Queue) Start(ctx context.Context, r Request) (Publish, error) {
	p := &running{
		queue: q, request: r, done: make(chan struct{}),
		state: Publish{
			ID: strings.ToLower(rand.Text()), Dataset: r.Ref.String(), State: StateReceived, Check: r.Check,
			Created: q.opts.Now().UTC().Truncate(time.Millisecond), Bytes: r.File.Size, SHA256: r.File.SHA256,
		},
	}
	started := p.state
	if err := q.add(ctx, p); err != nil {
		return Publish{}, errors.Join(err, r.File.Close())
	}
	go func() {
		defer q.work.Done()
		q.run(p)
	}()
	return started, nil
}

// runningPublish returns a publish that this server runs; nil if there is none.
func (q *Queue) runningPublish(id string) *running {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running[id]
}

// State returns a publish that this or another server runs or has run in the last hours. If this
// server runs it, State waits for its end, at most for a duration. The error has herb.CodeNotFound
// if there is none.
func (q *Queue) State(ctx context.Context, id string, wait time.Duration) (Publish, error) {
	if p := q.runningPublish(id); p != nil {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		return p.current(), nil
	}
	stored, err := q.opts.Store.Publish(ctx, id)
	if err != nil {
		return Publish{}, err
	}
	if now := q.opts.Now(); stored.Running && now.Sub(stored.Updated) > lease {
		return q.abandon(ctx, stored)
	}
	p, err := decodeStored(stored)
	return p.Publish, err
}

// ticket returns a ticket for the key of a request, which shares the lanes with other keys.
func (q *Queue) ticket(r *Request) admission.Ticket {
	return q.opts.Admission.NewTicket(admission.ClientOfKey(r.Actor.ID))
}

// add records a publish, unless there are too many, of the key or of all.
func (q *Queue) add(ctx context.Context, p *running) error {
	p.ticket = q.ticket(&p.request)
	if err := p.ticket.Enter(ctx, admission.Publish); err != nil {
		return err
	}
	if err := q.enter(p); err != nil {
		p.ticket.Release()
		return err
	}
	err := q.opts.Store.AddPublish(ctx, p.stored(), q.opts.Now().Add(-Retention))
	if err != nil {
		q.remove(p)
		q.work.Done()
	}
	return err
}

// enter counts a publish as running, unless the server stops.
func (q *Queue) enter(p *running) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return errStopping
	}
	q.running[p.state.ID] = p
	q.work.Add(1)
	return nil
}

func (q *Queue) remove(p *running) {
	p.ticket.Release()
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, p.state.ID)
}

// run publishes a file and records the result.
func (q *Queue) run(p *running) {
	ctx := herb.WithActor(q.ctx, p.request.Actor)
	stopRenewing := p.renew(ctx)
	result, err := q.publish(ctx, &p.request, Options{Progress: p.report}, func() {})
	stopRenewing()
	r := &p.request
	if failed := r.File.Close(); failed != nil {
		q.opts.Log.Warn("cannot close a received file", "err", failed)
	}
	if bug, ok := errors.AsType[*herb.PanicError](err); ok {
		q.opts.Log.Error("panic in a publish", "dataset", r.Ref.String(), "err", bug, "stack", string(bug.Stack))
	}
	q.logResult(r, result, err)
	if result.Status == versions.StatusUnchanged && !r.Check { // other results are recorded where they happen
		q.audit(ctx, r.Ref, "unchanged, version "+result.Version)
	}
	if q.opts.Observe != nil {
		q.opts.Observe(result.Status, q.opts.Now().Sub(p.state.Created))
	}
	p.end(result, err)
	q.remove(p)
}

// Waiting returns the number of publishes that wait for others to end.
func (q *Queue) Waiting() int { return int(q.waiting.Load()) }

// publish publishes a file as soon as there is a slot, which it tells begun. opts has what is not
// in the request.
func (q *Queue) publish(ctx context.Context, r *Request, opts Options, begun func()) (result versions.Result,
	err error) {
	recorded := r.Check // a publish that has begun records its failure itself
	defer func() {
		if err == nil {
			return
		}
		result.Fail(r.Ref, err)
		if !recorded {
			q.auditFailure(ctx, r.Ref, err)
		}
	}()
	defer herb.Recover(&err)
	release, err := q.awaitBuild(ctx, r)
	if err != nil {
		return result, err
	}
	defer release()
	if err := q.opts.Files.Fetch(ctx, r.File); err != nil {
		return result, classify(ctx, err, r)
	}
	begun()
	live, err := q.opts.Versions.LiveVersion(ctx, r.Ref)
	if err != nil {
		return result, classify(ctx, err, r)
	}
	source, records, err := q.prepare(ctx, r, live)
	if err != nil {
		return result, classify(ctx, err, r)
	}
	opts.PublishOptions, opts.keepRolledBack = r.PublishOptions, r.Fetched
	opts.SameFormat = r.Fetched
	opts.Keep = &versions.KeptSource{Content: r.File.Content(), Name: r.File.Name, SHA256: r.File.SHA256,
		Merged: r.File.Merged}
	opts.Records, recorded = records, true
	result, err = q.opts.Publisher.Publish(ctx, source, opts)
	return result, classify(ctx, err, r)
}

// awaitBuild waits until the key of a request may read a file and build a version. The caller calls
// release at the end.
func (q *Queue) awaitBuild(ctx context.Context, r *Request) (release func(), err error) {
	ticket := q.ticket(r)
	q.waiting.Add(1)
	defer q.waiting.Add(-1)
	if ticket.Await(ctx, admission.Build) != nil {
		return nil, context.Cause(ctx)
	}
	return ticket.Release, nil
}

// prepare returns the source of a request. If it changes the live version, the file becomes one
// with the changed records, whose number it returns: the publish fails if others are read.
func (q *Queue) prepare(ctx context.Context, r *Request, live herb.Dataset) (src ingest.Source, records *int,
	err error) {
	if r.Mode == Replace {
		src, err = q.source(ctx, r, live)
		return src, nil, err
	}
	if r.Expected != nil && *r.Expected != live.Version {
		return src, nil, versions.ErrConcurrent(r.Ref)
	}
	merged, n, err := q.merge(ctx, r, live)
	if err != nil {
		return src, nil, err
	}
	if err := r.File.Close(); err != nil {
		return src, nil, errors.Join(err, merged.Close())
	}
	r.File, r.Reading = merged, herb.Reading{}
	src, err = q.source(ctx, r, live)
	// earlier releases published without a report
	isCSV := live.Report != nil && strings.HasPrefix(live.Report.Format, "csv")
	if !isCSV && len(src.Fields) == 0 { // the file may have declared types
		for _, f := range live.Fields {
			setting := ingest.FieldSetting{Name: f.Name}
			if f.Type == herb.TypeText {
				setting.Schema.Type = "string"
			}
			src.Fields = append(src.Fields, setting)
		}
	}
	return src, &n, err
}

// classify gives an error the code that the client needs to tell what to do.
func classify(ctx context.Context, err error, r *Request) error {
	switch code := herb.CodeOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case filesystem.IsFull(err):
		return herb.Wrap(herb.CodeNoSpace, err,
			"not enough disk space on the server to publish %s; nothing has changed", r.Ref)
	case versions.IsConcurrent(err) && r.Required:
		return herb.Wrap(herb.CodePrecondition, err,
			"If-Match does not hold: another version of %s went live in the meantime; nothing has changed", r.Ref)
	case code == herb.CodeInvalid, code == herb.CodeNotFound:
		e, _ := errors.AsType[*herb.Error](err) // it has a code
		unreadable := *e
		unreadable.Code = herb.CodeUnreadable
		return &unreadable
	}
	return err
}

func (q *Queue) logResult(r *Request, result versions.Result, err error) {
	log := q.opts.Log.With("dataset", r.Ref.String(), "actor", r.Actor.ID, "check", r.Check)
	switch {
	case err != nil:
		log.Warn("file not published", "err", err)
	case result.Status == versions.StatusUnchanged:
		log.Info("file unchanged", "version", result.Version)
	default:
		log.Info("file published", "version", result.Version, "records", result.Records)
	}
}

// audit adds an entry. A failure is only logged: the publish has ended already.
func (q *Queue) audit(ctx context.Context, ref herb.Ref, detail string) {
	q.addEntry(ctx, herb.AuditEntry{Action: herb.AuditPublished, Subject: ref.String(), Detail: detail})
}

// auditFailure adds an entry for a file that failed before its publish began. It contains no
// message, which may quote values.
func (q *Queue) auditFailure(ctx context.Context, ref herb.Ref, err error) {
	q.addEntry(ctx, herb.AuditEntry{
		Action: herb.AuditPublished, Subject: ref.String(), Result: herb.AuditFailed, Detail: "reason: " +
			string(herb.CodeOf(err)),
	})
}

func (q *Queue) addEntry(ctx context.Context, e herb.AuditEntry) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	if err := q.opts.Store.AddAuditEntry(limited, e); err != nil {
		q.opts.Log.Warn("cannot add audit entry", "dataset", e.Subject, "err", err)
	}
}
