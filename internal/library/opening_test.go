package library_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// gatedFiles controls when versions are opened.
type gatedFiles struct {
	mu    sync.Mutex
	err   map[string]error // by file name; "" means all files
	hold  chan struct{}    // nil if nothing is held
	began chan string      // names of files that are held
	tries int
}

func (g *gatedFiles) open(path string, open func(string) (*segment.Reader, error)) (*segment.Reader, error) {
	g.mu.Lock()
	g.tries++
	hold, err := g.hold, errors.Join(g.err[""], g.err[filepath.Base(path)])
	g.mu.Unlock()
	if hold != nil {
		g.began <- filepath.Base(path)
		<-hold
	}
	if err != nil {
		return nil, err
	}
	return open(path)
}

// change replaces the behavior from now on.
func (g *gatedFiles) change(change func(*gatedFiles)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

// openGated returns a library whose opening of files g controls.
func openGated(t *testing.T, s *versionstest.SharedDir, g *gatedFiles, wait time.Duration,
	plants library.Mutable) *versionstest.Node {
	t.Helper()
	l := versionstest.OpenLibrary(t, s.DB,
		versionstest.Options{Dir: s.Dir, Wait: wait, Now: func() time.Time { return s.Now() }, Plants: plants})
	l.SetOpenFile(g.open)
	return l
}

// openServing is gated for a library that lists its only record.
func openServing(t *testing.T, s *versionstest.SharedDir, g *gatedFiles, wait time.Duration) *versionstest.Node {
	t.Helper()
	l := openGated(t, s, g, wait, nil)
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	versionstest.WantListed(t, l, ref, 1)
	return l
}

// other is a second dataset.
var other = herb.Ref{Namespace: "shop", Name: "other"}

// TestAcquire_whileOpening blocks the opening of a new version. Requests for other datasets do not
// wait; those for its own do, and list it as soon as it is open.
func TestAcquire_whileOpening(t *testing.T) {
	t.Parallel()
	s, g := versionstest.NewSharedDir(t), &gatedFiles{began: make(chan string, 1)}
	publisher := s.Open(t)
	versionstest.PublishAs(t, publisher, ref, 1)
	versionstest.PublishAs(t, publisher, other, 1)
	l := openServing(t, s, g, -1)
	hold := make(chan struct{})
	g.change(func(g *gatedFiles) { g.hold = hold })
	versionstest.PublishAs(t, publisher, ref, 2)

	listed := make(chan int)
	for range 3 {
		go func() {
			snap, err := l.Acquire(t.Context(), ref)
			if err != nil {
				listed <- -1
				return
			}
			defer snap.Release()
			listed <- snap.Records
		}()
	}
	<-g.began // a request has noticed the publish, and the version is being opened
	for range 3 {
		snap, err := l.Acquire(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		snap.Release()
		if ds, err := describeAll(t.Context(), l); err != nil || len(ds) != 2 || ds[1].Records != 2 {
			t.Fatalf("datasets: %v, %v", ds, err)
		}
		if h := l.Health(); h.Open != 1 || h.Fetching != 1 || h.Behind != 1 {
			t.Fatalf("health: %+v", h)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Acquire(canceled, ref); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is canceled: %v", err)
	}
	close(hold)
	for range 3 {
		if n := <-listed; n != 2 {
			t.Errorf("%d records are listed, want those of the new version", n)
		}
	}
}

// TestAcquire_slowOpening has a version take longer to open than requests wait.
func TestAcquire_slowOpening(t *testing.T) {
	t.Parallel()
	s, g := versionstest.NewSharedDir(t), &gatedFiles{began: make(chan string, 2)}
	publisher := s.Open(t)
	versionstest.PublishAs(t, publisher, ref, 1)
	l := openServing(t, s, g, time.Nanosecond)
	hold := make(chan struct{})
	g.change(func(g *gatedFiles) { g.hold = hold })
	versionstest.PublishAs(t, publisher, ref, 2)
	versionstest.PublishAs(t, publisher, other, 2)
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Errorf("%d records are listed, want those of the version that is open", n)
	}
	if _, err := l.Acquire(t.Context(), other); herb.CodeOf(err) != herb.CodeUnavailable ||
		!strings.Contains(err.Error(), "still opening dataset") {
		t.Errorf("a dataset that has nothing open: %v", err)
	}
	close(hold)
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 2 {
		t.Errorf("%d records are listed, want those of the new version", n)
	}
}

// TestOpening_retried has versions fail to open for a while, at the start and later. Others are not
// affected.
func TestOpening_retried(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{syscall.EMFILE, syscall.ENOMEM, errors.New("the map failed")} {
		t.Run(fault.Error(), func(t *testing.T) {
			t.Parallel()
			s, g := versionstest.NewSharedDir(t), &gatedFiles{err: map[string]error{}}
			publisher := s.Open(t)
			versionstest.PublishAs(t, publisher, other, 1)
			first := versionstest.Publish(t, publisher, 1)
			g.err[first.Version+".segment"] = fault
			l := openGated(t, s, g, 0, nil)
			if err := l.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			wants := func(failed int, records int) {
				t.Helper()
				if h := l.Health(); h.Failed != failed || h.Open != 2-failed {
					t.Errorf("health: %+v", h)
				}
				snap, err := l.Acquire(t.Context(), ref)
				if records == 0 {
					if herb.CodeOf(err) != herb.CodeUnavailable {
						t.Errorf("got %v", err)
					}
				} else if err != nil || snap.Records != records {
					t.Errorf("%d records, want %d: %v", snap.Records, records, err)
				}
				snap.Release()
				beside, err := l.Acquire(t.Context(), other)
				if err != nil {
					t.Errorf("the other dataset: %v", err)
				}
				beside.Release()
			}
			later := func(d time.Duration) {
				now := s.Now().Add(d)
				s.Now = func() time.Time { return now }
				l.Poll(t.Context())
				if err := l.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			wants(1, 0)
			tries := g.tries
			later(0)
			if g.tries != tries {
				t.Error("retried without backoff")
			}
			later(2 * time.Minute)
			if g.tries != tries+1 {
				t.Errorf("it is tried %d times more, want 1", g.tries-tries)
			}
			wants(1, 0)
			g.change(func(g *gatedFiles) { clear(g.err) })
			later(2 * time.Minute)
			wants(0, 1)

			g.change(func(g *gatedFiles) { g.err[""] = fault })
			versionstest.Publish(t, publisher, 2)
			later(0)
			wants(1, 1)
			g.change(func(g *gatedFiles) { clear(g.err) })
			later(2 * time.Minute)
			wants(0, 2)
		})
	}
}

// TestHealth_rollback rolls a damaged version back, after which the library is healthy.
func TestHealth_rollback(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	publisher, l := s.Open(t), s.Open(t)
	versionstest.Publish(t, publisher, 1)
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Fatalf("%d records", n)
	}
	damaged := versionstest.Publish(t, publisher, 2)
	if err := os.Truncate(filepath.Join(s.Dir, damaged.Version+".segment"), 100); err != nil {
		t.Fatal(err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Fatalf("%d records are listed instead of a damaged version", n)
	}
	if h := l.Health(); h.Failed != 1 || h.Behind != 1 {
		t.Fatalf("health: %+v", h)
	}
	if _, err := publisher.Rollback(t.Context(), ref, ""); err != nil {
		t.Fatal(err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Errorf("%d records after the rollback", n)
	}
	if h := l.Health(); h.Failed != 0 || h.Open != 1 || h.Behind != 0 {
		t.Errorf("health after the rollback: %+v", h)
	}
}

// countedMutable counts calls of Describe.
type countedMutable struct {
	versionstest.StaticMutable
	calls int
}

// Describe implements library.Mutable.
func (c *countedMutable) Describe(ctx context.Context) (herb.Dataset, error) {
	c.calls++
	return c.StaticMutable.Describe(ctx)
}

var _ library.Mutable = (*countedMutable)(nil)

// TestAcquire_unknown requests unknown datasets: the database is not queried, and the search for a
// suggestion is bounded.
func TestAcquire_unknown(t *testing.T) {
	t.Parallel()
	s, plants := versionstest.NewSharedDir(t), &countedMutable{}
	l := openGated(t, s, &gatedFiles{}, 0, plants)
	versionstest.PublishAs(t, l, ref, 1)
	long := strings.Repeat("a", herb.MaxName)
	for _, tt := range []struct {
		name string
		ref  herb.Ref
		want string
	}{
		{"alike", herb.Ref{Namespace: "shop", Name: "price"}, `did you mean "shop/prices"?`},
		{"like the plants", herb.Ref{Namespace: "store", Name: "plant"}, `did you mean "store/plants"?`},
		{"like nothing", herb.Ref{Namespace: "x", Name: "y"}, `no such dataset "x/y"; GET`},
		{"longest", herb.Ref{Namespace: long, Name: long}, `…"; GET`},
		{"too long", herb.Ref{Namespace: "shop", Name: strings.Repeat("prices", 1000)}, `…"; GET`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := l.Acquire(t.Context(), tt.ref)
			if herb.CodeOf(err) != herb.CodeNotFound || !strings.Contains(err.Error(), tt.want) ||
				len(err.Error()) > 300 {
				t.Errorf("got %v", err)
			}
		})
	}
	if plants.calls != 0 {
		t.Errorf("the plants were described %d times", plants.calls)
	}
}

// TestAcquire_wide requests a version that takes more memory than all open versions may take: it is
// closed only after its use.
func TestAcquire_wide(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	wide, record := make([]herb.Field, 3000), make(herb.Record, 3000)
	for i := range wide {
		wide[i] = herb.Field{Name: fmt.Sprint("f", i), Type: herb.TypeText}
	}
	if _, err := s.Open(t).Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: wide},
		Records: func(yield func(herb.Record, error) bool) { yield(record, nil) },
	}); err != nil {
		t.Fatal(err)
	}
	versionstest.WantListed(t, s.Open(t), ref, 1)
}
