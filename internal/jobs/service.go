// Package jobs runs publishes of received files in the background. A job is the same publish as
// that of the command; its record says how far it is, so that every node can tell.
//
// # Records
//
// The node that runs a publish renews its record in the database. A record that was not renewed for
// a while belongs to a server that has died: another one ends it as failed. The file and all
// intermediate files have no names or are removed by the library, so that nothing is left.
package jobs

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
	"herbarium/internal/publish"
	"herbarium/internal/store"
	"herbarium/internal/upload"
	"herbarium/internal/versions"
)

// Publisher publishes sources.
type Publisher interface {
	Publish(ctx context.Context, s ingest.Source, opts publish.Options) (versions.Result, error)
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

// Store stores the records of publishes.
type Store interface {
	AddPublish(ctx context.Context, p store.Publish, expired time.Time) error
	UpdatePublish(ctx context.Context, p store.Publish) error
	EndPublish(ctx context.Context, p store.Publish, read time.Time, entry *herb.AuditEntry) (bool, error)
	AbandonedPublishes(ctx context.Context, before time.Time) ([]store.Publish, error)
	Publish(ctx context.Context, id string) (store.Publish, error)
	AddAuditEntry(ctx context.Context, e herb.AuditEntry) error
}

// Options configures a Service. Publisher, Library, Versions, Store, Files and Dir are required.
type Options struct {
	Publisher Publisher
	Library   Library
	Versions  Versions
	Store     Store
	Files     *upload.Receiver
	Dir       string           // folder of intermediate files, which have no names
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil disables logging
	// Observe is called after each publish with its duration since the file was received. nil
	// disables it.
	Observe func(status versions.Status, took time.Duration)
	// Admission shares publishes between keys; nil means default limits.
	Admission *admission.Controller
}

// Retention is how long the record of a publish is kept.
const Retention = 24 * time.Hour

// Service publishes received files. It is safe for concurrent use.
type Service struct {
	opts Options
	stop context.CancelCauseFunc
	ctx  context.Context // of all publishes
	work sync.WaitGroup

	waiting atomic.Int64 // publishes without a slot to build
	mu      sync.Mutex
	stopped bool
	running map[string]*Job // by ID
}

// New returns a service.
func New(opts Options) *Service {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Admission == nil {
		opts.Admission, _ = admission.New(admission.Options{Limits: admission.DefaultLimits(1, 0)}) // they are valid
	}
	s := &Service{opts: opts, running: map[string]*Job{}}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	return s
}

// errStopping is the cause of the cancellation of publishes when the server stops.
var errStopping = herb.Errorf(herb.CodeUnavailable, "the server is stopping; nothing has changed; send the file again")

// Stop cancels the publishes and waits until they have ended. Later ones fail.
func (s *Service) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.stop(errStopping)
	s.work.Wait()
}

// Request is a file to be published.
type Request struct {
	Ref        herb.Ref
	File       *upload.File // Start takes it over
	Mode       Mode
	Descriptor []byte       // in JSON or YAML; nil: that of the live version
	Reading    herb.Reading // replaces that of the live version, member by member
	Access     herb.Access  // empty: that of the descriptor or the live version
	Required   bool         // the client stated Expected, which otherwise is what was live when the request arrived
	Actor      herb.Actor   // for the audit log
	versions.PublishOptions
}

// Start publishes a file in the background. The returned publish is followed by its Done.
func (s *Service) Start(ctx context.Context, r Request) (*Job, error) {
	p := &Job{
		service: s, request: r, done: make(chan struct{}),
		record: Record{
			ID: strings.ToLower(rand.Text()), Dataset: r.Ref.String(), State: publish.StateReceived, Check: r.Check,
			Created: s.opts.Now().UTC().Truncate(time.Millisecond), Bytes: r.File.Size, SHA256: r.File.SHA256,
		},
	}
	if err := s.add(ctx, p); err != nil {
		return nil, errors.Join(err, r.File.Close())
	}
	go func() {
		defer s.work.Done()
		s.run(p)
	}()
	return p, nil
}

// ticket returns a ticket for the key of a request, which shares the lanes with other keys.
func (s *Service) ticket(r *Request) admission.Ticket {
	return s.opts.Admission.NewTicket(admission.ClientOfKey(r.Actor.ID))
}

// add records a publish, unless there are too many, of the key or of all.
func (s *Service) add(ctx context.Context, p *Job) error {
	p.ticket = s.ticket(&p.request)
	if err := p.ticket.Enter(ctx, admission.Publish); err != nil {
		return err
	}
	if err := s.enter(p); err != nil {
		p.ticket.Release()
		return err
	}
	err := s.opts.Store.AddPublish(ctx, p.stored(), s.opts.Now().Add(-Retention))
	if err != nil {
		s.remove(p)
		s.work.Done()
	}
	return err
}

// enter counts a publish as running, unless the server stops.
func (s *Service) enter(p *Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errStopping
	}
	s.running[p.record.ID] = p
	s.work.Add(1)
	return nil
}

func (s *Service) remove(p *Job) {
	p.ticket.Release()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, p.record.ID)
}

