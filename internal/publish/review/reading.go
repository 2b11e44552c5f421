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
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// finding is the result of reading a draft with some settings.
type finding struct {
	key    string
	err    error // why the file cannot be published with them; the rest is what it looks like without a schema
	tables []string
	// encodings are those of Review.Encodings; nil: they were not needed.
	encodings []rows.EncodingSample
	encoding  string // in which the file was read
	facts     *facts // nil, as the rest: nothing could be read
	result    *result
	// check is what the publish would do; nil if only the rows were read, which other edits refer
	// to, or there is an error.
	check *versions.Result
	// renamed are the names of fields by their names without the edits of columns.
	renamed map[string]string
}

// isComplete reports whether it is known what the publish would do.
func (f *finding) isComplete() bool { return f.check != nil || f.err != nil }

// reading reads the file of a draft in the background.
type reading struct {
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

// The phases of a reading.
const (
	phaseWaiting   = "waiting for other files"
	phaseReading   = "reading the file"
	phaseExamining = "examining rows"
)

func (r *reading) report(change func(*progress.Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
}

// enter begins a phase.
func (r *reading) enter(phase string) {
	r.report(func(p *progress.Progress) { *p = progress.Progress{Phase: phase} })
}

// errUnknown reports that the file must be read to know what the edits mean, or whether it can be
// published with them.
var errUnknown error = &herb.Error{
	Code: herb.CodeUnavailable, Message: "the file is still being read; wait for its review and try again", RetryAfter: 2 * time.Second,
}

// planOf returns how a draft is published. factsOf returns what a reading with another plan shows.
func (s *Service) planOf(r *record, live herb.Dataset, factsOf func(*plan) (*facts, error)) (*plan, error) {
	e := r.Edits
	p, err := s.newPlan(r, e, live)
	if err != nil {
		return nil, err
	}
	if p.table != "" || e.editsRows() || len(e.Columns) > 0 || len(e.Exclude) > 0 || p.needed && p.listsFields() {
		base, err := s.newPlan(r, e.ofFile(), live)
		if err != nil {
			return nil, err
		}
		f, err := factsOf(base)
		if err != nil {
			return nil, err
		}
		if err := p.setTable(f); err != nil {
			return nil, err
		}
		if err := p.editRows(e, f); err != nil {
			return nil, err
		}
		if len(e.Columns) > 0 && e.editsRows() {
			onlyRows, err := s.newPlan(r, e.ofRows(), live)
			if err != nil {
				return nil, err
			}
			if err := onlyRows.setTable(f); err != nil {
				return nil, err
			}
			onlyRows.addNewColumns(f)
			if err := onlyRows.editRows(e, f); err != nil {
				return nil, err
			}
			if f, err = factsOf(onlyRows); err != nil {
				return nil, err
			}
		}
		p.addNewColumns(f)
		if err := p.editExclude(e, f); err != nil {
			return nil, err
		}
		if err := p.editColumns(e, f); err != nil {
			return nil, err
		}
	}
	p.setPrimaryKey(e.PrimaryKey)
	return p, nil
}

// knownFacts returns what readings have shown. The error is errUnknown if the file must be read.
func (s *Service) knownFacts(id string) func(*plan) (*facts, error) {
	return func(p *plan) (*facts, error) {
		if f := s.finding(id, p.key()); f != nil {
			return f.usable()
		}
		return nil, errUnknown
	}
}

// usable returns the facts, or why there are none.
func (f *finding) usable() (*facts, error) {
	if f.facts == nil {
		return nil, f.err
	}
	return f.facts, nil
}

// readingEdits identifies what a reading is about: the edits that concern how the file is read, and
// the live version.
func readingEdits(e Edits, live herb.Dataset) string {
	e = e.withoutMessage()
	e.Title, e.Description, e.License = nil, nil, nil
	content, _ := json.Marshal(e) // it has no values that cannot be encoded
	return live.Version + " " + string(content)
}

// start returns the reading of a draft, which may have begun before. A reading of other edits is
// canceled.
func (s *Service) start(id string, r *record, live herb.Dataset) (*reading, error) {
	edits := readingEdits(r.Edits, live)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, errStopping
	}
	if running := s.readings[id]; running != nil {
		if running.edits == edits {
			return running, nil
		}
		running.cancel()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	started := &reading{edits: edits, cancel: cancel, done: make(chan struct{}), progress: progress.Progress{Phase: phaseWaiting}}
	s.readings[id] = started
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		defer cancel()
		started.found, started.err = s.run(ctx, id, r, live, started)
		s.mu.Lock()
		if s.readings[id] == started {
			delete(s.readings, id)
		}
		s.mu.Unlock()
		close(started.done)
	}()
	return started, nil
}

// cancel cancels the reading of a draft and forgets what was found.
func (s *Service) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running := s.readings[id]; running != nil {
		running.cancel()
	}
	s.findings.remove(id)
}

