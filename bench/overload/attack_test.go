//go:build unix

package overload

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"herbarium/bench/gen"
)

// maxClients limits the clients of a kind: they share the machine with the server.
const maxClients = 128

// rejectedPause is how long a rejected client waits. It is shorter than Retry-After, which these clients ignore.
const rejectedPause = 200 * time.Millisecond

// attack starts the clients of every kind. They end with the context.
func (s *soak) attack(ctx context.Context, wg *sync.WaitGroup, metrics map[string]float64) {
	times := func(lane string) int {
		slots := int(metrics[fmt.Sprintf(`herbarium_lane_slots{lane=%q}`, lane)])
		if slots == 0 {
			slots = runtime.NumCPU()
		}
		return min(s.overload*slots, maxClients)
	}
	s.clients = map[string]int{}
	for _, load := range []struct {
		kind    string
		clients int
		pause   time.Duration
		act     func(ctx context.Context, client int) (outcome string)
	}{
		{"expensive queries", times("expensive"), 0, s.expensive},
		{"expensive queries, clients disconnect", times("expensive"), 0, s.disconnect},
		{"exports", min(s.overload, times("export")), rejectedPause, func(ctx context.Context, _ int) string { return s.export(ctx, 0) }},
		{"exports, slow readers", times("export"), rejectedPause, func(ctx context.Context, _ int) string {
			return s.export(ctx, 100*time.Millisecond)
		}},
		{"half-open connections", 4 * maxClients, rejectedPause, s.halfOpen},
		{"writes", s.overload, 50 * time.Millisecond, s.write}, // few, because they are only created to be searched for at the end
		{"publishes", 1, 30 * time.Second, s.publishAgain},
	} {
		s.clients[load.kind] = load.clients
		for i := range load.clients {
			wg.Go(func() {
				for ctx.Err() == nil {
					outcome := load.act(ctx, i)
					s.count(load.kind, outcome)
					wait := load.pause
					if outcome != "200" {
						wait = max(wait, rejectedPause)
					}
					pause(ctx, wait)
				}
			})
		}
	}
}

// expensive sends one of the queries that still scan many records or values: each takes several milliseconds of processor time. They
// request different pages and values.
func (s *soak) expensive(ctx context.Context, _ int) string {
	i := rand.IntN(1000)
	prefixes := url.QueryEscape("b* d* s* t*")
	queries := []string{
		fmt.Sprintf("data?search=%s&page=%d", prefixes, 100+i),
		fmt.Sprintf("facets?field=title&_values=a%c", 'a'+i%26),
		fmt.Sprintf("facets?field=title&_values=o%c&category=annual", 'a'+i%26),
		fmt.Sprintf("data?search=%s&page=%d", url.QueryEscape("b* t*"), 100+i),
		fmt.Sprintf("grid?_x=id&_y=price&_bounds=0,0,%d,%d&search=%s", records+i, 100+i, gen.CommonWord),
	}
	_, status, err := s.request(ctx, http.MethodGet, "/api/v1/soak/records/"+queries[i%len(queries)], "")
	return outcome(ctx, status, err)
}

// disconnect sends an expensive query and disconnects.
func (s *soak) disconnect(ctx context.Context, i int) string {
	limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	outcome := s.expensive(limited, i)
	if limited.Err() != nil {
		return "left"
	}
	return outcome
}

// export reads an export, 16 KiB at a time, with a pause before each.
func (s *soak) export(ctx context.Context, wait time.Duration) string {
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
func (s *soak) halfOpen(ctx context.Context, _ int) string {
	conn, err := s.dial(ctx, "POST /datasets/soak/records/key HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nkey=")
	if err != nil {
		return outcome(ctx, 0, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_, _ = io.Copy(io.Discard, conn) // the server may end it in any way
	return "closed"
}

// write creates a plant.
func (s *soak) write(ctx context.Context, _ int) string {
	id := int(s.lastID.Add(1))
	body := fmt.Sprintf(`{"id":%d,"name":"Rose s%d t%d b%d"}`, id, id, id, id)
	// A write is never canceled, because it must be known whether it was acknowledged.
	_, status, err := s.request(context.WithoutCancel(ctx), http.MethodPost, "/plants", body)
	if err == nil && status == http.StatusOK {
		s.mu.Lock()
		s.acknowledged = append(s.acknowledged, id)
		s.mu.Unlock()
	}
	return outcome(ctx, status, err)
}

// publishAgain publishes a dataset again.
func (s *soak) publishAgain(ctx context.Context, _ int) string {
	if err := s.publish(ctx, s.csv, "soak/again"); err != nil && ctx.Err() == nil {
		return err.Error()
	}
	return "published"
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

// outcome names the result of a request.
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

// pause waits, but not longer than the context lasts.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
