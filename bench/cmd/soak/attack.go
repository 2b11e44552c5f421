//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The kinds of load.
const (
	kindExpensive = "expensive queries"
	kindLeaving   = "expensive queries, clients disconnect"
	kindExports   = "exports"
	kindSlow      = "exports, slow readers"
	kindHalfOpen  = "half-open connections"
	kindWrites    = "writes"
	kindPublishes = "publishes"
)

// kinds lists the kinds of load.
func kinds() []string {
	return []string{kindExpensive, kindLeaving, kindExports, kindSlow, kindHalfOpen, kindWrites, kindPublishes}
}

// mostClients limits the clients of a kind: they share the machine with the server.
const mostClients = 128

// rejectedPause is how long a client waits that was rejected. Retry-After asks for longer; these clients are impatient.
const rejectedPause = 200 * time.Millisecond

// publishPause is how long a publisher waits between two publishes.
const publishPause = 30 * time.Second

// writePause is how long a writer waits between two writes. They are there to be looked for in the end, not to be a load.
const writePause = 50 * time.Millisecond

// attack starts the clients of every kind. They end with the context.
func (s *soak) attack(ctx context.Context, wg *sync.WaitGroup, metrics map[string]float64) {
	times := func(lane string) int { return min(s.overload*slots(metrics, lane), mostClients) }
	s.clients = map[string]int{
		kindExpensive: times("expensive"), kindLeaving: times("expensive"),
		kindExports: min(s.overload, times("export")), kindSlow: times("export"),
		kindHalfOpen: 4 * mostClients, kindWrites: s.overload, kindPublishes: 1,
	}
	act := map[string]func(context.Context, int){
		kindExpensive: s.expensive, kindLeaving: s.leaving, kindExports: s.export, kindSlow: s.slowExport,
		kindHalfOpen: s.halfOpen, kindWrites: s.write, kindPublishes: s.publishAgain,
	}
	for kind, n := range s.clients {
		if s.only != "" && s.only != kind && kind != kindWrites { // writes are needed to look for lost ones
			continue
		}
		for i := range n {
			wg.Go(func() {
				for ctx.Err() == nil {
					act[kind](ctx, i)
				}
			})
		}
	}
}

// expensiveQuery returns one of the queries that take the longest.
func expensiveQuery(i int) string {
	queries := []string{
		"/api/v1/soak/records/data?name%5Bprefix%5D=v", "/api/v1/soak/records/data?tags%5Bgte%5D=a",
		"/api/v1/soak/records/facets?field=name&field=tags", "/api/v1/soak/records/data?search=" + url.QueryEscape("w* v* rose"),
		"/api/v1/store/plants/data?search=" + url.QueryEscape("r* s* t* b*"), "/api/v1/soak/records/data?sort=name&tags%5Blt%5D=f",
	}
	return queries[i%len(queries)]
}

// expensive sends an expensive query and waits for the answer.
func (s *soak) expensive(ctx context.Context, i int) {
	_, status, err := s.get(ctx, expensiveQuery(i))
	s.answered(ctx, kindExpensive, status, err)
}

// leaving sends an expensive query and disconnects.
func (s *soak) leaving(ctx context.Context, i int) {
	limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, status, err := s.get(limited, expensiveQuery(i))
	if limited.Err() != nil {
		s.counts.add(kindLeaving, "left")
		pause(ctx, rejectedPause)
		return
	}
	s.answered(ctx, kindLeaving, status, err)
}

// export reads an export as fast as it comes.
func (s *soak) export(ctx context.Context, _ int) {
	s.counts.add(kindExports, s.readExport(ctx, 0))
	pause(ctx, rejectedPause)
}

// slowExport reads an export slowly.
func (s *soak) slowExport(ctx context.Context, _ int) {
	s.counts.add(kindSlow, s.readExport(ctx, 100*time.Millisecond))
	pause(ctx, rejectedPause)
}

