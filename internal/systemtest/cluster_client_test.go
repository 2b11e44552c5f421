//go:build linux

package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// listsPrices fails unless a number of records with a price is listed.
func listsPrices(ctx context.Context, base string, records, price int) error {
	p, err := list(ctx, base, dataset, "per_page=100")
	if err != nil {
		return err
	}
	if p.Meta.Total != records || p.Data[0]["price"] != fmt.Sprint(price) {
		return fmt.Errorf("%s lists %d records at %s, want %d at %d", base, p.Meta.Total, p.Data[0]["price"],
			records, price)
	}
	return nil
}

// clients repeat a request until they are stopped.
type clients struct {
	stop  context.CancelFunc
	done  sync.WaitGroup
	count atomic.Int64 // successful requests
}

// run starts clients, which send at most 50 requests a second together: more of them find nothing
// else and take the processors from the nodes. request reports whether it has succeeded.
func (c *clients) run(t *testing.T, request func(context.Context) bool) {
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	pace := rate.NewLimiter(50, 4)
	for range 4 {
		c.done.Go(func() {
			for pace.Wait(ctx) == nil && !t.Failed() {
				if request(ctx) {
					c.count.Add(1)
				}
			}
		})
	}
}

// end stops the clients.
func (c *clients) end() {
	c.stop()
	c.done.Wait()
}

// readers list prices through the proxy until they are stopped. Every listing must succeed and show
// one version: the number of records is a function of their price.
type readers struct{ clients }

func (c *cluster) read(t *testing.T, recordsAt func(price string) int) *readers {
	t.Helper()
	r := &readers{}
	r.run(t, func(ctx context.Context) bool {
		p, err := list(context.WithoutCancel(ctx), c.proxy, dataset, "per_page=100&sort=id")
		if err != nil {
			t.Errorf("a listing failed: %v", err)
			return false
		}
		for _, record := range p.Data {
			if want := recordsAt(record["price"]); p.Meta.Total != want {
				t.Errorf("a listing of %d records has one at %s, of which there are %d", p.Meta.Total,
					record["price"], want)
			}
		}
		return true
	})
	return r
}

// end stops the readers and checks that they have listed something.
func (r *readers) end(t *testing.T) {
	t.Helper()
	r.clients.end()
	if r.count.Load() == 0 {
		t.Error("nothing was listed meanwhile")
	}
	t.Logf("%d listings meanwhile, none failed", r.count.Load())
}

// creators create plants through the proxy until they are stopped. Each request is repeated until
// it is acknowledged.
type creators struct {
	clients
	acknowledged sync.Map     // id → true
	rejected     atomic.Int64 // responses other than 200
}

// ids is the last plant ID that a test has used.
var ids atomic.Int64

func (c *cluster) create(t *testing.T) *creators {
	t.Helper()
	w := &creators{}
	w.run(t, func(ctx context.Context) bool {
		id := ids.Add(1)
		created := w.createOne(t, ctx, c, id)
		if created {
			w.acknowledged.Store(id, true)
		}
		return created
	})
	return w
}

// createOne creates a plant, and reports whether it was acknowledged before ctx was done.
func (w *creators) createOne(t *testing.T, ctx context.Context, c *cluster, id int64) bool {
	body := fmt.Sprintf(`{"id":%d,"name":"plant %d","tag":"load"}`, id, id)
	for {
		a, err := post(context.WithoutCancel(ctx), c.proxy, c.token, body, "Idempotency-Key",
			fmt.Sprintf("load-%d", id))
		switch {
		case err == nil && a.Status == http.StatusOK:
			return true
		case err == nil && a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "":
			t.Errorf("503 without Retry-After: %s", a.Body)
			return false
		case err == nil && a.Status < 500:
			t.Errorf("creating plant %d: %d %s", id, a.Status, a.Body)
			return false
		}
		w.rejected.Add(1)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// waitFor waits until a number of further plants were acknowledged.
func (w *creators) waitFor(t *testing.T, more int64) {
	t.Helper()
	until := w.count.Load() + more
	eventually(t, fmt.Sprintf("%d more plants are created", more), func(context.Context) error {
		if n := w.count.Load(); n < until {
			return fmt.Errorf("%d are missing", until-n)
		}
		return nil
	})
}

// end stops the creators, and checks that every node lists each acknowledged plant exactly once.
func (w *creators) end(t *testing.T, c *cluster) {
	t.Helper()
	w.clients.end()
	for _, n := range c.nodes {
		found, err := plants(t.Context(), n.URL)
		if err != nil {
			t.Error(err)
			continue
		}
		w.acknowledged.Range(func(id, _ any) bool {
			if got := found[fmt.Sprint(id)]; got != 1 {
				t.Errorf("plant %v was acknowledged and is listed %d times by %s", id, got, n.Addr())
			}
			return true
		})
	}
	t.Logf("%d plants acknowledged, %d requests rejected or interrupted", w.count.Load(), w.rejected.Load())
}

// plants returns how many times each ID is listed.
func plants(ctx context.Context, base string) (map[string]int, error) {
	a, err := get(ctx, base+"/api/v1/store/plants/data", "Accept", "application/x-ndjson")
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for line := range strings.Lines(a.Body) {
		var record map[string]string
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			return nil, err
		}
		found[record["id"]]++
	}
	return found, nil
}
