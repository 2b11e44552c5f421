package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/pgtest"
	"herbarium/internal/store/postgres"
)

// TestStandby uses a store with a primary and a synchronous standby, and injects faults, the worst
// last.
func TestStandby(t *testing.T) {
	t.Parallel()
	primary := new(pgtest.Cluster)
	stopAfter(t, primary)
	address := primary.Database(t)
	standby := primary.Standby(t)
	s := open(t, standby.Both(address), postgres.Options{Timeout: 2 * time.Second})
	must.NoError(t, created(s.CreatePlants(t.Context(), []store.Creation{plant(1, "Fern", "", "")})))
	t.Run("read-only", func(t *testing.T) { testReadOnly(t, standby.Alone(address)) })
	t.Run("frozen", func(t *testing.T) { testFrozen(t, primary, s, standby.Both(address)) })
	t.Run("killed", func(t *testing.T) { testKilled(t, primary, standby, s, standby.Alone(address)) })
}

// testReadOnly opens the standby alone: reads work, and the error of a write names the remedy.
func testReadOnly(t *testing.T, address string) {
	s := openLater(t, address, postgres.Options{RetryBudget: 20 * time.Millisecond})
	for s.Migrate(t.Context()) != nil || len(list(t, s)) == 0 { // until the standby has caught up
	}
	_, err := s.CreatePlants(t.Context(), []store.Creation{plant(2, "Rose", "", "")})
	if herb.CodeOf(err) != herb.CodeUnavailable ||
		!strings.Contains(herb.MessageOf(err), "target_session_attrs=read-write") {
		t.Errorf("got %v", err)
	}
}

// testFrozen suspends the primary for a while. Every call returns, and the same store works again
// afterwards.
func testFrozen(t *testing.T, primary *pgtest.Cluster, s *postgres.Store, address string) {
	ctx := t.Context()
	late := openLater(t, address, postgres.Options{Timeout: time.Second})
	calls := map[string]func() error{
		"CreatePlants": func() error {
			return created(s.CreatePlants(ctx, []store.Creation{plant(2, "Rose", "", "")}))
		},
		"List":      func() error { _, err := s.ReadPlants(ctx, 0, 1); return err },
		"Keys":      func() error { _, err := s.Keys(ctx); return err },
		"AddKey":    func() error { return s.AddKey(ctx, herb.Key{ID: "ann"}) },
		"Ping":      func() error { return s.Ping(ctx) },
		"first use": func() error { return late.Ping(ctx) },
		"Migrate":   func() error { return late.Migrate(ctx) },
	}
	must.NoError(t, calls["Keys"]()) // a connection is open
	primary.Freeze(t)
	var wg sync.WaitGroup
	for name, call := range calls {
		wg.Go(func() {
			if err := call(); herb.CodeOf(err) != herb.CodeUnavailable {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
	wg.Wait()
	if err := s.Available(); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("Available: got %v", err)
	}
	primary.Thaw(t)
	must.NoError(t, s.Ping(ctx)) // as a server does periodically; until then other calls fail fast
	must.NoError(t, s.Available())
	for name, call := range calls {
		// CodeInvalid: an earlier attempt succeeded
		if err := call(); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s, afterwards: %v", name, err)
		}
	}
	wantTotal(t, s, 2)
}

// testKilled kills the primary while plants are created and promotes the standby. Creation resumes
// by itself; no acknowledged plant is missing, and no plant exists whose creation was reported as
// failed.
func testKilled(t *testing.T, primary *pgtest.Cluster, standby *pgtest.Standby, s *postgres.Store, alone string) {
	const creators, before, after = 4, 30, 10
	var wg, started sync.WaitGroup
	started.Add(creators)
	acknowledged := make([][]string, creators)
	promoted := make(chan struct{})
	for creator := range creators {
		wg.Go(func() {
			begun := sync.OnceFunc(started.Done)
			defer begun()
			for i, later := 0, 0; later < after; i++ {
				id := int64(1_000_000*(creator+1) + i) // one may create thousands until the other has started
				name := fmt.Sprintf("Plant %d", id)
				if !createOnce(t, s, plant(id, name, "", "")) {
					return
				}
				acknowledged[creator] = append(acknowledged[creator], name)
				if i+1 == before {
					begun()
				}
				select {
				case <-promoted:
					later++
				default:
				}
			}
		})
	}
	started.Wait()
	primary.Kill(t)
	standby.Promote(t)
	close(promoted)
	wg.Wait()
	var plants, numbers, last int
	must.NoError(t, connect(t, alone).QueryRow(t.Context(),
		"SELECT (SELECT plants FROM totals), count(DISTINCT seq), max(seq) FROM plants").Scan(&plants, &numbers, &last))
	if plants != numbers || last != numbers {
		t.Errorf("there are %d plants, with %d numbers up to %d", plants, numbers, last)
	}
	all := strings.Join(list(t, s), "\n")
	for _, names := range acknowledged {
		for _, name := range names {
			if n := strings.Count(all, " "+name+" "); n != 1 {
				t.Errorf("%s was acknowledged and is there %d times", name, n)
			}
		}
	}
}

// createOnce repeats the creation of a plant until it succeeds, as a client does. It reports
// whether all responses were correct.
func createOnce(t *testing.T, s *postgres.Store, c store.Creation) bool {
	uncertain := false
	for {
		outcomes, err := s.CreatePlants(context.Background(), []store.Creation{c})
		switch {
		case err == nil && outcomes[0].Err != nil && !uncertain:
			t.Errorf("plant %d exists although its creation was not acknowledged: %v", c.Plant.ID, outcomes[0].Err)
			return false
		case err == nil:
			return true
		case herb.CodeOf(err) != herb.CodeUnavailable:
			t.Errorf("plant %d: %v", c.Plant.ID, err)
			return false
		case strings.Contains(herb.MessageOf(err), "may or may not"):
			uncertain = true
		}
	}
}
