package publish

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/must"
	"herbarium/internal/progress"
	"herbarium/internal/publish/receive"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// fakeStore keeps publishes in memory. It is shared by several queues, as by several nodes.
type fakeStore struct {
	mu      sync.Mutex
	records map[string]store.Publish
	audit   []herb.AuditEntry
	fail    error
}

func (s *fakeStore) set(p store.Publish) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.records[p.ID] = p
	}
	return s.fail
}

func (s *fakeStore) AddPublish(_ context.Context, p store.Publish, _ time.Time) error {
	return s.set(p)
}

func (s *fakeStore) UpdatePublish(_ context.Context, p store.Publish) error { return s.set(p) }

func (s *fakeStore) EndPublish(ctx context.Context, p store.Publish, read time.Time,
	entry *herb.AuditEntry) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.records[p.ID].Updated.Equal(read) {
		return false, nil
	}
	s.records[p.ID] = p
	if entry != nil {
		s.addEntry(ctx, *entry)
	}
	return true, nil
}

func (s *fakeStore) AbandonedPublishes(_ context.Context, before time.Time) (all []store.Publish, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.records {
		if p.Running && p.Updated.Before(before) {
			all = append(all, p)
		}
	}
	return all, nil
}

func (s *fakeStore) Publish(_ context.Context, id string) (store.Publish, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.records[id]
	if !ok {
		return p, herb.Errorf(herb.CodeNotFound, "no such publish")
	}
	return p, nil
}

func (s *fakeStore) AddAuditEntry(ctx context.Context, e herb.AuditEntry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addEntry(ctx, e)
	return nil
}

// addEntry adds an entry to the audit log. s.mu is held.
func (s *fakeStore) addEntry(ctx context.Context, e herb.AuditEntry) {
	e.Actor, e.Origin = herb.ActorOf(ctx).ID, herb.ActorOf(ctx).Origin
	s.audit = append(s.audit, e)
}

// fakePublisher calls a function.
type fakePublisher func(context.Context, ingest.Source, Options) (versions.Result, error)

func (p fakePublisher) Publish(ctx context.Context, s ingest.Source, o Options) (versions.Result, error) {
	return p(ctx, s, o)
}

type fakeVersions struct {
	Versions
	live herb.Dataset
}

func (l fakeVersions) LiveVersion(context.Context, herb.Ref) (herb.Dataset, error) {
	return l.live, nil
}

func newQueue(t *testing.T, db *fakeStore, now func() time.Time, do fakePublisher) *Queue {
	t.Helper()
	s := NewQueue(QueueOptions{Publisher: do, Versions: fakeVersions{}, Store: db,
		Files: receive.New(receive.Options{Dir: t.TempDir()}), Dir: t.TempDir(), Now: now})
	t.Cleanup(s.Stop)
	return s
}

func newStore() *fakeStore { return &fakeStore{records: map[string]store.Publish{}} }

func receiveFile(t *testing.T, s *Queue, content string) *receive.File {
	t.Helper()
	f, err := s.opts.Files.Receive(t.Context(), strings.NewReader(content), `C:\data\prices.csv`, -1)
	must.NoError(t, err)
	return f
}

func startPublish(t *testing.T, s *Queue) Publish {
	t.Helper()
	p, err := s.Start(t.Context(), Request{Ref: herb.Ref{Namespace: "shop", Name: "prices"},
		File: receiveFile(t, s, "a,b\n1,2\n")})
	must.NoError(t, err)
	return p
}

// await returns a publish after its end.
func await(t *testing.T, q *Queue, id string) Publish {
	t.Helper()
	p, err := q.State(t.Context(), id, time.Minute)
	must.NoError(t, err)
	return p
}

// TestObserve checks that publishes are reported with their status and the time since their file
// was received, and that waiting publishes are counted.
func TestObserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		statuses := map[versions.Status]int{}
		var longest time.Duration
		s := NewQueue(QueueOptions{
			Versions: fakeVersions{}, Store: newStore(), Files: receive.New(receive.Options{Dir: t.TempDir()}),
			Dir: t.TempDir(),
			Publisher: fakePublisher(func(context.Context, ingest.Source, Options) (versions.Result, error) {
				time.Sleep(time.Minute)
				return versions.Result{}, herb.Errorf(herb.CodeRejected, "no")
			}),
			Observe: func(status versions.Status, took time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
				longest = max(longest, took)
			},
		})
		defer s.Stop()
		const publishes = 3 // of one key, which never gets the last slot
		for range publishes {
			startPublish(t, s)
		}
		synctest.Wait()
		if s.Waiting() == 0 {
			t.Errorf("%d publishes wait; want some", s.Waiting())
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if s.Waiting() != 0 || statuses[versions.StatusRejected] != publishes || longest < 2*time.Minute {
			t.Errorf("%d wait, results %v, longest %s", s.Waiting(), statuses, longest)
		}
	})
}

