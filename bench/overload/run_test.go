//go:build unix

package overload

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/load"
	"herbarium/internal/programtest"
)

// token is a key with every scope.
const token = "soak-5d0c1be29f7a4638a2c4e1bb9d02f3a6c5"

// cheapTarget is the cheap listing whose throughput is measured, and cheapClients is the number of its clients.
const (
	cheapTarget  = "/api/v1/soak/records/data?page=3"
	cheapClients = 8
)

// records is the size of the dataset that is listed. The one that is published again has a tenth.
const records = 100_000

// soak is one run.
type soak struct {
	duration time.Duration // of the overload
	overload int           // clients in each lane, as a multiple of its slots

	program string
	data    string // folder of the server
	csv     string // file that is published again and again
	server  *programtest.Server
	client  *http.Client
	clients map[string]int // by kind of load
	lastID  atomic.Int64

	mu           sync.Mutex
	acknowledged []int
	counts       map[string]map[string]int // of outcomes, by kind of load
}

func (s *soak) count(kind, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[kind] == nil {
		s.counts[kind] = map[string]int{}
	}
	s.counts[kind][outcome]++
}

// prepare publishes two datasets and starts the server.
func (s *soak) prepare(ctx context.Context, folder string) error {
	file, err := gen.File(ctx, folder, 1, records)
	if err != nil {
		return err
	}
	if s.csv, err = gen.File(ctx, folder, 1, records/10); err != nil {
		return err
	}
	if err := errors.Join(s.publish(ctx, file, "soak/records"), s.publish(ctx, s.csv, "soak/again")); err != nil {
		return err
	}
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
	return s.start(ctx)
}

// start starts the server.
func (s *soak) start(ctx context.Context) (err error) {
	s.server, err = programtest.Start(ctx, programtest.Options{
		Program:  s.program,
		Settings: []string{"HERBARIUM_DATA=" + s.data, "HERBARIUM_TOKEN=" + token, "HERBARIUM_MEMORY=" + strconv.Itoa(maxMemory)},
		Args:     []string{"--log-level", "info"}, // the address of the metrics is logged
	})
	return err
}

// publish publishes a file with a process of its own, which yields to the server.
func (s *soak) publish(ctx context.Context, path, name string) error {
	out, code, err := programtest.Run(ctx, "nice", []string{"HERBARIUM_DATA=" + s.data}, s.program, "publish", path, "--as", name)
	if err == nil && code != 0 {
		err = fmt.Errorf("publish %s: exit code %d\n%s", name, code, out)
	}
	return err
}

// list lists cheaply for a time, over connections that are kept. After an answer other than 200 it opens new ones.
func (s *soak) list(ctx context.Context, d time.Duration, into *load.Result) (failed int) {
	for end := time.Now().Add(d); ctx.Err() == nil && time.Now().Before(end); {
		got, err := load.Run(ctx, load.Options{
			Addrs: []string{s.server.Addr()}, Target: cheapTarget, Conns: cheapClients, Duration: time.Until(end),
		})
		if err != nil {
			failed++
			s.count("cheap listings", err.Error())
		}
		if got != nil {
			into.Merge(got)
		}
	}
	return failed
}

// rounds is how many times the overload is interrupted to measure the peak. A machine shared with others changes its speed
// within minutes, so a peak measured only at the ends would be compared with another machine.
const rounds = 5

// run alternates between idle phases, in which it measures the peak, and overload; then it searches for lost writes.
func (s *soak) run(ctx context.Context) (r result, err error) {
	phase := max(s.duration/30, 5*time.Second)
	s.list(ctx, phase, &load.Result{}) // warms up
	idle, err := s.server.Metrics(ctx)
	if err != nil {
		return r, err
	}
	for range rounds {
		s.list(ctx, phase, &r.idle)
		if r.idle.Rate() == 0 {
			return r, errors.New("no cheap listing succeeded before the overload")
		}
		s.overloaded(ctx, idle, &r)
		ended := time.Now()
		if err := s.waitUntilRecovered(ctx, idle, r.idle.Rate(), ended); err != nil {
			return r, err
		}
		r.recovery = max(r.recovery, time.Since(ended))
	}
	s.list(ctx, phase, &r.idle)
	r.acknowledged = len(s.acknowledged)
	r.missing, err = s.lostWrites(ctx)
	return r, err
}

// overloaded measures cheap listings in one round of overload.
func (s *soak) overloaded(ctx context.Context, idle map[string]float64, r *result) {
	overload, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	s.attack(overload, &wg, idle)
	var most programtest.Memory
	wg.Go(func() { most = programtest.WatchMemory(overload, s.server.PID()) })
	r.failed += s.list(ctx, s.duration/rounds, &r.overload)
	stop()
	wg.Wait()
	r.memory = max(r.memory, most.Anon)
}

// waitUntilRecovered waits until the server is ready, idle, and as fast as before.
func (s *soak) waitUntilRecovered(ctx context.Context, idle map[string]float64, peak float64, ended time.Time) error {
	s.client.CloseIdleConnections()
	var reason string
	for time.Since(ended) < 2*maxRecovery && ctx.Err() == nil {
		now, err := s.server.Metrics(ctx)
		if err != nil {
			return err
		}
		body, status, err := s.request(ctx, http.MethodGet, "/readyz", "")
		var fast load.Result
		s.list(ctx, time.Second, &fast)
		switch before := idle["go_goroutines"]; {
		case err != nil || status != http.StatusOK || strings.Contains(body, "degraded"):
			reason = fmt.Sprintf("/readyz: status %d, %v: %s", status, err, body)
		case now["go_goroutines"] > before+20:
			reason = fmt.Sprintf("%.0f goroutines; before there were %.0f", now["go_goroutines"], before)
		case fast.Rate() < minThroughput*peak:
			reason = fmt.Sprintf("%.0f cheap listings a second; before there were %.0f", fast.Rate(), peak)
		default:
			return nil
		}
	}
	return fmt.Errorf("the server has not recovered after %s: %s", time.Since(ended).Round(time.Second), reason)
}

// lostWrites kills the server, starts it again and counts the acknowledged writes that are missing.
func (s *soak) lostWrites(ctx context.Context) (missing int, err error) {
	s.server.Kill()
	if err := s.start(ctx); err != nil {
		return 0, err
	}
	body, _, err := s.request(ctx, http.MethodGet, "/api/v1/store/plants/data", "", "Accept", "text/csv")
	if err != nil {
		return 0, err
	}
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	found := map[string]bool{}
	for _, row := range rows {
		found[row[0]] = true
	}
	for _, id := range s.acknowledged {
		if !found[strconv.Itoa(id)] {
			missing++
		}
	}
	return missing, err
}

// request sends a request and reads the response. A request with a body has the token.
func (s *soak) request(ctx context.Context, method, path, body string, headers ...string) (_ string, status int, err error) {
	if body != "" {
		headers = append(headers, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	}
	resp, err := programtest.Send(ctx, s.client, method, s.server.URL+path, body, headers...)
	return resp.Body, resp.Status, err
}
