package publish

import (
	"log/slog"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// notifier wakes a Watcher on file system events in the watched folders. The Watcher then scans for changes, so a lost event
// only causes a delay.
type notifier struct {
	log     *slog.Logger
	watcher *fsnotify.Watcher // nil if the system provides no notifications
	wake    chan struct{}     // receives an element after events
	folders []string          // to be watched
	failed  map[string]bool   // folders that cannot be watched
}

func newNotifier(log *slog.Logger) *notifier {
	n := &notifier{log: log, wake: make(chan struct{}, 1)}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("file system notifications are unavailable; polling", "err", err)
		return n
	}
	n.watcher = w
	go n.forward()
	return n
}

// forward coalesces events into one wake-up.
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
			n.log.Debug("file system notification error", "err", err) // such as an overflow: scan as after an event
		}
		n.signal()
	}
}

// signal wakes the watcher, unless it is about to wake.
func (n *notifier) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// setFolders sets the watched folders. It wakes the Watcher after adding one, because files may have changed there since the
// scan.
func (n *notifier) setFolders(folders []string) {
	if n.watcher == nil {
		return
	}
	watched := n.watcher.WatchList() // excludes folders that were removed and recreated
	failed := map[string]bool{}
	for _, f := range folders {
		if slices.Contains(watched, f) {
			continue
		}
		if err := n.watcher.Add(f); err != nil {
			if failed[f] = true; !n.failed[f] {
				n.log.Warn("cannot watch folder; polling", "folder", f, "err", err)
			}
		} else if !slices.Contains(n.folders, f) {
			n.signal()
		}
	}
	n.folders, n.failed = folders, failed
	for _, f := range watched {
		if !slices.Contains(folders, f) {
			_ = n.watcher.Remove(f) // fails if the folder, and with it the watch, is gone
		}
	}
}

// incomplete reports whether notifications may be missing.
func (n *notifier) incomplete() bool { return n.watcher == nil || len(n.failed) > 0 }

func (n *notifier) close() {
	if n.watcher != nil {
		_ = n.watcher.Close()
	}
}
