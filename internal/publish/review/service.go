package review

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/library"
	"herbarium/internal/progress"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// Queue reads and publishes files.
type Queue interface {
	// Check says what the publish of a request would do. read is called with what was read.
	Check(ctx context.Context, r publish.Request, begun func(), read func(*ingest.Table) error,
		report func(progress.Progress)) (versions.Result, error)
	// Tables returns the tables of a file, if there are several.
	Tables(ctx context.Context, f *receive.File) []string
	// Encodings shows words of a file of text in at most limit encodings, the used one first.
	Encodings(ctx context.Context, f *receive.File, used string, limit int) []rows.EncodingSample
	// Restore returns the source that is kept with the live version as a file.
	Restore(ctx context.Context, ref herb.Ref) (*receive.File, error)
	// Start publishes a file in the background, and closes it.
	Start(ctx context.Context, r publish.Request) (publish.Publish, error)
	// State returns a publish of any node, after it has ended or a time has passed.
	State(ctx context.Context, id string, wait time.Duration) (publish.Publish, error)
}

// Library opens the versions of datasets.
type Library interface {
	AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error)
}

// Versions describes the versions of datasets, and stores the files of drafts for all nodes.
type Versions interface {
	LiveVersion(ctx context.Context, ref herb.Ref) (herb.Dataset, error)
	SaveDraft(ctx context.Context, id string, content io.Reader) error
	OpenDraft(ctx context.Context, id string) (io.ReadCloser, error)
	RemoveDraft(ctx context.Context, id string) error
}

// Store stores the records of drafts.
type Store interface {
	AddDraft(ctx context.Context, d store.Draft, expired time.Time, check func(own, all int) error) error
	ReplaceDraft(ctx context.Context, d store.Draft, read time.Time) (bool, error)
	RemoveDraft(ctx context.Context, id string) error
	Draft(ctx context.Context, id string) (store.Draft, error)
	Drafts(ctx context.Context, owner string, since time.Time) ([]store.Draft, error)
}

// Options configures a Service. Queue, Library, Versions and Store are required.
type Options struct {
	Queue    Queue
	Library  Library
	Versions Versions
	Store    Store
	Access   herb.Access      // of datasets that do not state it; empty means herb.AccessOpen
	Now      func() time.Time // nil means time.Now
	Log      *slog.Logger     // nil disables logging
}

// Limits of the number of drafts. Each has a file on the disk or in the object store.
const (
	MaxDrafts    = 20  // of a key
	MaxAllDrafts = 200 // of all keys
)

// Service keeps drafts and reviews them. It is safe for concurrent use.
type Service struct {
	opts Options
	ctx  context.Context // of all inspections
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu          sync.Mutex
	stopped     bool
	inspections map[string]*inspection // by draft
	findings    findingCache
}

// New returns a service.
func New(opts Options) *Service {
	opts.Access = cmp.Or(opts.Access, herb.AccessOpen)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Service{opts: opts, inspections: map[string]*inspection{}}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	return s
}

// errStopping is the cause of the cancellation of inspections when the server stops.
var errStopping = herb.Errorf(herb.CodeUnavailable,
	"the server is stopping; the draft is kept; open it again in a moment")

// Stop cancels all inspections and waits until they have ended. Publishes go on.
func (s *Service) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.stop(errStopping)
	s.work.Wait()
}

// Create keeps a received file as a draft of a dataset. It closes the file. The error has
// herb.CodeRejected if there are too many drafts.
// edits are those that its sender has made already.
func (s *Service) Create(ctx context.Context, ref herb.Ref, f *receive.File, edits Edits,
	actor herb.Actor) (Draft, error) {
	defer f.Close()
	if err := edits.check(); err != nil {
		return Draft{}, err
	}
	return s.create(ctx, storedDraft{Ref: ref.String(), Name: f.Name, Size: f.Size, SHA256: f.SHA256,
		Merged: f.Merged, Edits: edits}, f.Content(), actor)
}

// Restore makes a draft of the source that is kept with the live version of a dataset, so that its
// settings can be changed without sending a file. The error has herb.CodeRejected if none is kept.
func (s *Service) Restore(ctx context.Context, ref herb.Ref, edits Edits, actor herb.Actor) (Draft, error) {
	f, err := s.opts.Queue.Restore(ctx, ref)
	if herb.CodeOf(err) == herb.CodeRejected {
		return Draft{}, herb.Wrap(herb.CodeRejected, err, "the file of %s is not kept on this server, so its settings "+
			"cannot be changed without it; change the descriptor beside the file, or send the file here", ref)
	}
	if err != nil {
		return Draft{}, err
	}
	return s.Create(ctx, ref, f, edits, actor)
}

