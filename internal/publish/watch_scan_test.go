package publish

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
)

// counters counts what a watcher does in virtual time.
type counters struct {
	mu          sync.Mutex
	scans       int
	stats       int // of files of sources
	published   map[string]int
	running     map[string]bool
	overlaps    int       // publishes of a file that began while another one of it was running
	first, last time.Time // start of the first publish, end of the last one
}

// count runs a watcher of a folder in virtual time and counts what it does. A publish takes as long
// as given. adjust changes the watcher before it runs; nil changes nothing.
func count(t *testing.T, dir string, took time.Duration, adjust func(*Watcher, *counters)) (*Watcher, *counters) {
	t.Helper()
	c := &counters{published: map[string]int{}, running: map[string]bool{}}
	p := &Publisher{Store: quietStore{cleared: make(chan string, 1000)}, Log: slog.New(slog.DiscardHandler)}
	finder, paths := discover.New(discover.Options{Formats: ingest.Formats()}), []string{dir}
	w := p.Watch(finder, paths, finder.Discover(t.Context(), paths))
	w.intervals.rescan = time.Hour
	w.find = func(ctx context.Context, paths []string) descriptor.Set {
		c.scans++
		return finder.Discover(ctx, paths)
	}
	w.stat = func(path string) (fs.FileInfo, error) {
		c.stats++ // with w.mu held, or before publishes start
		return os.Stat(path)
	}
	w.publish = func(_ context.Context, s ingest.Source, _ bool) bool {
		name := filepath.Base(s.Path)
		c.mu.Lock()
		if c.first.IsZero() {
			c.first = time.Now()
		}
		if c.running[name] {
			c.overlaps++
		}
		c.running[name] = true
		c.mu.Unlock()
		time.Sleep(took)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.published[name]++
		c.running[name] = false
		c.last = time.Now()
		return false
	}
	if adjust != nil {
		adjust(w, c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	time.Sleep(w.intervals.poll / 2) // what the test does next is between two checks
	return w, c
}

func writeTo(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWatch_scansOncePerChange checks that files that wait to be published cause no scans, and that
// they are published one after the other without pauses.
func TestWatch_scansOncePerChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const files, took = 100, 100 * time.Millisecond
		for i := range files {
			writeTo(t, dir, fmt.Sprintf("t%d.csv", i), "1")
		}
		w, c := count(t, dir, took, nil)
		time.Sleep(time.Minute)
		if c.scans != 1 || len(c.published) > 0 {
			t.Fatalf("before a change: %d scans, published %v", c.scans, c.published)
		}
		for i := range files {
			writeTo(t, dir, fmt.Sprintf("t%d.csv", i), "22")
		}
		time.Sleep(time.Second)
		if n := w.Waiting(); n == 0 || n == files {
			t.Errorf("%d sources wait while two at a time are published", n)
		}
		time.Sleep(time.Minute)
		if c.scans != 2 || len(c.published) != files || w.Waiting() != 0 {
			t.Errorf("%d scans, %d files published, %d waiting; want 2 scans and %d files", c.scans, len(c.published),
				w.Waiting(), files)
		}
		if want := 3 * files; c.stats != want {
			t.Errorf("the files were examined %d times; want %d: in two scans and before each publish", c.stats, want)
		}
		if busy, want := c.last.Sub(c.first), files/maxConcurrent*took; busy != want {
			t.Errorf("publishing took %s; want %s: no slot is idle while files wait", busy, want)
		}
	})
}

// TestWatch_changedWhileWaiting changes files that wait, are being published, or are removed
// meanwhile.
func TestWatch_changedWhileWaiting(t *testing.T) {
	t.Parallel()
	all := []string{"a.csv", "b.csv", "c.csv"}
	for name, tt := range map[string]struct {
		files   []string
		change  func(t *testing.T, dir string)
		publish map[string]int // how often each file is published
	}{
		"the only file": {all[:1], func(t *testing.T, dir string) { writeTo(t, dir, "a.csv", "333") },
			map[string]int{"a.csv": 2}},
		"a file that waits": {all, func(t *testing.T, dir string) { writeTo(t, dir, "c.csv", "333") },
			map[string]int{"a.csv": 1, "b.csv": 1, "c.csv": 1}},
		"a file that is published": {all, func(t *testing.T, dir string) { writeTo(t, dir, "a.csv", "333") },
			map[string]int{"a.csv": 2, "b.csv": 1, "c.csv": 1}},
		"a waiting file is removed": {
			all, func(_ *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "c.csv")) },
			map[string]int{"a.csv": 1, "b.csv": 1}},
		"a published file is removed": {
			all, func(_ *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "a.csv")) },
			map[string]int{"a.csv": 1, "b.csv": 1, "c.csv": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w, c := count(t, dir, 10*time.Second, nil)
				for _, name := range tt.files {
					writeTo(t, dir, name, "22")
				}
				time.Sleep(5 * time.Second) // two are being published
				tt.change(t, dir)
				time.Sleep(time.Minute)
				if fmt.Sprint(c.published) != fmt.Sprint(tt.publish) || w.Waiting() != 0 ||
					len(w.sources) != len(dirNames(t, dir)) {
					t.Errorf("published %v, %d sources, %d waiting; want %v", c.published, len(w.sources),
						w.Waiting(), tt.publish)
				}
				if c.scans > 6 || c.overlaps > 0 {
					t.Errorf("%d scans; %d publishes of a file that was being published", c.scans, c.overlaps)
				}
			})
		})
	}
}

func dirNames(t *testing.T, dir string) []fs.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestWatch_writtenWhileWaiting checks that a file that waits for a slot is not published while it
// is being written again, even if no scan has noticed that.
func TestWatch_writtenWhileWaiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		_, c := count(t, dir, time.Millisecond, func(w *Watcher, c *counters) {
			w.intervals.poll = time.Hour // no later check notices the change
			find := w.find
			w.find = func(ctx context.Context, paths []string) descriptor.Set {
				writeTo(t, dir, "a.csv", "22")
				time.AfterFunc(w.intervals.settle/2, func() { writeTo(t, dir, "a.csv", "half") })
				return find(ctx, paths)
			}
		})
		time.Sleep(time.Minute)
		if c.scans != 1 || len(c.published) != 0 {
			t.Errorf("%d scans, published %v", c.scans, c.published)
		}
	})
}
