package publish

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
)

// Watcher publishes sources when their files change, once writes have settled.
//
// A file must not be read while it is written. A file replaced by renaming is complete at once, but
// writing in place can take minutes. So a source is published once its files have not changed for a
// short time and no process has them open for writing. If the system does not report that, or a
// process keeps a file open without writing, a longer time without changes is sufficient.
type Watcher struct {
	publisher *Publisher
	publish   func(ctx context.Context, s ingest.Source, repeated bool) (retry bool)
	find      func(context.Context, []string) descriptor.Set
	stat      func(path string) (fs.FileInfo, error)
	paths     []string
	intervals intervals
	wake      chan struct{}   // has an element if a publish has ended
	folders   []string        // of the last scan
	state     uint64          // of the folders, before the last scan
	errors    map[string]bool // messages of the last discovery
	skipped   map[string]bool // paths of tables that the last discovery skipped
	work      sync.WaitGroup  // publishes

	mu       sync.Mutex // guards the fields below
	sources  map[sourceKey]*watchedSource
	waiting  []*watchedSource // sources that are due now or later, in the order of their changes
	running  int              // publishes
	outdated bool             // a source has changed since the last scan
}

// intervals are the times of a Watcher. Tests shorten them.
type intervals struct {
	settle        time.Duration // time without changes if no process has the files open for writing
	writingSettle time.Duration // the same for files that may be open for writing
	poll          time.Duration // between two checks for changes
	rescan        time.Duration // between two scans for what the state does not show, such as another owner
	retry         time.Duration // initial backoff, doubled up to maxRetry
}

const (
	maxRetry = time.Minute
	// Checks take at most one part in checkShare of the time of a processor, and scans, which
	// follow changes, one part in scanShare.
	checkShare = 50
	scanShare  = 10
	retryShare = 10 // the same for attempts to publish a source that failed
	// maxConcurrent is the number of concurrent publishes: more than one, so that a source that
	// takes minutes does not block the others, and few, so that they do not slow each other down.
	maxConcurrent = 2
)

// sourceKey identifies a source across discoveries.
type sourceKey struct {
	ref   herb.Ref
	label string
}

// watchedSource is the state of a source.
type watchedSource struct {
	ingest.Source
	current fingerprint // at the last scan
	changed time.Time   // time at which current was first observed
	due     time.Time   // time of the next publish; zero if current is published, and not waiting
	backoff time.Duration
	busy    bool // it is being published
	gone    bool // the last scan did not find it, while it was being published
}

// Watch returns a watcher of the sources in files and folders. It takes the current state of the
// sources in found, the result of the first discovery, as published. So call it before you publish
// them, and call Run afterwards: changes in between are then noticed.
func (p *Publisher) Watch(finder *discover.Finder, paths []string, found descriptor.Set) *Watcher {
	w := &Watcher{
		publisher: p, publish: p.republish, find: finder.Discover, stat: os.Stat, paths: paths,
		wake:   make(chan struct{}, 1),
		errors: map[string]bool{}, skipped: map[string]bool{}, sources: map[sourceKey]*watchedSource{},
		intervals: intervals{
			settle: 300 * time.Millisecond, writingSettle: 10 * time.Second, poll: 200 * time.Millisecond,
			rescan: 10 * time.Second, retry: time.Second,
		},
	}
	for _, err := range found.Errors { // recorded by PublishFound
		w.errors[err.Error()] = true
	}
	for _, s := range found.Skipped {
		w.skipped[s.Path] = true
	}
	for _, s := range found.Sources {
		w.sources[keyOf(s)] = &watchedSource{Source: s, current: w.fingerprint(s)}
	}
	w.folders = foldersOf(found)
	return w
}

func keyOf(s ingest.Source) sourceKey { return sourceKey{s.Ref, s.Label()} }

// republish publishes a source that has changed, or that failed before for a temporary reason.
func (p *Publisher) republish(ctx context.Context, s ingest.Source, repeated bool) (retry bool) {
	_, err := p.publishSource(ctx, s, WayWatch, repeated)
	return isTemporary(err)
}

