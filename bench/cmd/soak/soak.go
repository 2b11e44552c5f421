//go:build unix

package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/bench/internal/hist"
	"herbarium/bench/internal/load"
	"herbarium/internal/programtest"
)

// token is a key with every scope.
const token = "soak-5d0c1be29f7a4638a2c4e1bb9d02f3a6c5"

// cheapTarget is the cheap listing whose throughput is measured.
const cheapTarget = "/api/v1/soak/records/data?page=3"

// soak is one run.
type soak struct {
	options
	program string
	data    string // folder of the server
	csv     string // file that is published again and again
	server  *programtest.Server
	client  *http.Client
	clients map[string]int // by kind of load
	counts  *counts

	mu           sync.Mutex
	acknowledged []int
	lastID       atomic.Int64
}

// prepare publishes a dataset and starts the server.
func (s *soak) prepare(ctx context.Context, folder string) error {
	s.csv = filepath.Join(folder, "again.csv")
	file := filepath.Join(folder, "records.csv")
	if err := errors.Join(writeRecords(file, s.records), writeRecords(s.csv, s.records/10)); err != nil {
		return err
	}
	for name, path := range map[string]string{"soak/records": file, "soak/again": s.csv} {
		if err := s.publish(ctx, path, name); err != nil {
			return err
		}
	}
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
	return s.start(ctx)
}

// start starts the server.
func (s *soak) start(ctx context.Context) (err error) {
	s.server, err = programtest.Start(ctx, programtest.Options{
		Program:  s.program,
		Settings: []string{"HERBARIUM_DATA=" + s.data, "HERBARIUM_TOKEN=" + token, "HERBARIUM_LOG_LEVEL=error", "HERBARIUM_MEMORY=" + strconv.FormatInt(s.memory, 10)},
		Args:     []string{"--log-level", "info"}, // the address of the metrics is logged
	})
	return err
}