// create keeps a file as a draft.
func (s *Service) create(ctx context.Context, r storedDraft, content io.Reader, actor herb.Actor) (Draft, error) {
	ref := r.ref()
	if err := publish.CheckRef(ref); err != nil {
		return Draft{}, err
	}
	id, now := store.NewDraftID(), s.opts.Now()
	r.owner, r.Created = actor.ID, now.UTC().Truncate(time.Millisecond)
	d := store.Draft{ID: id, Owner: actor.ID, Updated: now, Content: r.encode()}
	err := s.opts.Store.AddDraft(ctx, d, s.expired(), checkCount)
	if herb.CodeOf(err) == herb.CodeRejected {
		return Draft{}, err
	}
	if err == nil {
		err = s.opts.Versions.SaveDraft(ctx, id, content)
	}
	if err == nil {
		d.Stored, d.Updated = true, s.next(d.Updated)
		var ok bool
		ok, err = s.opts.Store.ReplaceDraft(ctx, d, now)
		if err == nil && !ok {
			err = notFound()
		}
	}
	if err != nil {
		s.remove(ctx, id)
		return Draft{}, receive.NoSpace(err)
	}
	s.opts.Log.Info("draft received", "draft", id, "dataset", r.Ref, "key", actor.ID, "bytes", r.Size)
	return r.draft(id), nil
}

// checkCount fails if there are too many drafts, of a key or of all.
func checkCount(own, all int) error {
	switch {
	case own >= MaxDrafts:
		return herb.Errorf(herb.CodeRejected, "you have %d drafts, which is the limit; publish or discard one of them",
			own)
	case all >= MaxAllDrafts:
		return herb.Errorf(herb.CodeRejected,
			"this server has %d drafts, which is the limit; drafts are removed %s after their last use", all,
			retention())
	}
	return nil
}

// expired returns the time before which drafts are removed that were not used since.
func (s *Service) expired() time.Time { return s.opts.Now().Add(-versions.DraftAge) }

// Drafts returns the drafts of a key, newest first. owner is herb.Actor.ID.
func (s *Service) Drafts(ctx context.Context, owner string) (drafts []Draft, err error) {
	found, err := s.opts.Store.Drafts(ctx, owner, s.expired())
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		r, err := decodeDraft(d)
		if err != nil {
			return nil, err
		}
		if d.Stored {
			drafts = append(drafts, r.draft(d.ID))
		}
	}
	return drafts, nil
}

// Draft returns a draft. The error has herb.CodeNotFound if there is none, or not any more. The
// caller checks that the key of the request may publish its dataset.
func (s *Service) Draft(ctx context.Context, id string) (Draft, error) {
	r, err := s.load(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	return r.draft(id), nil
}

// Edit changes the edits of a draft and reports whether they differ from the edits before. change
// returns the new edits; it is called again if another request has edited the draft meanwhile, so
// that no edit is lost. The error has herb.CodeInvalid if the edits are not valid, whatever the
// file contains.
func (s *Service) Edit(ctx context.Context, id string, change func(Edits) (Edits, error)) (changed bool, err error) {
	var invalid error
	err = s.update(ctx, id, func(r *storedDraft) bool {
		var e Edits
		e, invalid = change(r.Edits)
		if invalid == nil {
			invalid = e.check()
		}
		if invalid != nil || e.Equal(r.Edits) {
			return false
		}
		changed = !e.withoutMessage().Equal(r.Edits.withoutMessage())
		r.Edits = e.withoutEmpty()
		return true
	})
	return changed, cmp.Or(invalid, err)
}

// Discard removes a draft. Discarding an unknown draft is not an error.
func (s *Service) Discard(ctx context.Context, id string) error {
	if !store.IsDraftID(id) {
		return nil
	}
	s.cancel(id)
	if err := s.opts.Store.RemoveDraft(ctx, id); err != nil {
		return err
	}
	if err := s.opts.Versions.RemoveDraft(ctx, id); err != nil { // nothing refers to the file any more
		s.opts.Log.Warn("cannot remove the file of a draft; will retry", "draft", id, "err", err)
	}
	return nil
}

// removeTimeout limits the time for removing a draft.
const removeTimeout = 10 * time.Second

// remove removes a draft that is not needed any more. What fails is left to the garbage collection.
func (s *Service) remove(ctx context.Context, id string) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := s.Discard(limited, id); err != nil {
		s.opts.Log.Warn("cannot remove a draft; it expires", "draft", id, "err", err)
	}
}