// Retry publishes sources again that failed before Run was called. It has no effect on a nil
// watcher.
func (w *Watcher) Retry(failed []ingest.Source) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range failed {
		w.retry(w.sources[keyOf(s)], 0)
	}
}

// Run watches until ctx is canceled, then waits for running publishes. It compares the state of the
// folders a few times a second, and scans for sources only if it has changed: that is as quick as
// notifications of the file system, and works on every one. A publish that ends starts the next one
// without a scan.
func (w *Watcher) Run(ctx context.Context) error {
	defer w.work.Wait()
	var checkAt, scanAt, rescanAt time.Time // earliest check and scan, latest scan
	nextCheck := func() time.Time {
		return slices.MaxFunc([]time.Time{scanAt, slices.MinFunc([]time.Time{checkAt, rescanAt}, time.Time.Compare)},
			time.Time.Compare)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		case <-timer.C:
		}
		if began := time.Now(); !began.Before(nextCheck()) {
			state := folderState(w.folders)
			checkAt = began.Add(max(w.intervals.poll, checkShare*time.Since(began)))
			if state != w.state || w.isOutdated() || !began.Before(rescanAt) {
				w.state = state // before the scan, so that later changes are noticed
				began = time.Now()
				w.scan()
				took := time.Since(began)
				scanAt, rescanAt = began.Add(scanShare*took), began.Add(max(w.intervals.rescan, checkShare*took))
			}
		}
		next := nextCheck()
		if due := w.publishDue(ctx); !due.IsZero() && due.Before(next) {
			next = due
		}
		timer.Reset(max(0, time.Until(next)))
	}
}

// signal makes Run start the publishes that are due.
func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Waiting returns the number of sources that have changed and wait to be published, until writes
// have settled or other publishes have ended.
func (w *Watcher) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting)
}

func (w *Watcher) isOutdated() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.outdated
}

// enqueue makes a source wait for its publish. w.mu is held.
func (w *Watcher) enqueue(s *watchedSource, due time.Time) {
	if s.due.IsZero() {
		w.waiting = append(w.waiting, s)
	}
	s.due = due
}

// publishDue starts publishing the sources that have settled, in the order of their changes. It
// returns when the next one is due; zero if none is, or if the end of a publish comes first.
func (w *Watcher) publishDue(ctx context.Context) (next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.waiting = slices.DeleteFunc(w.waiting, func(s *watchedSource) bool {
		if w.running == maxConcurrent || s.busy {
			return false // the end of a publish wakes Run
		}
		if !now.Before(s.due) {
			if w.hasSettled(s, now) {
				w.start(ctx, s)
				return true
			}
			s.due = now.Add(w.intervals.settle)
		}
		if next.IsZero() || s.due.Before(next) {
			next = s.due
		}
		return false
	})
	return next
}

// hasSettled reports whether a source is as it was at the last scan and no process writes its
// files. w.mu is held.
func (w *Watcher) hasSettled(s *watchedSource, now time.Time) bool {
	if !w.fingerprint(s.Source).equal(s.current) {
		w.outdated = true
		return false
	}
	return now.Sub(s.changed) >= w.intervals.writingSettle || !slices.ContainsFunc(s.Files(), isOpenForWriting)
}

// start publishes a source in the background. w.mu is held.
func (w *Watcher) start(ctx context.Context, s *watchedSource) {
	w.running++
	s.busy, s.due = true, time.Time{}
	changed, repeated := s.Source, s.backoff > 0
	w.work.Go(func() {
		began := time.Now()
		retry := w.publish(ctx, changed, repeated)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running--
		s.busy, w.outdated = false, w.outdated || s.gone
		if retry && s.due.IsZero() { // otherwise it has changed meanwhile
			w.retry(s, time.Since(began))
		}
		w.signal()
	})
}

// retry makes a source that failed wait for another attempt. took is the time of the last one. w.mu
// is held.
func (w *Watcher) retry(s *watchedSource, took time.Duration) {
	s.backoff = min(max(2*s.backoff, w.intervals.retry), maxRetry)
	w.enqueue(s, time.Now().Add(max(s.backoff, retryShare*took)))
}