// TestState follows a publish on the node that runs it and on another one, until its server has
// died.
func TestState(t *testing.T) {
	t.Parallel()
	db, day := newStore(), time.Date(2026, 3, 20, 8, 0, 0, 0, time.UTC)
	reported, finish := make(chan struct{}), make(chan struct{})
	node := newQueue(t, db, func() time.Time { return day },
		func(_ context.Context, src ingest.Source, o Options) (versions.Result, error) {
			if src.DisplayName != "prices.csv" || src.Input.Size() != 8 {
				t.Errorf("the source is %+v", src)
			}
			o.Progress(progress.Progress{Phase: versions.PhaseIndexing, Step: 2, Steps: 4, Records: 7})
			close(reported)
			<-finish
			return versions.Result{Status: versions.StatusPublished, Version: "v1", Records: 1}, nil
		})
	p := startPublish(t, node)
	<-reported
	r, err := node.State(t.Context(), p.ID, 0)
	must.NoError(t, err)
	if r.State != StateBuilding || r.Progress == nil || r.Progress.Records != 7 || r.Result != nil {
		t.Errorf("while it runs: %+v", r)
	}
	must.NoError(t, node.runningPublish(p.ID).save(t.Context()))
	for _, tt := range []struct {
		after time.Duration
		state State
	}{{lease, StateBuilding}, {lease + time.Second, StateFailed}, {0, StateFailed}} {
		other := newQueue(t, db, func() time.Time { return day.Add(tt.after) }, nil)
		if r, err := other.State(t.Context(), p.ID, 0); err != nil || r.State != tt.state {
			t.Errorf("another node after %s: %+v, %v", tt.after, r, err)
		}
	}
	close(finish)
	await(t, node, p.ID)
	node.Stop()
	r, err = newQueue(t, db, time.Now, nil).State(t.Context(), p.ID, 0)
	must.NoError(t, err)
	if r.State != StateLive || r.Result.Status != versions.StatusPublished || r.Code != "" || r.SHA256 == "" ||
		r.Bytes != 8 {
		t.Errorf("at the end: %+v", r) // the server was only slow
	}
}

