//go:build unix

package overload

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/internal/programtest"
)

// token is a key with every scope.
const token = "soak-5d0c1be29f7a4638a2c4e1bb9d02f3a6c5"

// cheapTarget is the cheap listing whose throughput is measured, and cheapClients is the number of
// its clients.
const (
	cheapTarget  = "/api/v1/soak/records/data?page=3"
	cheapClients = 8
)

// records is the size of the dataset that is listed. The one that is published again has a tenth.
const records = 100_000

// soak is one run.
type soak struct {
	greedyKey, honestKey string       // keys that may publish
	lastFile             atomic.Int64 // number of the last file of the honest key

	duration time.Duration // of the overload
	overload int           // clients in each lane, as a multiple of its slots
	memory   int64         // of the server

	program     string
	data        string            // folder of the server
	files       map[string]string // of the datasets
	server      *programtest.Server
	separate    bool // clients have addresses of their own
	slowTargets map[string]string
	clients     map[string]int // by kind of load
	lastID      atomic.Int64

	client, greedy, honest *http.Client // by address

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

// prepare publishes the datasets and starts the server.
func (s *soak) prepare(ctx context.Context, folder string) (err error) {
	s.files, err = writeDatasets(ctx, folder)
	if err != nil {
		return err
	}
	for name, path := range s.files {
		if err := s.publish(ctx, path, name); err != nil {
			return err
		}
	}
	s.greedyKey, err = s.createKey(ctx, "greedy")
	if err != nil {
		return err
	}
	s.honestKey, err = s.createKey(ctx, "honest")
	if err != nil {
		return err
	}
	s.setClients()
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.findSlowTargets(ctx)
}

// start starts the server with a hard limit of twice its memory: the kernel refuses more private
// memory, and the process dies. Systems other than Linux do not enforce it.
func (s *soak) start(ctx context.Context) (err error) {
	s.server, err = programtest.Start(ctx, programtest.Options{
		Program: s.program,
		Settings: []string{"HERBARIUM_DATA=" + s.data, "HERBARIUM_TOKEN=" + token, "HERBARIUM_MEMORY=" +
			strconv.FormatInt(s.memory, 10)},
		Args:  []string{"--log-level", "info"}, // the address of the metrics is logged
		Shell: fmt.Sprintf("ulimit -d %d", 2*s.memory>>10),
	})
	return err
}

// publish publishes a file with a process of its own, which yields to the server.
func (s *soak) publish(ctx context.Context, path, name string) error {
	out, code, err := programtest.Run(ctx, "nice", []string{"HERBARIUM_DATA=" + s.data}, s.program, "publish", path,
		"--as", name)
	if err == nil && code != 0 {
		err = fmt.Errorf("publish %s: exit code %d\n%s", name, code, out)
	}
	return err
}

// turn is what was measured of cheap listings in one turn, idle or overloaded.
type turn struct {
	load.Result
	cpu    time.Duration // of the server, for everything; 0 if it is unknown
	failed int           // connections that ended with another answer than 200
}

// list lists cheaply for a time, over connections that are kept. After an answer other than 200 it
// opens new ones.
func (s *soak) list(ctx context.Context, d time.Duration) (t turn) {
	before, _ := programtest.CPU(s.server.PID()) // needs Linux
	for end := time.Now().Add(d); ctx.Err() == nil && time.Now().Before(end); {
		got, err := load.Run(ctx, load.Options{
			Addrs: []string{s.server.Addr()}, Target: cheapTarget, Conns: cheapClients, Duration: time.Until(end),
		})
		if err != nil {
			t.failed++
			s.count("cheap listings", err.Error())
			pause(ctx, rejectedPause)
		}
		if got != nil {
			t.Merge(got)
		}
	}
	after, _ := programtest.CPU(s.server.PID())
	t.cpu = after - before
	return t
}

// perCPU returns the number of cheap listings per second of processor time of the server, or 0 if
// that is unknown.
func (t *turn) perCPU() float64 {
	if t.cpu == 0 {
		return 0
	}
	return float64(t.Requests()) / t.cpu.Seconds()
}

// rounds is the number of turns of overload, each between two idle ones. A machine shared with
// others changes its speed within minutes, so a turn is only compared with those before and after
// it.
const rounds = 6

// run alternates between idle and overloaded turns; then it searches for lost writes.
func (s *soak) run(ctx context.Context) (r result, err error) {
	idleTime := max(s.duration/30, 3*time.Second)
	s.list(ctx, idleTime) // warms up
	metrics, err := s.server.Metrics(ctx)
	if err != nil {
		return r, err
	}
	others := s.others()
	r.idle = append(r.idle, s.list(ctx, idleTime))
	for range rounds {
		s.overloaded(ctx, metrics, &r)
		if !s.server.Running() {
			return r, errors.New("the server has ended")
		}
		ended := time.Now()
		if err := s.waitUntilRecovered(ctx, metrics, r.idle[0].perCPU(), ended); err != nil {
			return r, err
		}
		r.recovery = max(r.recovery, time.Since(ended))
		r.idle = append(r.idle, s.list(ctx, idleTime))
	}
	r.others = others()
	r.acknowledged = len(s.acknowledged)
	r.missing, err = s.lostWrites(ctx)
	return r, err
}

// others returns a function that returns the share of the machine's processors that other processes
// have taken since: neither the server nor its clients. It is 0 if that is unknown.
func (s *soak) others() func() float64 {
	measure := func() (others, available time.Duration) {
		used, available, _ := programtest.MachineCPU() // needs Linux, like the others
		server, _ := programtest.CPU(s.server.PID())
		clients, _ := programtest.CPU(os.Getpid())
		return used - server - clients, available
	}
	usedBefore, availableBefore := measure()
	return func() float64 {
		used, available := measure()
		return float64(used-usedBefore) / float64(max(1, available-availableBefore))
	}
}

// overloaded measures cheap listings in one turn of overload, after all clients have arrived.
func (s *soak) overloaded(ctx context.Context, metrics map[string]float64, r *result) {
	overload, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	ramp := s.duration / rounds / 4
	s.attack(overload, &wg, metrics, ramp)
	var most programtest.Memory
	wg.Go(func() { most = programtest.WatchMemory(overload, s.server.PID()) })
	failed := s.list(ctx, ramp).failed
	r.overload = append(r.overload, s.list(ctx, s.duration/rounds))
	r.overload[len(r.overload)-1].failed += failed
	stop()
	wg.Wait()
	r.memory = max(r.memory, most.Anon)
}

// waitUntilRecovered waits until the server is ready, idle, and a cheap listing takes as little
// processor time as before.
func (s *soak) waitUntilRecovered(ctx context.Context, before map[string]float64, perCPU float64,
	ended time.Time) error {
	for _, c := range []*http.Client{s.client, s.greedy, s.honest} {
		c.CloseIdleConnections()
	}
	var reason string
	for time.Since(ended) < 2*maxRecovery && ctx.Err() == nil {
		now, err := s.server.Metrics(ctx)
		if err != nil {
			return err
		}
		body, status, err := s.request(ctx, s.client, http.MethodGet, "/readyz", "")
		listed := s.list(ctx, time.Second)
		switch goroutines := before["go_goroutines"]; {
		case err != nil || status != http.StatusOK || strings.Contains(body, "degraded"):
			reason = fmt.Sprintf("/readyz: status %d, %v: %s", status, err, body)
		case now["go_goroutines"] > goroutines+20:
			reason = fmt.Sprintf("%.0f goroutines; before there were %.0f", now["go_goroutines"], goroutines)
		case listed.perCPU() < recovered*perCPU:
			reason = fmt.Sprintf("%.0f cheap listings per second of processor time; before there were %.0f",
				listed.perCPU(), perCPU)
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
	body, _, err := s.request(ctx, s.client, http.MethodGet, "/api/v1/store/plants/data", "", "Accept", "text/csv")
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
