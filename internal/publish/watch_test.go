package publish

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
)

// fixture is a watched folder.
type fixture struct {
	dir       string
	published chan string // name and content of a file
	gone      chan string
	retry     func() bool
}

// quietStore is a store without source errors that reports the files whose errors are cleared:
// those that are gone.
type quietStore struct {
	Store
	cleared chan string
}

// ClearSourceError implements Store.
func (s quietStore) ClearSourceError(_ context.Context, path string) error {
	s.cleared <- filepath.Base(path)
	return nil
}

// SetSourceError implements Store.
func (quietStore) SetSourceError(context.Context, herb.SourceError) error { return nil }

// start watches a folder with some files in it.
func start(t *testing.T, files map[string]string, adjust func(*fixture, *Watcher)) *fixture {
	t.Helper()
	s := &fixture{dir: filepath.Join(t.TempDir(), "garden"), published: make(chan string, 100),
		gone: make(chan string, 100)}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		s.write(t, name, content)
	}
	p := &Publisher{Store: quietStore{cleared: s.gone}, Log: slog.New(slog.DiscardHandler)}
	finder, paths := discover.New(discover.Options{Formats: ingest.Formats()}), []string{s.dir}
	w := p.Watch(finder, paths, finder.Discover(t.Context(), paths))
	w.intervals = intervals{settle: 30 * time.Millisecond, writingSettle: time.Hour, poll: 5 * time.Millisecond,
		rescan: time.Hour, retry: time.Millisecond}
	w.publish = func(_ context.Context, src ingest.Source, _ bool) bool {
		b, err := os.ReadFile(src.Path)
		if err != nil {
			b = []byte("unreadable")
		}
		s.published <- filepath.Base(src.Path) + ": " + string(b)
		return s.retry != nil && s.retry()
	}
	if adjust != nil {
		adjust(s, w)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *fixture) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace writes another file and renames it.
func (s *fixture) replace(t *testing.T, name, content string) {
	t.Helper()
	s.write(t, name+".tmp", content)
	if err := os.Rename(filepath.Join(s.dir, name+".tmp"), filepath.Join(s.dir, name)); err != nil {
		t.Fatal(err)
	}
}

// want waits for the next files.
func want(t *testing.T, reports <-chan string, wants ...string) {
	t.Helper()
	var got []string
	for range wants {
		select {
		case s := <-reports:
			got = append(got, s)
		case <-time.After(2 * time.Minute):
			t.Fatalf("got %q; want %q", got, wants)
		}
	}
	slices.Sort(got)
	slices.Sort(wants)
	if !slices.Equal(got, wants) {
		t.Fatalf("got %q; want %q", got, wants)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	known := map[string]string{"a.csv": "1", "b.csv": "1"}
	for name, c := range map[string]struct {
		do   func(t *testing.T, s *fixture)
		want []string
	}{
		"written in place": {
			func(t *testing.T, s *fixture) { s.write(t, "a.csv", "22") },
			[]string{"a.csv: 22"},
		},
		"written and renamed": {
			func(t *testing.T, s *fixture) { s.replace(t, "a.csv", "2") },
			[]string{"a.csv: 2"},
		},
		"replaced by a file of the same size and time": {
			func(t *testing.T, s *fixture) {
				info, err := os.Stat(filepath.Join(s.dir, "a.csv"))
				if err != nil {
					t.Fatal(err)
				}
				s.write(t, "a.csv.tmp", "2")
				if err := os.Chtimes(filepath.Join(s.dir, "a.csv.tmp"), time.Time{}, info.ModTime()); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(s.dir, "a.csv.tmp"), filepath.Join(s.dir, "a.csv")); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"a.csv: 2"},
		},
		"a new file": {
			func(t *testing.T, s *fixture) { s.write(t, "c.csv", "3") },
			[]string{"c.csv: 3"},
		},
		"two at once": {
			func(t *testing.T, s *fixture) { s.write(t, "a.csv", "22"); s.write(t, "b.csv", "23") },
			[]string{"a.csv: 22", "b.csv: 23"},
		},
		"other files are ignored": {
			func(t *testing.T, s *fixture) { s.write(t, ".a.csv.swp", "x"); s.write(t, "b.csv", "22") },
			[]string{"b.csv: 22"},
		},
		"removed and written again": {
			func(t *testing.T, s *fixture) {
				if err := os.Remove(filepath.Join(s.dir, "a.csv")); err != nil {
					t.Fatal(err)
				}
				want(t, s.gone, "a.csv")
				s.write(t, "a.csv", "1")
			},
			[]string{"a.csv: 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, known, nil)
			c.do(t, s)
			want(t, s.published, c.want...)
			s.write(t, "z.csv", "end") // pending publishes come before this one
			want(t, s.published, "z.csv: end")
		})
	}
}

