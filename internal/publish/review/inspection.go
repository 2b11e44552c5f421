package review

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/progress"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// inspection reads the file of a draft in the background.
type inspection struct {
	edits  string // that it is about, with the live version
	cancel context.CancelFunc
	done   chan struct{}

	// Of the goroutine that reads, until done is closed.
	found *finding
	err   error // why there is no finding

	mu       sync.Mutex
	progress progress.Progress
	shown    *finding // what is known already; nil: nothing
}

// The phases of an inspection.
const (
	phaseWaiting   = "waiting for other files"
	phaseReading   = "reading the file"
	phaseExamining = "examining rows"
)

func (i *inspection) report(change func(*progress.Progress)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.progress)
}

// enter begins a phase.
func (i *inspection) enter(phase string) {
	i.report(func(p *progress.Progress) { *p = progress.Progress{Phase: phase} })
}

// inspectedEdits identifies what an inspection is about: the edits that concern how the file is
// read, and the live version.
func inspectedEdits(e Edits, live herb.Dataset) string {
	e = e.withoutMessage()
	e.Title, e.Description, e.License, e.Expected = nil, nil, nil, nil
	content, _ := json.Marshal(e) // it has no values that cannot be encoded
	return live.Version + " " + string(content)
}

// start returns the inspection of a draft, which may have begun before. An inspection of other
// edits is canceled.
func (s *Service) start(id string, r *storedDraft, live herb.Dataset) (*inspection, error) {
	edits := inspectedEdits(r.Edits, live)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, errStopping
	}
	if running := s.inspections[id]; running != nil {
		if running.edits == edits {
			return running, nil
		}
		running.cancel()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	started := &inspection{edits: edits, cancel: cancel, done: make(chan struct{}),
		progress: progress.Progress{Phase: phaseWaiting}}
	s.inspections[id] = started
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		defer cancel()
		started.found, started.err = s.run(ctx, id, r, live, started)
		s.mu.Lock()
		if s.inspections[id] == started {
			delete(s.inspections, id)
		}
		s.mu.Unlock()
		close(started.done)
	}()
	return started, nil
}

// cancel cancels the inspection of a draft and forgets what was found.
func (s *Service) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running := s.inspections[id]; running != nil {
		running.cancel()
	}
	s.findings.remove(id)
}

// run reads a draft: first what the edits refer to, unless it is known, then the file with all
// edits.
func (s *Service) run(ctx context.Context, id string, r *storedDraft, live herb.Dataset,
	running *inspection) (found *finding, err error) {
	defer herb.Recover(&err)
	defer func() {
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			s.opts.Log.Error("panic in a review", "dataset", r.Ref, "err", bug, "stack", string(bug.Stack))
		}
		if ctx.Err() != nil {
			err = cmp.Or(context.Cause(s.ctx), err)
		}
	}()
	file := s.file(id, r)
	defer func() { err = errors.Join(err, file.Close()) }()
	known := s.knownContents(id)
	inspect := func(p *plan) (*finding, error) {
		isChecked := inspectedEdits(p.edits, live) == running.edits // it may be the last one
		return s.inspect(ctx, id, r, file, p, live, running, isChecked)
	}
	contentsOf := func(p *plan) (*contents, error) {
		f, err := known(p)
		if err == errUnknown {
			var read *finding
			read, err = inspect(p)
			if err == nil {
				return read.usable()
			}
		}
		return f, err
	}
	p, err := s.planOf(r, live, contentsOf)
	if isAboutFile(err) { // edits that do not fit the file
		return s.withoutEdits(id, r, live, contentsOf, inspect, err)
	}
	if err != nil {
		return nil, err
	}
	found = s.finding(id, p.key())
	if found == nil || !found.isComplete() {
		found, err = s.inspect(ctx, id, r, file, p, live, running, true)
		if err != nil {
			return nil, err
		}
	}
	if found.contents == nil && r.Edits.refersToFile() {
		return s.withoutEdits(id, r, live, contentsOf, inspect, found.err)
	}
	return found, nil
}

