package watch

import (
	"log/slog"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// notifier wakes the watch when the system tells of a change in a folder. What exactly has changed is found by looking,
// so an event that is lost costs time and nothing else.
type notifier struct {
	log     *slog.Logger
	watcher *fsnotify.Watcher // nil: the system has none to give
	wake    chan struct{}
	failed  map[string]bool // folders that cannot be watched
}

func newNotifier(log *slog.Logger) *notifier {
	n := &notifier{log: log, wake: make(chan struct{}, 1)}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("the system tells of no changes, so files are looked at all the time", "err", err)
		return n
	}
	n.watcher = w
	go n.forward()
	return n
}

// forward makes one wake-up of any number of events.
func (n *notifier) forward() {
	for {
		select {
		case _, ok := <-n.watcher.Events:
			if !ok {
				return
			}
		case err, ok := <-n.watcher.Errors:
			if !ok {
				return
			}
			n.log.Debug("watching files", "err", err) // such as an overflow: look, as after an event
		}
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
}

func (n *notifier) changed() <-chan struct{} { return n.wake }

// watch makes the folders those that are watched.
func (n *notifier) watch(folders []string) {
	if n.watcher == nil {
		return
	}
	watched := n.watcher.WatchList() // a folder that was removed and made again is not in it
	failed := map[string]bool{}
	for _, f := range folders {
		if slices.Contains(watched, f) {
			continue
		}
		if err := n.watcher.Add(f); err != nil {
			if failed[f] = true; !n.failed[f] {
				n.log.Warn("changes in a folder are not told of, so it is looked at all the time", "folder", f, "err", err)
			}
		}
	}
	n.failed = failed
	for _, f := range watched {
		if !slices.Contains(folders, f) {
			_ = n.watcher.Remove(f) // it may be gone, and with it the watch
		}
	}
}

// broken reports whether changes somewhere would not be told of.
func (n *notifier) broken() bool { return n.watcher == nil || len(n.failed) > 0 }

func (n *notifier) close() {
	if n.watcher != nil {
		_ = n.watcher.Close()
	}
}