// run publishes a file and records the result.
func (s *Service) run(p *Job) {
	ctx := herb.WithActor(s.ctx, p.request.Actor)
	stopRenewing := p.renew(ctx)
	result, err := s.publish(ctx, &p.request, publish.Options{Progress: p.report}, func() {})
	stopRenewing()
	r := &p.request
	if failed := r.File.Close(); failed != nil {
		s.opts.Log.Warn("cannot close a received file", "err", failed)
	}
	if bug, ok := errors.AsType[*herb.PanicError](err); ok {
		s.opts.Log.Error("panic in a publish", "dataset", r.Ref.String(), "err", bug, "stack", string(bug.Stack))
	}
	s.logResult(r, result, err)
	if result.Status == versions.StatusUnchanged && !r.Check { // other results are recorded where they happen
		s.audit(ctx, r.Ref, "unchanged, version "+result.Version)
	}
	if s.opts.Observe != nil {
		s.opts.Observe(result.Status, s.opts.Now().Sub(p.record.Created))
	}
	p.end(result, err)
	s.remove(p)
}

// Waiting returns the number of publishes that wait for others to end.
func (s *Service) Waiting() int { return int(s.waiting.Load()) }

// publish publishes a file as soon as there is a slot, which it tells begun. opts has what is not
// in the request.
func (s *Service) publish(ctx context.Context, r *Request, opts publish.Options, begun func()) (result versions.Result, err error) {
	recorded := r.Check // a publish that has begun records its failure itself
	defer func() {
		if err == nil {
			return
		}
		result.Fail(r.Ref, err)
		if !recorded {
			s.auditFailure(ctx, r.Ref, err)
		}
	}()
	defer herb.Recover(&err)
	release, err := s.awaitBuild(ctx, r)
	if err != nil {
		return result, err
	}
	defer release()
	if err := s.opts.Files.Fetch(ctx, r.File); err != nil {
		return result, classify(ctx, err, r)
	}
	begun()
	live, err := s.opts.Versions.LiveVersion(ctx, r.Ref)
	if err != nil {
		return result, classify(ctx, err, r)
	}
	source, records, err := s.prepare(ctx, r, live)
	if err != nil {
		return result, classify(ctx, err, r)
	}
	opts.PublishOptions = r.PublishOptions
	opts.Keep = &versions.KeptSource{Content: r.File.Content(), Name: r.File.Name, SHA256: r.File.SHA256, Merged: r.File.Merged}
	opts.Records, recorded = records, true
	result, err = s.opts.Publisher.Publish(ctx, source, opts)
	return result, classify(ctx, err, r)
}

// awaitBuild waits until the key of a request may read a file and build a version. The caller calls
// release at the end.
func (s *Service) awaitBuild(ctx context.Context, r *Request) (release func(), err error) {
	ticket := s.ticket(r)
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	if ticket.Await(ctx, admission.Build) != nil {
		return nil, context.Cause(ctx)
	}
	return ticket.Release, nil
}

// prepare returns the source of a request. If it changes the live version, the file becomes one
// with the changed records, whose number it returns: the publish fails if others are read.
func (s *Service) prepare(ctx context.Context, r *Request, live herb.Dataset) (src ingest.Source, records *int, err error) {
	if r.Mode == Replace {
		src, err = s.source(ctx, r, live)
		return src, nil, err
	}
	if r.Expected != nil && *r.Expected != live.Version {
		return src, nil, versions.ErrConcurrent(r.Ref)
	}
	merged, n, err := s.merge(ctx, r, live)
	if err != nil {
		return src, nil, err
	}
	if err := r.File.Close(); err != nil {
		return src, nil, errors.Join(err, merged.Close())
	}
	r.File, r.Reading = merged, herb.Reading{}
	src, err = s.source(ctx, r, live)
	isCSV := live.Report != nil && strings.HasPrefix(live.Report.Format, "csv") // earlier releases published without a report
	if !isCSV && len(src.Fields) == 0 {                                         // the file may have declared types
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
		return herb.Wrap(herb.CodeNoSpace, err, "not enough disk space on the server to publish %s; nothing has changed", r.Ref)
	case versions.IsConcurrent(err) && r.Required:
		return herb.Wrap(herb.CodePrecondition, err, "If-Match does not hold: another version of %s went live in the meantime; nothing has changed", r.Ref)
	case code == herb.CodeInvalid, code == herb.CodeNotFound:
		e, _ := errors.AsType[*herb.Error](err) // it has a code
		unreadable := *e
		unreadable.Code = herb.CodeUnreadable
		return &unreadable
	}
	return err
}

func (s *Service) logResult(r *Request, result versions.Result, err error) {
	log := s.opts.Log.With("dataset", r.Ref.String(), "actor", r.Actor.ID, "check", r.Check)
	switch {
	case err != nil:
		log.Warn("upload not published", "err", err)
	case result.Status == versions.StatusUnchanged:
		log.Info("upload unchanged", "version", result.Version)
	default:
		log.Info("upload published", "version", result.Version, "records", result.Records)
	}
}

// auditTimeout limits the time for an entry that is not part of a change.
const auditTimeout = 5 * time.Second

// audit adds an entry. A failure is only logged: the publish has ended already.
func (s *Service) audit(ctx context.Context, ref herb.Ref, detail string) {
	s.addEntry(ctx, herb.AuditEntry{Action: herb.AuditPublished, Subject: ref.String(), Detail: detail})
}

// auditFailure adds an entry for a file that failed before its publish began. It contains no
// message, which may quote values.
func (s *Service) auditFailure(ctx context.Context, ref herb.Ref, err error) {
	s.addEntry(ctx, herb.AuditEntry{
		Action: herb.AuditPublished, Subject: ref.String(), Result: herb.AuditFailed, Detail: "reason: " + string(herb.CodeOf(err)),
	})
}

func (s *Service) addEntry(ctx context.Context, e herb.AuditEntry) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	if err := s.opts.Store.AddAuditEntry(limited, e); err != nil {
		s.opts.Log.Warn("cannot add audit entry", "dataset", e.Subject, "err", err)
	}
}