// TestState_audit checks that a publish whose server has died has one entry in the audit log,
// whoever ends it, and a check none.
func TestState_audit(t *testing.T) {
	t.Parallel()
	db, day := newStore(), time.Date(2026, 3, 20, 8, 0, 0, 0, time.UTC)
	node := newQueue(t, db, func() time.Time { return day },
		func(ctx context.Context, _ ingest.Source, _ Options) (versions.Result, error) {
			<-ctx.Done()
			return versions.Result{}, ctx.Err()
		})
	var ids []string
	for _, check := range []bool{false, true} {
		p, err := node.Start(t.Context(), Request{
			Ref: herb.Ref{Namespace: "shop", Name: "prices"}, File: receiveFile(t, node, "a\n1\n"),
			Actor:          herb.Actor{ID: "key1", Origin: "192.0.2.1"},
			PublishOptions: versions.PublishOptions{Check: check},
		})
		must.NoError(t, err)
		ids = append(ids, p.ID)
	}
	later := func() time.Time { return day.Add(lease + time.Second) }
	node.opts.Now = later
	node.endAbandoned(t.Context()) // its own publishes go on
	if len(db.audit) != 0 {
		t.Errorf("a server ends its own publishes: %+v", db.audit)
	}
	var reading sync.WaitGroup
	for n := range 6 {
		other := newQueue(t, db, later, nil)
		reading.Go(func() {
			if n%2 == 0 {
				other.endAbandoned(t.Context())
				return
			}
			for _, id := range ids {
				if _, err := other.State(t.Context(), id, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	reading.Wait()
	if len(db.audit) != 1 || db.audit[0].Actor != "key1" || db.audit[0].Origin != "192.0.2.1" ||
		db.audit[0].Subject != "shop/prices" ||
		db.audit[0].Result != herb.AuditFailed || db.audit[0].Action != herb.AuditPublished {
		t.Errorf("audit log: %+v", db.audit)
	}
	for _, id := range ids {
		if r, err := newQueue(t, db, later, nil).State(t.Context(), id, 0); err != nil || r.State != StateFailed {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestStop_audit checks that a publish that waits for a slot when its server stops has an entry in
// the audit log.
func TestStop_audit(t *testing.T) {
	t.Parallel()
	db, begun := newStore(), make(chan bool)
	s := newQueue(t, db, time.Now, func(ctx context.Context, _ ingest.Source, _ Options) (versions.Result, error) {
		close(begun)
		<-ctx.Done()
		return versions.Result{}, ctx.Err() // a publisher adds an entry of its own
	})
	startPublish(t, s)
	<-begun
	startPublish(t, s)
	s.Stop()
	if len(db.audit) != 1 || db.audit[0].Result != herb.AuditFailed {
		t.Errorf("audit log: %+v", db.audit)
	}
}

// TestStart_errors checks the code that the client gets for an error of a publish.
func TestStart_errors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err   error
		state State
		code  herb.Code
	}{
		"unreadable": {herb.Invalidf("line 1: wrong"), StateFailed, herb.CodeUnreadable},
		"rejected":   {herb.Errorf(herb.CodeRejected, "breaking"), StateRejected, herb.CodeRejected},
		"full disk":  {errors.Join(errors.New("writing"), syscall.ENOSPC), StateFailed, herb.CodeNoSpace},
		"down":       {herb.Errorf(herb.CodeUnavailable, "no database"), StateFailed, herb.CodeUnavailable},
		"bug":        {errors.New("secret"), StateFailed, herb.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newQueue(t, newStore(), time.Now,
				func(context.Context, ingest.Source, Options) (versions.Result, error) {
					return versions.Result{}, tt.err
				})
			p := startPublish(t, s)
			r := await(t, s, p.ID)
			if r.State != tt.state || r.Code != tt.code || r.Result.Error == "" ||
				strings.Contains(r.Result.Error, "secret") {
				t.Errorf("%+v %+v", r, r.Result)
			}
		})
	}
}

// TestStart_panic checks that a bug fails the publish and not the server.
func TestStart_panic(t *testing.T) {
	t.Parallel()
	s := newQueue(t, newStore(), time.Now, func(context.Context, ingest.Source, Options) (versions.Result,
		error) {
		panic("bug")
	})
	p := startPublish(t, s)
	if r := await(t, s, p.ID); r.State != StateFailed || r.Code != herb.CodeInternal ||
		r.Result.Error != "internal error" {
		t.Errorf("%+v %+v", r, r.Result)
	}
}

// TestStart_limits checks that files that wait are limited, and that a database that is down keeps
// none.
func TestStart_limits(t *testing.T) {
	t.Parallel()
	db := newStore()
	s := newQueue(t, db, time.Now, func(ctx context.Context, _ ingest.Source, _ Options) (versions.Result, error) {
		<-ctx.Done()
		return versions.Result{}, ctx.Err()
	})
	var last Publish
	for _, key := range []struct {
		name string
		most int
		met  string
	}{
		{"greedy", 24, "your key has 24 publishes (lane publish) at once, its share of the limit of 32"},
		{"other", 6, "your key has 6 publishes"},
		{"third", 2, "the server is at its limit of 32 publishes (lane publish) at once"},
	} {
		started, err := 0, error(nil)
		for ; started <= key.most; started++ {
			p, failed := s.Start(t.Context(), Request{File: receiveFile(t, s, "x"), Actor: herb.Actor{ID: key.name}})
			err = failed
			if err != nil {
				break
			}
			last = p
		}
		if started != key.most || herb.CodeOf(err) != herb.CodeUnavailable || herb.RetryAfterOf(err) == 0 ||
			!strings.HasPrefix(herb.MessageOf(err), key.met) {
			t.Errorf("key %s has %d publishes: %v", key.name, started, err)
		}
	}
	s.Stop()
	if n := s.opts.Admission.InFlight(admission.Publish); n != 0 {
		t.Errorf("%d slots are occupied afterwards", n)
	}
	if r := await(t, s, last.ID); r.State != StateFailed || r.Code != herb.CodeUnavailable ||
		!strings.Contains(r.Result.Error, "stopping") {
		t.Errorf("%+v", r)
	}
	db.fail = herb.Errorf(herb.CodeUnavailable, "down")
	s = newQueue(t, db, time.Now, nil)
	if _, err := s.Start(t.Context(), Request{File: receiveFile(t, s, "x")}); !errors.Is(err, db.fail) ||
		len(s.running) > 0 {
		t.Errorf("without a database: %v", err)
	}
}

// TestState_earlierRelease reads publishes that a node of the release before has stored: one that
// has ended, and one that it runs no more, which is ended in the audit log of its client.
func TestState_earlierRelease(t *testing.T) {
	t.Parallel()
	db, now := newStore(), time.Date(2026, 3, 20, 8, 0, 0, 0, time.UTC)
	const start = `"dataset":"shop/prices","created_at":"2026-03-20T07:58:00Z","updated_at":"2026-03-20T07:59:00Z","bytes":8,"sha256":"ab",`
	for id, content := range map[string]string{
		"ended": `{"id":"ended",` + start +
			`"state":"live","result":{"dataset":"shop/prices","status":"published","version":"v1","records":1},"actor":{"ID":"key1"}}`,
		"dead": `{"id":"dead",` + start +
			`"state":"building","progress":{"phase":"indexing","step":2,"steps":4,"records":7},` +
			`"actor":{"ID":"key1","Origin":"192.0.2.1","Note":""}}`,
	} {
		must.NoError(t, db.set(store.Publish{ID: id, Running: id == "dead", Updated: now.Add(-time.Minute),
			Content: []byte(content)}))
	}
	q := newQueue(t, db, func() time.Time { return now }, nil)
	if p := await(t, q, "ended"); p.State != StateLive || p.Ref().String() != "shop/prices" ||
		p.Result.Version != "v1" || p.Bytes != 8 {
		t.Errorf("the publish that has ended: %+v", p)
	}
	if p := await(t, q, "dead"); p.State != StateFailed || p.Code != herb.CodeUnavailable || p.Progress != nil {
		t.Errorf("the publish of a dead server: %+v", p)
	}
	if len(db.audit) != 1 || db.audit[0].Actor != "key1" || db.audit[0].Origin != "192.0.2.1" {
		t.Errorf("audit log: %+v", db.audit)
	}
}
