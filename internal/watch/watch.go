// Package watch reports changes to sets of files once writes have settled.
//
// # Settled writes
//
// A file must not be read while it is written. A file replaced by renaming is complete at once, but writing in place
// can take minutes. So a change is reported once the files have not changed for a short time and no process has them
// open for writing. If the system does not report that, or a process keeps a file open without writing, a longer time without
// changes is sufficient.
package watch

import (
	"cmp"
	"context"
	"encoding/binary"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// Item is a set of files that is watched as one.
type Item struct {
	Name  string   // unique
	Files []string // a change of any of these is a change of the item
	Shape string   // a change of this is a change of the item, too
}

// Options configures a Watch.
type Options struct {
	// Find returns the current items, and the directories in which changes may add or remove items. It is called from
	// one goroutine at a time.
	Find func() (items []Item, folders []string)
	// Changed is called when an item is new or has changed, once its writes have settled. It is called concurrently for
	// different items, but not for the same item. If it returns true, it is called again later, unless the item changes
	// before.
	Changed func(ctx context.Context, item Item) (retry bool)
	// Gone is called when Find no longer returns an item. nil disables reporting.
	Gone func(item Item)

	SettleTime        time.Duration // time without changes if no process has the files open for writing; 0 means DefaultSettleTime
	WritingSettleTime time.Duration // the same for files that may be open for writing; 0 means DefaultWritingSettleTime
	PollInterval      time.Duration // interval between scans without notifications; 0 means DefaultPollInterval
	RetryDelay        time.Duration // initial backoff of retries, doubled up to a minute; 0 means DefaultRetryDelay
	Log               *slog.Logger  // nil disables logging
}

// Defaults of Options.
const (
	DefaultSettleTime        = 300 * time.Millisecond
	DefaultWritingSettleTime = 10 * time.Second
	DefaultPollInterval      = 2 * time.Second
	DefaultRetryDelay        = time.Second
)

// maxConcurrent is the number of concurrent Changed calls: an item that takes minutes does not block the others, and
// few enough run that none is slowed down.
const maxConcurrent = 2

// Watch reports changes to items.
type Watch struct {
	opts    Options
	items   map[string]*item
	slots   chan struct{}
	results chan result
	work    sync.WaitGroup
}

// item is the state of an Item.
type item struct {
	Item
	current      fingerprint // at the last scan
	currentSince time.Time   // time at which current was first observed
	reported     fingerprint // last reported
	busy         bool        // Changed is running
	retryAt      time.Time   // zero if no retry is due
	wait         time.Duration
}

// result is the outcome of a Changed call.
type result struct {
	name        string
	fingerprint fingerprint
	retry       bool
}

// New returns a Watch. The current items count as known: only later changes are reported.
func New(opts Options) *Watch {
	opts.SettleTime = cmp.Or(opts.SettleTime, DefaultSettleTime)
	opts.WritingSettleTime = cmp.Or(opts.WritingSettleTime, DefaultWritingSettleTime)
	opts.PollInterval = cmp.Or(opts.PollInterval, DefaultPollInterval)
	opts.RetryDelay = cmp.Or(opts.RetryDelay, DefaultRetryDelay)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Gone == nil {
		opts.Gone = func(Item) {}
	}
	w := &Watch{opts: opts, items: map[string]*item{}, slots: make(chan struct{}, maxConcurrent), results: make(chan result)}
	items, _ := opts.Find()
	for _, i := range items {
		p := fingerprintOf(i)
		w.items[i.Name] = &item{Item: i, current: p, reported: p}
	}
	return w
}

// Run watches until ctx is canceled, then waits for running Changed calls.
func (w *Watch) Run(ctx context.Context) error {
	n := newNotifier(w.opts.Log)
	defer n.close()
	defer w.work.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-w.results:
			w.recordResult(r)
		case <-n.wake:
		case <-timer.C:
		}
		timer.Reset(w.scan(ctx, n))
	}
}

// scan compares the current items with the known ones, reports those that have settled, and returns the time until the
// next scan.
func (w *Watch) scan(ctx context.Context, n *notifier) time.Duration {
	items, folders := w.opts.Find()
	n.setDirectories(folders)
	now := time.Now()
	next := w.opts.PollInterval
	if n.incomplete() {
		next = min(next, w.opts.SettleTime) // without notifications, poll
	}
	current := make(map[string]bool, len(items))
	for _, i := range items {
		current[i.Name] = true
		known := w.items[i.Name]
		if known == nil {
			known = &item{}
			w.items[i.Name] = known
		}
		if known.busy {
			continue // scanned again when Changed returns
		}
		known.Item = i
		if wait, pending := w.check(ctx, known, now); pending {
			next = min(next, wait)
		}
	}
	for name, i := range w.items {
		if !current[name] && !i.busy {
			delete(w.items, name)
			w.opts.Gone(i.Item)
		}
	}
	return next
}

// check reports an item if it has changed and settled. Otherwise, if a change or retry is pending, it returns the time
// until the next check.
func (w *Watch) check(ctx context.Context, i *item, now time.Time) (wait time.Duration, pending bool) {
	p := fingerprintOf(i.Item)
	if p != i.current {
		i.current, i.currentSince, i.retryAt, i.wait = p, now, time.Time{}, 0
	}
	if p == i.reported {
		if i.retryAt.IsZero() {
			return 0, false
		}
		if wait := i.retryAt.Sub(now); wait > 0 {
			return wait, true
		}
	}
	settle := w.opts.SettleTime
	if now.Sub(i.currentSince) >= settle && slices.ContainsFunc(i.Files, isOpenForWriting) {
		settle = max(settle, w.opts.WritingSettleTime)
	}
	if left := settle - now.Sub(i.currentSince); left > 0 {
		return min(left, w.opts.SettleTime), true
	}
	select {
	case w.slots <- struct{}{}:
	default:
		return w.opts.SettleTime, true // all slots are busy
	}
	i.busy = true
	reported := i.Item
	w.work.Go(func() {
		retry := w.opts.Changed(ctx, reported)
		<-w.slots
		select {
		case w.results <- result{reported.Name, p, retry}:
		case <-ctx.Done():
		}
	})
	return 0, false
}

// recordResult updates an item after its Changed call.
func (w *Watch) recordResult(r result) {
	i := w.items[r.name]
	if i == nil {
		return
	}
	i.busy, i.reported, i.retryAt = false, r.fingerprint, time.Time{}
	if r.retry {
		i.wait = min(max(2*i.wait, w.opts.RetryDelay), time.Minute)
		i.retryAt = time.Now().Add(i.wait)
	}
}

// fingerprint identifies a state of an item by the metadata of its files, without reading them: size, modification time and,
// where available, the inode number, which detects replacement by another file.
type fingerprint string

func fingerprintOf(i Item) fingerprint {
	b := []byte(i.Shape)
	for _, f := range i.Files {
		b = append(b, 0)
		b = append(b, f...)
		info, err := os.Stat(f)
		if err != nil {
			b = append(b, '?')
			continue
		}
		for _, n := range []uint64{uint64(info.Size()), uint64(info.ModTime().UnixNano()), identity(info)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return fingerprint(b)
}
