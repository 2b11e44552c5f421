package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"herbarium/internal/watch"
)

// fixture is a watched directory in which each file is an item.
type fixture struct {
	dir     string
	changed chan string // name and content of a reported item
	gone    chan string
	retry   func(name string) bool
}

// start watches a directory with some files in it.
func start(t *testing.T, files map[string]string, adjust func(*fixture, *watch.Options)) *fixture {
	t.Helper()
	s := &fixture{dir: t.TempDir(), changed: make(chan string, 100), gone: make(chan string, 100)}
	for name, content := range files {
		s.write(t, name, content)
	}
	opts := watch.Options{
		Find: func() (items []watch.Item, folders []string) {
			entries, err := os.ReadDir(s.dir)
			if err != nil {
				return nil, []string{s.dir}
			}
			for _, e := range entries {
				if filepath.Ext(e.Name()) == ".csv" {
					items = append(items, watch.Item{Name: e.Name(), Files: []string{filepath.Join(s.dir, e.Name())}})
				}
			}
			return items, []string{s.dir}
		},
		Changed: func(_ context.Context, i watch.Item) bool {
			b, err := os.ReadFile(i.Files[0])
			if err != nil {
				b = []byte("unreadable")
			}
			s.changed <- i.Name + ": " + string(b)
			return s.retry != nil && s.retry(i.Name)
		},
		Gone:              func(i watch.Item) { s.gone <- i.Name },
		SettleTime:        30 * time.Millisecond,
		WritingSettleTime: time.Hour,
		PollInterval:      time.Hour, // rely on notifications
		RetryDelay:        time.Millisecond,
	}
	if adjust != nil {
		adjust(s, &opts)
	}
	w := watch.New(opts)
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

// want waits for the next reports.
func want(t *testing.T, reports <-chan string, wants ...string) {
	t.Helper()
	var got []string
	for range wants {
		select {
		case s := <-reports:
			got = append(got, s)
		case <-time.After(2 * time.Minute):
			t.Fatalf("reported %q; want %q", got, wants)
		}
	}
	slices.Sort(got)
	slices.Sort(wants)
	if !slices.Equal(got, wants) {
		t.Fatalf("reported %q; want %q", got, wants)
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
			func(t *testing.T, s *fixture) {
				s.write(t, "a.csv.tmp", "2")
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
			want(t, s.changed, c.want...)
			s.write(t, "z.csv", "end") // pending reports come before this one
			want(t, s.changed, "z.csv: end")
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
		other := fmt.Sprintf("other%d.csv", i) // when it is reported, the settle time of the slow one is over, too
		s.write(t, other, "x")
		want(t, s.changed, other+": x")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, s.changed, "slow.csv: 0 1 2 ")
}

// TestWatch_openForWriting keeps a file open for writing without writing.
func TestWatch_openForWriting(t *testing.T) {
	t.Parallel()
	s := start(t, nil, func(_ *fixture, o *watch.Options) { o.WritingSettleTime = 60 * time.Millisecond })
	f, err := os.Create(filepath.Join(s.dir, "log.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("line"); err != nil {
		t.Fatal(err)
	}
	want(t, s.changed, "log.csv: line")
}

func TestWatch_retry(t *testing.T) {
	t.Parallel()
	left := 3
	s := start(t, nil, func(s *fixture, _ *watch.Options) {
		s.retry = func(string) bool { left--; return left > 0 }
	})
	s.write(t, "a.csv", "1")
	want(t, s.changed, "a.csv: 1", "a.csv: 1", "a.csv: 1")
	s.write(t, "b.csv", "1")
	want(t, s.changed, "b.csv: 1")
}

// TestWatch_slowItem checks that a slow item does not delay the others.
func TestWatch_slowItem(t *testing.T) {
	t.Parallel()
	held, release := make(chan struct{}), make(chan struct{})
	s := start(t, nil, func(s *fixture, o *watch.Options) {
		changed := o.Changed
		o.Changed = func(ctx context.Context, i watch.Item) bool {
			if i.Name == "slow.csv" {
				close(held)
				<-release
			}
			return changed(ctx, i)
		}
	})
	s.write(t, "slow.csv", "x")
	<-held
	for i := range 3 {
		name := fmt.Sprintf("quick%d.csv", i)
		s.write(t, name, "x")
		want(t, s.changed, name+": x")
	}
	close(release)
	want(t, s.changed, "slow.csv: x")
}

// TestWatch_recreatedDirectory removes and recreates the directory.
func TestWatch_recreatedDirectory(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{"a.csv": "1"}, func(_ *fixture, o *watch.Options) { o.PollInterval = 20 * time.Millisecond })
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	want(t, s.gone, "a.csv")
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, "a.csv", "2")
	want(t, s.changed, "a.csv: 2")
}

// TestNew_known checks that existing items are not reported, and that a change of Shape alone is.
func TestNew_known(t *testing.T) {
	t.Parallel()
	shape := make(chan string, 1)
	current := "one"
	s := start(t, map[string]string{"a.csv": "1"}, func(s *fixture, o *watch.Options) {
		find := o.Find
		o.Find = func() ([]watch.Item, []string) {
			select {
			case current = <-shape:
			default:
			}
			items, folders := find()
			for i := range items {
				items[i].Shape = current
			}
			return items, folders
		}
		o.PollInterval = 10 * time.Millisecond
	})
	shape <- "two"
	want(t, s.changed, "a.csv: 1")
}
