// Package watch tells when something made of files has changed and come to rest.
//
// # At rest
//
// A file that is being written must not be read. Where it is replaced by renaming another one, it is complete at once;
// where it is written in place, that can take minutes. So a change is told of when the files have not changed for a
// moment and no process has them open for writing. Where the system does not say who writes, or somebody keeps a file
// open for writing without doing so, a longer time of rest decides.
package watch

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Item is something made of files.
type Item struct {
	Name  string   // tells it from the others
	Files []string // it has changed when one of these has
	Shape string   // or this
}

// Options of a watch.
type Options struct {
	// Find returns the items that there are now, and the folders in which a change may mean that there are others. It
	// is called from one goroutine at a time.
	Find func() (items []Item, folders []string)
	// Changed is called when an item has changed and is at rest, or is new. Several items may be told of at once, one
	// never twice at once. If it returns true the same is told again later, unless the item changes before.
	Changed func(ctx context.Context, item Item) (retry bool)
	// Gone is called when an item is no longer found. nil: nobody is told.
	Gone func(item Item)

	Rest     time.Duration // for which files that nobody writes must not have changed; 0: DefaultRest
	LongRest time.Duration // the same for files that may be being written; 0: DefaultLongRest
	Poll     time.Duration // between two looks when the system tells of no change; 0: DefaultPoll
	Retry    time.Duration // before something is told again the first time; it doubles up to a minute; 0: DefaultRetry
	Log      *slog.Logger  // nil: no log
}

// The defaults of Options.
const (
	DefaultRest     = 300 * time.Millisecond
	DefaultLongRest = 10 * time.Second
	DefaultPoll     = 2 * time.Second
	DefaultRetry    = time.Second
)

// together is how many items are told of at once: one that takes minutes does not keep the others waiting, and not so
// many run that each is slow.
const together = 2

// Watch is the state of a watch.
type Watch struct {
	opts  Options
	items map[string]*item
	slots chan struct{}
	told  chan result
	work  sync.WaitGroup
}

// item is what is known of an Item.
type item struct {
	Item
	seen    print     // when it was looked at last
	since   time.Time // when it was first seen so
	done    print     // of which it was told
	busy    bool      // it is being told of now
	retryAt time.Time // zero: need not be told again
	wait    time.Duration
}

// result is what came of telling.
type result struct {
	name  string
	print print
	retry bool
}

// New looks at what there is and takes it as known: only later changes are told of.
func New(opts Options) *Watch {
	opts.Rest = orDefault(opts.Rest, DefaultRest)
	opts.LongRest = orDefault(opts.LongRest, DefaultLongRest)
	opts.Poll = orDefault(opts.Poll, DefaultPoll)
	opts.Retry = orDefault(opts.Retry, DefaultRetry)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Gone == nil {
		opts.Gone = func(Item) {}
	}
	w := &Watch{opts: opts, items: map[string]*item{}, slots: make(chan struct{}, together), told: make(chan result)}
	items, _ := opts.Find()
	for _, i := range items {
		p := printOf(i)
		w.items[i.Name] = &item{Item: i, seen: p, done: p}
	}
	return w
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// Run watches until ctx ends, and then waits for what is being told.
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
		case r := <-w.told:
			w.settle(r)
		case <-n.changed():
		case <-timer.C:
		}
		timer.Reset(w.look(ctx, n))
	}
}

// look compares what there is with what is known, tells what is at rest, and returns when to look again.
func (w *Watch) look(ctx context.Context, n *notifier) time.Duration {
	items, folders := w.opts.Find()
	n.watch(folders)
	now := time.Now()
	next := w.opts.Poll
	if n.broken() {
		next = min(next, w.opts.Rest) // nobody wakes us
	}
	found := make(map[string]bool, len(items))
	for _, i := range items {
		found[i.Name] = true
		known := w.items[i.Name]
		if known == nil {
			known = &item{}
			w.items[i.Name] = known
		}
		if known.busy {
			continue // it is looked at when that is over
		}
		known.Item = i
		if wait, pending := w.consider(ctx, known, now); pending {
			next = min(next, wait)
		}
	}
	for name, i := range w.items {
		if !found[name] && !i.busy {
			delete(w.items, name)
			w.opts.Gone(i.Item)
		}
	}
	return next
}

// consider looks at one item. If it is not at rest, or may not be told of yet, it returns after what time to look again.
func (w *Watch) consider(ctx context.Context, i *item, now time.Time) (wait time.Duration, pending bool) {
	p := printOf(i.Item)
	if p != i.seen {
		i.seen, i.since, i.retryAt, i.wait = p, now, time.Time{}, 0
	}
	if p == i.done {
		if i.retryAt.IsZero() {
			return 0, false
		}
		if wait := i.retryAt.Sub(now); wait > 0 {
			return wait, true
		}
	}
	rest := w.opts.Rest
	if now.Sub(i.since) >= rest && w.beingWritten(i.Item) {
		rest = max(rest, w.opts.LongRest)
	}
	if left := rest - now.Sub(i.since); left > 0 {
		return min(left, w.opts.Rest), true
	}
	select {
	case w.slots <- struct{}{}:
	default:
		return w.opts.Rest, true // the others first
	}
	i.busy = true
	told := i.Item
	w.work.Go(func() {
		retry := w.opts.Changed(ctx, told)
		<-w.slots
		select {
		case w.told <- result{told.Name, p, retry}:
		case <-ctx.Done():
		}
	})
	return 0, false
}

// settle takes up what came of telling.
func (w *Watch) settle(r result) {
	i := w.items[r.name]
	if i == nil {
		return
	}
	i.busy, i.done, i.retryAt = false, r.print, time.Time{}
	if r.retry {
		i.wait = min(max(2*i.wait, w.opts.Retry), time.Minute)
		i.retryAt = time.Now().Add(i.wait)
	}
}

// beingWritten reports whether a process has a file of the item open for writing.
func (w *Watch) beingWritten(i Item) bool {
	for _, f := range i.Files {
		if isOpenForWriting(f) {
			return true
		}
	}
	return false
}

// print tells without reading whether an item is what it was.
type print string

func printOf(i Item) print {
	b := []byte(i.Shape)
	for _, f := range i.Files {
		b = append(b, 0)
		b = append(b, f...)
		info, err := os.Stat(f)
		if err != nil {
			b = append(b, '?')
			continue
		}
		b = appendStamp(b, info)
	}
	return print(b)
}