// run reads a draft: first what the edits refer to, unless it is known, then the file with all
// edits.
func (s *Service) run(ctx context.Context, id string, r *record, live herb.Dataset, running *reading) (found *finding, err error) {
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
	known := s.knownFacts(id)
	inspect := func(p *plan) (*finding, error) { return s.inspect(ctx, id, r, file, p, live, running, false) }
	factsOf := func(p *plan) (*facts, error) {
		f, err := known(p)
		if err == errUnknown {
			var read *finding
			if read, err = inspect(p); err == nil {
				return read.usable()
			}
		}
		return f, err
	}
	p, err := s.planOf(r, live, factsOf)
	if isAboutFile(err) { // edits that do not fit the file
		return s.withoutEdits(id, r, live, factsOf, inspect, err)
	}
	if err != nil {
		return nil, err
	}
	found = s.finding(id, p.key())
	if found == nil || !found.isComplete() {
		if found, err = s.inspect(ctx, id, r, file, p, live, running, true); err != nil {
			return nil, err
		}
	}
	if found.result == nil && r.Edits.refersToFile() {
		return s.withoutEdits(id, r, live, factsOf, inspect, found.err)
	}
	return found, nil
}

// known returns what a reading has found about a draft as it is now; nil if it must be read.
func (s *Service) known(id string, r *record, live herb.Dataset) *finding {
	factsOf := s.knownFacts(id)
	p, err := s.planOf(r, live, factsOf)
	if err == nil {
		f := s.finding(id, p.key())
		switch {
		case f == nil || !f.isComplete():
			return nil
		case f.result != nil || !r.Edits.refersToFile():
			return f
		}
		err = f.err
	}
	if !isAboutFile(err) {
		return nil
	}
	f, err := s.withoutEdits(id, r, live, factsOf, func(*plan) (*finding, error) { return nil, errUnknown }, err)
	if err != nil {
		return nil
	}
	return f
}

// withoutEdits returns what the file looks like without the edits of columns, or without all edits
// if those of rows do not fit either. cause is why the edits are not possible. inspect reads the
// file if that is unknown.
func (s *Service) withoutEdits(
	id string, r *record, live herb.Dataset, factsOf func(*plan) (*facts, error), inspect func(*plan) (*finding, error), cause error,
) (*finding, error) {
	shown := finding{err: cause}
	for _, edits := range []Edits{r.Edits.ofRows(), {Table: r.Edits.Table}} {
		less := *r
		less.Edits = edits
		p, err := s.planOf(&less, live, factsOf)
		if isAboutFile(err) { // or the settings of the live version cannot be used
			continue
		}
		if err != nil {
			return nil, err
		}
		found := s.finding(id, p.key())
		if found == nil {
			if found, err = inspect(p); err != nil {
				return nil, err
			}
		}
		shown = *found
		if shown.err = cause; shown.result != nil {
			break
		}
	}
	return &shown, nil
}

// file returns the file of a draft.
func (s *Service) file(id string, r *record) *receive.File {
	return receive.Stored(r.Name, r.Size, r.SHA256, func(ctx context.Context) (io.ReadCloser, error) { return s.opts.Versions.OpenDraft(ctx, id) })
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
	ctx context.Context, id string, r *record, file *receive.File, p *plan, live herb.Dataset, running *reading, isChecked bool,
) (*finding, error) {
	found := &finding{key: p.key(), renamed: p.renamed}
	for _, attempt := range []*plan{p, p.withoutSchema()} {
		running.enter(phaseWaiting)
		check, err := s.opts.Queue.Check(ctx, attempt.request(r, file, versions.PublishOptions{}), func() {
			running.enter(phaseReading)
			found.tables = s.tables(ctx, id, file)
		}, func(t *ingest.Table) (err error) {
			found.facts, found.encoding = newFacts(t), t.Source.Dialect.Encoding
			if found.result, err = s.examine(ctx, t, found.facts, r, live.Fields, running); err != nil {
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
		if err == nil || herb.CodeOf(err) == herb.CodeRejected && slices.ContainsFunc(check.Changes, isBreaking) { // the publisher may consent
			found.check = &check
			break
		}
		if !isAboutFile(err) || ctx.Err() != nil {
			return nil, err
		}
		found.err, found.facts, found.result = cmp.Or(found.err, err), nil, nil
		if len(found.tables) > 0 && p.table == "" && !p.needed { // one must be chosen
			break
		}
	}
	if found.encoding != "" || found.err != nil && found.result == nil {
		found.encodings = s.encodings(ctx, id, file, found.encoding)
	}
	if found.err != nil && found.result != nil {
		p.nameColumns(found.result.columns, found.facts)
	}
	s.mu.Lock()
	s.findings.add(id, found)
	s.mu.Unlock()
	return found, nil
}

func isBreaking(c versions.Change) bool { return c.Breaking }

// show makes what was found known before the reading has ended.
func (r *reading) show(f finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = &f
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

// request returns the request that publishes a draft with the plan.
func (p *plan) request(r *record, file *receive.File, opts versions.PublishOptions) publish.Request {
	opts.Expected, opts.Message = &p.live, r.Edits.Message
	req := publish.Request{Ref: r.ref(), File: file, Actor: herb.Actor{ID: r.owner}, PublishOptions: opts}
	if p.needed {
		req.Descriptor = p.descriptor()
	}
	if r.Edits.Table != "" && !(p.needed && p.statesTable) {
		req.Reading.Table = r.Edits.Table
	}
	return req
}

// waitFor waits until a reading has ended, at most for a duration. It reports whether it has.
func (r *reading) waitFor(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-r.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}