// file returns the file of a draft.
func (s *Service) file(id string, r *storedDraft) *receive.File {
	f := receive.Stored(r.Name, r.Size, r.SHA256, func(ctx context.Context) (io.ReadCloser, error) {
		return s.opts.Versions.OpenDraft(ctx, id)
	})
	f.Merged = r.Merged
	return f
}

// isAboutFile reports whether an error is about the file or the settings, so that another attempt
// fails too.
func isAboutFile(err error) bool {
	if versions.IsConcurrent(err) {
		return false
	}
	switch herb.CodeOf(err) {
	case herb.CodeInvalid, herb.CodeUnreadable, herb.CodeRejected, herb.CodeTooLarge:
		return err != nil
	}
	return false
}

// errShown ends a check after the rows were read.
var errShown = errors.New("the rows were read")

// inspect reads a draft with a plan and remembers the result, and if isChecked, what the publish
// would do. If that fails because of the file, it reads the file without a schema, to show what it
// looks like.
func (s *Service) inspect(
	ctx context.Context, id string, r *storedDraft, file *receive.File, p *plan, live herb.Dataset, running *inspection,
	isChecked bool,
) (*finding, error) {
	found := &finding{key: p.key(), renamed: p.renamed}
	for _, attempt := range []*plan{p, p.withoutSchema()} {
		running.enter(phaseWaiting)
		check, err := s.opts.Queue.Check(ctx, attempt.request(r, file, versions.PublishOptions{}), func() {
			running.enter(phaseReading)
			found.tables = s.tables(ctx, id, file)
		}, func(t *ingest.Table) (err error) {
			found.contents, found.encoding = newContents(t), t.Source.Dialect.Encoding
			err = s.examine(ctx, t, found.contents, r, live.Fields, running)
			if err != nil {
				return err
			}
			if !isChecked || found.err != nil {
				return errShown
			}
			running.show(*found)
			return nil
		}, func(p progress.Progress) { running.report(func(now *progress.Progress) { *now = p }) })
		if errors.Is(err, errShown) {
			break
		}
		// the publisher may consent
		if err == nil || herb.CodeOf(err) == herb.CodeRejected && slices.ContainsFunc(check.Changes, isBreaking) {
			found.check = &check
			break
		}
		if !isAboutFile(err) || ctx.Err() != nil {
			return nil, err
		}
		found.err, found.contents = cmp.Or(found.err, err), nil
		if len(found.tables) > 0 && p.table == "" && !p.needed { // one must be chosen
			break
		}
	}
	if found.encoding != "" || found.err != nil && found.contents == nil {
		found.encodings = s.encodings(ctx, id, file, found.encoding)
	}
	if found.err != nil && found.contents != nil {
		p.nameColumns(found.contents)
	}
	s.mu.Lock()
	s.findings.add(id, found)
	s.mu.Unlock()
	return found, nil
}

func isBreaking(c versions.Change) bool { return c.Breaking }

// show makes what was found known before the inspection has ended.
func (i *inspection) show(f finding) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shown = &f
}

// tables returns the tables of a file, if there are several. They do not depend on the settings.
func (s *Service) tables(ctx context.Context, id string, file *receive.File) []string {
	if f := s.finding(id, ""); f != nil {
		return f.tables
	}
	return s.opts.Queue.Tables(ctx, file)
}

// maxEncodings is the number of encodings that a review shows.
const maxEncodings = 8

// encodings returns words of a file in the encodings that it may have. They do not depend on the
// settings.
func (s *Service) encodings(ctx context.Context, id string, file *receive.File, used string) []rows.EncodingSample {
	if f := s.finding(id, ""); f != nil && f.encodings != nil {
		return f.encodings
	}
	return s.opts.Queue.Encodings(ctx, file, used, maxEncodings)
}

// waitFor waits until an inspection has ended, at most for a duration. It reports whether it has.
func (i *inspection) waitFor(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-i.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}
