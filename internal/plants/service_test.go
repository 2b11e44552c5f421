package plants_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/store"
)

// fakeStore commits a batch for each value that it receives, and records the batches.
type fakeStore struct {
	next chan error // one for each batch: nil commits it

	mu      sync.Mutex
	batches [][]int64
}

func newFakeStore() *fakeStore { return &fakeStore{next: make(chan error)} }

// CreatePlants rejects only plants with the ID 13.
func (s *fakeStore) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	var ids []int64
	outcomes := make([]store.Outcome, len(creations))
	for i, c := range creations {
		ids = append(ids, c.Plant.ID)
		outcomes[i].Plant = c.Plant.Plant
		if c.Plant.ID == 13 {
			outcomes[i] = store.Outcome{Err: herb.Invalidf("13 is taken")}
		}
	}
	s.mu.Lock()
	slices.Sort(ids)
	s.batches = append(s.batches, ids)
	s.mu.Unlock()
	// The outcomes that accompany an error must be ignored.
	return outcomes, cmp.Or(<-s.next, ctx.Err())
}

// wantBatches checks the IDs of the plants of each batch.
func (s *fakeStore) wantBatches(t *testing.T, want ...[]int64) {
	t.Helper()
	if diff := gocmp.Diff(want, s.batches); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

// result is the result of a call of Create.
type result struct {
	outcome store.Outcome
	err     error
}

// create calls Create in a goroutine.
func create(ctx context.Context, s *plants.Service, id int64) <-chan result {
	done := make(chan result, 1)
	go func() {
		o, err := s.Create(ctx, store.Creation{Plant: plant(id, "Fern")})
		done <- result{o, err}
	}()
	return done
}

// run starts Run; the returned function ends it and waits for it.
func run(t *testing.T, s *plants.Service) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// running returns a service that runs, and its store.
func running(t *testing.T) (db *fakeStore, s *plants.Service, stop func()) {
	db = newFakeStore()
	s = plants.New(db, plants.Options{})
	return db, s, run(t, s)
}

func wantCreated(t *testing.T, r result) {
	t.Helper()
	if r.err != nil || r.outcome.Err != nil || r.outcome.Plant.Name != "Fern" {
		t.Errorf("not created: %+v", r)
	}
}

func wantCode(t *testing.T, r result, code herb.Code, message string) {
	t.Helper()
	if r.err == nil || herb.CodeOf(r.err) != code || herb.MessageOf(r.err) != message || r.outcome.Plant.Name != "" {
		t.Errorf("got %+v; want %s: %s", r, code, message)
	}
}

func TestService_sharesCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, s, stop := running(t)
		first := create(t.Context(), s, 1)
		synctest.Wait() // it is being committed
		var rest []<-chan result
		for id := range int64(5) {
			rest = append(rest, create(t.Context(), s, 11+id))
		}
		synctest.Wait() // they wait
		select {
		case r := <-first:
			t.Errorf("answered before the commit: %+v", r)
		default:
		}
		db.next <- nil
		wantCreated(t, <-first)
		synctest.Wait()
		db.next <- nil
		for i, c := range rest {
			r := <-c
			if i == 2 { // one bad plant among good ones
				if r.err != nil || herb.CodeOf(r.outcome.Err) != herb.CodeInvalid {
					t.Errorf("plant 13: %+v", r)
				}
				continue
			}
			wantCreated(t, r)
		}
		stop()
		db.wantBatches(t, []int64{1}, []int64{11, 12, 13, 14, 15})
	})
}

func TestService_limitsBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeStore()
		s := plants.New(db, plants.Options{MaxBatch: 2})
		var all []<-chan result
		for id := range int64(5) {
			all = append(all, create(t.Context(), s, id))
			synctest.Wait()
		}
		stop := run(t, s)
		for range 3 {
			db.next <- nil
		}
		for _, c := range all {
			wantCreated(t, <-c)
		}
		stop()
		db.wantBatches(t, []int64{0, 1}, []int64{2, 3}, []int64{4})
	})
}

func TestService_queueFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeStore()
		s := plants.New(db, plants.Options{Queue: 2})
		a, b := create(t.Context(), s, 1), create(t.Context(), s, 2)
		synctest.Wait()
		wantCode(t, <-create(t.Context(), s, 3), herb.CodeUnavailable, "too many plants are being created; try again")
		stop := run(t, s)
		db.next <- nil
		wantCreated(t, <-a)
		wantCreated(t, <-b)
		stop()
	})
}

func TestService_batchFails(t *testing.T) {
	t.Parallel()
	busy := herb.Errorf(herb.CodeUnavailable, "the database is busy; try again")
	tests := []struct {
		name    string
		err     error
		code    herb.Code
		message string
	}{
		{"away", busy, herb.CodeUnavailable, "the database is busy; try again"},
		{"broken", errors.New("disk on fire"), herb.CodeInternal, "internal error"},
		{"confused", herb.Invalidf("no such table"), herb.CodeInternal, "internal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := newFakeStore()
				s := plants.New(db, plants.Options{})
				a, b := create(t.Context(), s, 1), create(t.Context(), s, 13)
				synctest.Wait()
				stop := run(t, s)
				db.next <- tt.err
				for _, r := range []result{<-a, <-b} {
					wantCode(t, r, tt.code, tt.message)
					if !errors.Is(r.err, tt.err) {
						t.Errorf("the cause is lost: %v", r.err)
					}
				}
				next := create(t.Context(), s, 2)
				db.next <- nil
				wantCreated(t, <-next)
				stop()
			})
		})
	}
}

func TestService_callerCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, s, stop := running(t)
		ctx, cancel := context.WithCancel(t.Context())
		leaver := create(ctx, s, 1)
		synctest.Wait() // it is being committed
		stayer := create(t.Context(), s, 2)
		synctest.Wait()
		cancel()
		r := <-leaver
		if herb.CodeOf(r.err) != herb.CodeUnavailable || !errors.Is(r.err, context.Canceled) {
			t.Errorf("got %+v", r)
		}
		db.next <- nil
		db.next <- nil
		wantCreated(t, <-stayer)
		stop()
		db.wantBatches(t, []int64{1}, []int64{2})
		if r := <-create(ctx, s, 3); herb.CodeOf(r.err) != herb.CodeUnavailable {
			t.Errorf("a request that had ended: %+v", r)
		}
	})
}

func TestService_shutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newFakeStore()
		s := plants.New(db, plants.Options{MaxBatch: 2})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		var accepted []<-chan result
		for id := range int64(6) {
			accepted = append(accepted, create(t.Context(), s, id))
			synctest.Wait()
		}
		cancel()
		for range 4 { // the first alone, two, two, and the last
			db.next <- nil
		}
		for _, c := range accepted {
			wantCreated(t, <-c)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		wantCode(t, <-create(t.Context(), s, 9), herb.CodeUnavailable, "the server is shutting down; try again")
		db.wantBatches(t, []int64{0}, []int64{1, 2}, []int64{3, 4}, []int64{5})
	})
}