// TestWatch_beingWritten writes a file in pieces with pauses longer than the settle time.
func TestWatch_beingWritten(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"slow.csv": "old"}, nil)
	f, err := os.Create(filepath.Join(s.dir, "slow.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := fmt.Fprintf(f, "%d ", i); err != nil {
			t.Fatal(err)
		}
		other := fmt.Sprintf("other%d.csv", i) // when it is published, the settle time of the slow one is over, too
		s.write(t, other, "x")
		want(t, s.published, other+": x")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, s.published, "slow.csv: 0 1 2 ")
}

// TestWatch_openForWriting keeps a file open for writing without writing.
func TestWatch_openForWriting(t *testing.T) {
	t.Parallel()
	s := start(t, nil, func(_ *fixture, w *Watcher) { w.intervals.writingSettle = 60 * time.Millisecond })
	f, err := os.Create(filepath.Join(s.dir, "log.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("line"); err != nil {
		t.Fatal(err)
	}
	want(t, s.published, "log.csv: line")
}

// TestWatch_rescan does not check the state of the folders. Scans notice the change later.
func TestWatch_rescan(t *testing.T) {
	t.Parallel()
	s := start(t, nil, func(_ *fixture, w *Watcher) {
		w.intervals.poll, w.intervals.rescan = time.Hour,
			5*time.Millisecond
	})
	s.write(t, "a.csv", "1")
	want(t, s.published, "a.csv: 1")
}

// TestStateOf changes entries of a folder, each in a way that changes its state.
func TestStateOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, linked := filepath.Join(dir, "a.csv"), filepath.Join(t.TempDir(), "b.csv")
	last := folderState([]string{dir})
	for _, tt := range []struct {
		name string
		do   func() error
	}{
		{"created", func() error { return os.WriteFile(path, []byte("1"), 0o600) }},
		{"size", func() error { return os.WriteFile(path, []byte("22"), 0o600) }},
		{"time", func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) }},
		{"mode", func() error { return os.Chmod(path, 0o400) }},
		{"renamed", func() error { return os.Rename(path, linked) }},
		{"linked", func() error { return os.Symlink(linked, path) }},
		{"target of a link", func() error { return os.Chtimes(linked, time.Time{}, time.Unix(2, 0)) }},
		{"removed", func() error { return os.RemoveAll(dir) }},
	} {
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		now := folderState([]string{dir})
		if now == last || now != folderState([]string{dir}) {
			t.Errorf("%s: the state is %d and was %d", tt.name, now, last)
		}
		last = now
	}
}

func TestWatch_retry(t *testing.T) {
	t.Parallel()
	left := 3
	s := start(t, nil, func(s *fixture, _ *Watcher) {
		s.retry = func() bool { left--; return left > 0 }
	})
	s.write(t, "a.csv", "1")
	want(t, s.published, "a.csv: 1", "a.csv: 1", "a.csv: 1")
	s.write(t, "b.csv", "1")
	want(t, s.published, "b.csv: 1")
}

// TestWatch_failedAtStart retries a source that could not be published when the server started.
func TestWatch_failedAtStart(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"a.csv": "1", "b.csv": "1"}, func(_ *fixture, w *Watcher) {
		for key, known := range w.sources {
			if key.ref.Name == "b" {
				w.Retry([]ingest.Source{known.Source})
			}
		}
	})
	want(t, s.published, "b.csv: 1")
}

// TestWatch_slowSource checks that a slow source does not delay the others.
func TestWatch_slowSource(t *testing.T) {
	t.Parallel()
	held, release := make(chan struct{}), make(chan struct{})
	s := start(t, nil, func(_ *fixture, w *Watcher) {
		publish := w.publish
		w.publish = func(ctx context.Context, src ingest.Source, repeated bool) bool {
			if src.Ref.Name == "slow" {
				close(held)
				<-release
			}
			return publish(ctx, src, repeated)
		}
	})
	s.write(t, "slow.csv", "x")
	<-held
	for i := range 3 {
		name := fmt.Sprintf("quick%d.csv", i)
		s.write(t, name, "x")
		want(t, s.published, name+": x")
	}
	close(release)
	want(t, s.published, "slow.csv: x")
}

// TestWatch_recreatedFolder removes and recreates the folder.
func TestWatch_recreatedFolder(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"a.csv": "1"}, nil)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	want(t, s.gone, "a.csv")
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "a.csv", "2")
	want(t, s.published, "a.csv: 2")
}

// TestWatch_settings checks that known sources are not published, and that a change of settings
// alone is a change.
func TestWatch_settings(t *testing.T) {
	t.Parallel()
	descriptor := func(title string) string {
		return fmt.Sprintf(`{"resources": [{"path": "a.csv", "title": %q}, {"path": "b.csv"}]}`, title)
	}
	s := start(t, map[string]string{"a.csv": "1", "b.csv": "1", "datapackage.json": descriptor("one")}, nil)
	s.replace(t, "datapackage.json", descriptor("two")) // a descriptor that is half written has no sources
	want(t, s.published, "a.csv: 1")
	s.write(t, "b.csv", "22")
	want(t, s.published, "b.csv: 22")
}