// readExport reads an export, 16 KiB at a time, and returns what became of it.
func (s *soak) readExport(ctx context.Context, wait time.Duration) string {
	conn, err := s.dial(ctx, "GET /api/v1/soak/records/data HTTP/1.1\r\nHost: x\r\nAccept: text/csv\r\nConnection: close\r\n\r\n")
	if err != nil {
		return outcome(ctx, 0, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	buf := make([]byte, 16<<10)
	if _, err := io.ReadAtLeast(conn, buf, len("HTTP/1.1 200")); err != nil {
		return outcome(ctx, 0, err)
	}
	status := string(buf[len("HTTP/1.1 "):len("HTTP/1.1 200")])
	for err == nil {
		pause(ctx, wait)
		_, err = conn.Read(buf)
	}
	if err != io.EOF && ctx.Err() == nil {
		return outcome(ctx, 0, err)
	}
	return status
}

// halfOpen sends half of a form, and holds the connection until the server closes it.
func (s *soak) halfOpen(ctx context.Context, _ int) {
	conn, err := s.dial(ctx, "POST /datasets/soak/records/key HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nkey=")
	if err != nil {
		s.counts.add(kindHalfOpen, outcome(ctx, 0, err))
		pause(ctx, rejectedPause)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_, _ = io.Copy(io.Discard, conn) // how the server ends it is up to the server
	s.counts.add(kindHalfOpen, "closed")
	pause(ctx, rejectedPause)
}

// write creates a plant.
func (s *soak) write(ctx context.Context, _ int) {
	id := int(s.lastID.Add(1))
	body := fmt.Sprintf(`{"id":%d,"name":"Rose s%d t%d b%d"}`, id, id, id, id)
	// A write that was sent is waited for: whether it is acknowledged must be known.
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, s.server.URL+"/plants", strings.NewReader(body))
	if err != nil {
		s.counts.add(kindWrites, err.Error())
		return
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		s.answered(ctx, kindWrites, 0, err)
		return
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK {
		s.mu.Lock()
		s.acknowledged = append(s.acknowledged, id)
		s.mu.Unlock()
	}
	s.answered(ctx, kindWrites, resp.StatusCode, err)
	pause(ctx, writePause)
}

// publishAgain publishes a dataset again.
func (s *soak) publishAgain(ctx context.Context, _ int) {
	if err := s.publish(ctx, s.csv, "soak/again"); err != nil && ctx.Err() == nil {
		s.counts.add(kindPublishes, err.Error())
	} else {
		s.counts.add(kindPublishes, "published")
	}
	pause(ctx, publishPause)
}

// dial opens a connection and sends bytes on it.
func (s *soak) dial(ctx context.Context, send string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.server.Addr())
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, send); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// answered counts an answer, and waits a little after a rejection.
func (s *soak) answered(ctx context.Context, kind string, status int, err error) {
	s.counts.add(kind, outcome(ctx, status, err))
	if err != nil || status != http.StatusOK {
		pause(ctx, rejectedPause)
	}
}

// outcome names what became of a request.
func outcome(ctx context.Context, status int, err error) string {
	switch {
	case ctx.Err() != nil:
		return "ended"
	case err != nil:
		return "connection closed"
	default:
		return fmt.Sprint(status)
	}
}

// counts counts outcomes by kind of load. It is safe for concurrent use.
type counts struct {
	mu sync.Mutex
	m  map[string]map[string]int
}

func newCounts() *counts { return &counts{m: map[string]map[string]int{}} }

func (c *counts) add(kind, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m[kind] == nil {
		c.m[kind] = map[string]int{}
	}
	c.m[kind][outcome]++
}

// kinds returns the kinds that have outcomes, in order.
func (c *counts) kinds() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.m))
}

// of returns the outcomes of a kind.
func (c *counts) of(kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, o := range slices.Sorted(maps.Keys(c.m[kind])) {
		out = append(out, fmt.Sprintf("%s: %d", o, c.m[kind][o]))
	}
	return strings.Join(out, ", ")
}

// unexpected returns outcomes that no load excuses.
func (c *counts) unexpected() string {
	expected := []string{"200", "429", "503", "ended", "closed", "connection closed", "left", "published"}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for kind, outcomes := range c.m {
		for o, n := range outcomes {
			if !slices.Contains(expected, o) {
				out = append(out, fmt.Sprintf("%s: %s (%d)", kind, o, n))
			}
		}
	}
	if len(out) == 0 {
		return "none"
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