// writeRecords writes a file in which every name and every tag differs, which makes filters expensive.
func writeRecords(path string, n int) error {
	var b strings.Builder
	b.WriteString("id,name,tags,category,text\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,v%06d,\"e%06d, f%06d\",c%d,rose fern moss w%06d %s\n", i, i, i, i, i%7, i, strings.Repeat("oak ", i%20))
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// publish publishes a file with a process of its own, which yields to the server.
func (s *soak) publish(ctx context.Context, path, name string) error {
	out, code, err := programtest.Run(ctx, "nice", []string{"HERBARIUM_DATA=" + s.data}, s.program, "publish", path, "--as", name)
	if err == nil && code != 0 {
		err = fmt.Errorf("publish %s: exit code %d\n%s", name, code, out)
	}
	return err
}

// rate is what cheap listings achieved in all phases of one kind.
type rate struct {
	latency hist.Histogram
	took    time.Duration
	failed  int // connections that ended with another answer than 200
}

func (r *rate) perSecond() float64 { return float64(r.latency.Count()) / r.took.Seconds() }

func (r *rate) add(o rate) {
	r.latency.Merge(&o.latency)
	r.took += o.took
	r.failed += o.failed
}

// list lists cheaply for a time, over connections that are kept. After an answer other than 200 it opens new ones.
func (s *soak) list(ctx context.Context, d time.Duration) (r rate) {
	begin := time.Now()
	for end := begin.Add(d); ctx.Err() == nil && time.Now().Before(end); {
		got, err := load.Run(ctx, load.Options{
			Addrs: []string{s.server.Addr()}, Target: cheapTarget,
			Conns: s.cheap, Duration: time.Until(end),
		})
		if err != nil {
			r.failed++
			s.counts.add("cheap listings", err.Error())
		}
		if got != nil {
			r.latency.Merge(&got.Latency)
		}
	}
	r.took = time.Since(begin)
	return r
}

// rounds is how many times the overload is interrupted to measure the peak. A machine shared with others changes its speed
// within minutes, so a peak measured only at the ends would be compared with another machine.
const rounds = 5

// run alternates between idle phases, in which it measures the peak, and overload; then it looks for lost writes.
func (s *soak) run(ctx context.Context) (r result, err error) {
	phase := max(s.duration/30, 5*time.Second)
	s.list(ctx, phase) // warms up
	idle, err := s.server.Metrics(ctx)
	if err != nil {
		return r, err
	}
	for range rounds {
		r.idle.add(s.list(ctx, phase))
		if r.idle.perSecond() == 0 {
			return r, errors.New("no cheap listing succeeded before the overload")
		}
		s.overloaded(ctx, idle, &r)
		ended := time.Now()
		if err := s.waitUntilRecovered(ctx, idle, r.idle, ended); err != nil {
			return r, err
		}
		r.recovery = max(r.recovery, time.Since(ended))
	}
	r.idle.add(s.list(ctx, phase))
	r.acknowledged, r.missing, err = s.lostWrites(ctx)
	return r, err
}

// overloaded measures cheap listings in one round of overload.
func (s *soak) overloaded(ctx context.Context, idle map[string]float64, r *result) {
	overload, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	s.attack(overload, &wg, idle)
	var most programtest.Memory
	wg.Go(func() { most = programtest.WatchMemory(overload, s.server.PID()) })
	r.overload.add(s.list(ctx, s.duration/rounds))
	stop()
	wg.Wait()
	r.memory = max(r.memory, most.Anon)
}

// waitUntilRecovered waits until the server is ready, idle, and as fast as before.
func (s *soak) waitUntilRecovered(ctx context.Context, idle map[string]float64, peak rate, ended time.Time) error {
	s.client.CloseIdleConnections()
	var reason string
	for time.Since(ended) < 2*mostRecovery && ctx.Err() == nil {
		now, err := s.server.Metrics(ctx)
		if err != nil {
			return err
		}
		body, status, err := s.get(ctx, "/readyz")
		fast := s.list(ctx, time.Second)
		switch before := idle["go_goroutines"]; {
		case err != nil || status != http.StatusOK || strings.Contains(body, "degraded"):
			reason = fmt.Sprintf("/readyz: status %d, %v: %s", status, err, body)
		case now["go_goroutines"] > before+20:
			reason = fmt.Sprintf("%.0f goroutines; before there were %.0f", now["go_goroutines"], before)
		case fast.perSecond() < leastThroughput*peak.perSecond():
			reason = fmt.Sprintf("%.0f cheap listings a second; before there were %.0f", fast.perSecond(), peak.perSecond())
		default:
			return nil
		}
	}
	return fmt.Errorf("the server has not recovered after %s: %s", time.Since(ended).Round(time.Second), reason)
}

// lostWrites kills the server, starts it again and looks for the writes it had acknowledged.
func (s *soak) lostWrites(ctx context.Context) (acknowledged, missing int, err error) {
	s.server.Kill()
	if err := s.start(ctx); err != nil {
		return 0, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+"/api/v1/store/plants/data", nil)
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Accept", "text/csv")
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	rows, err := csv.NewReader(resp.Body).ReadAll()
	if err != nil {
		return 0, 0, err
	}
	found := map[string]bool{}
	for _, row := range rows {
		found[row[0]] = true
	}
	for _, id := range s.acknowledged {
		if !found[strconv.Itoa(id)] {
			missing++
		}
	}
	return len(s.acknowledged), missing, nil
}

// get sends a GET.
func (s *soak) get(ctx context.Context, path string) (body string, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+path, nil)
	if err != nil {
		return "", 0, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), resp.StatusCode, err
}

// slots returns how many requests of a lane the server runs at once; a guess if it does not report it.
func slots(metrics map[string]float64, lane string) int {
	if n, ok := metrics[fmt.Sprintf(`herbarium_lane_slots{lane=%q}`, lane)]; ok && n > 0 {
		return int(n)
	}
	return runtime.NumCPU()
}

// pause waits, but not longer than the context lasts.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
