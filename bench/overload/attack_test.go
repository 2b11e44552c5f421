//go:build unix

package overload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"herbarium/bench/gen"
)

// maxClients limits the clients of a kind: they share the machine with the server.
const maxClients = 128

// How long clients wait after a request. It is shorter than Retry-After, which they ignore.
const (
	rejectedPause = 200 * time.Millisecond // if it was rejected
	// if it was to hold memory or a slot: the more often it is repeated, the less it holds
	holdingPause = 3 * time.Second
)

// kind is a kind of load.
type kind struct {
	name    string
	clients int
	pause   time.Duration
	act     func(ctx context.Context, client int) (outcome string)
}

// attack starts the clients of every kind within some time. They end with the context.
func (s *soak) attack(ctx context.Context, wg *sync.WaitGroup, metrics map[string]float64, ramp time.Duration) {
	times := func(lane string) int {
		slots := int(metrics[fmt.Sprintf(`herbarium_lane_slots{lane=%q}`, lane)])
		if slots == 0 {
			slots = runtime.NumCPU()
		}
		return min(s.overload*slots, maxClients)
	}
	kinds := []kind{
		{"expensive queries", times("expensive"), 0, s.expensive},
		{"expensive queries, clients disconnect", times("expensive"), 0, s.disconnect},
		{"searches of long texts", 20, 0, s.searchLongTexts},
		{"headers of workbooks", s.overload, rejectedPause, s.headOfWorkbook},
		{"Parquet files and comparisons", maxClients, holdingPause, s.background},
		{"exports", min(s.overload, times("bulk")), rejectedPause, func(ctx context.Context, _ int) string {
			return s.readSlowly(ctx, "/api/v1/soak/records/data.csv", 0)
		}},
		{"exports, slow readers", times("bulk"), rejectedPause, func(ctx context.Context, _ int) string {
			return s.readSlowly(ctx, "/api/v1/soak/records/data.csv", 100*time.Millisecond)
		}},
		{"half-sent forms", 4 * maxClients, holdingPause, s.halfSentForm},
		{"half-sent plants", 4 * maxClients, holdingPause, s.halfSentPlant},
		// few, because they are only created to be searched for at the end
		{"writes", s.overload, 50 * time.Millisecond, s.write},
		{"publishes", 1, 30 * time.Second, s.publishAgain},
		{"checks of a greedy key", 64, rejectedPause, s.check},
		{"stalled uploads of a greedy key", 64, holdingPause, s.stalledUpload},
		{honestKind + "publish with another key", 1, time.Second, s.publishHonestly},
	}
	for name, target := range s.slowTargets {
		kinds = append(kinds, kind{"idle readers: " + name, 16 * s.overload, holdingPause,
			func(ctx context.Context, _ int) string {
				return s.readSlowly(ctx, target, time.Hour)
			}})
	}
	if s.separate {
		for name, target := range honestTargets() {
			kinds = append(kinds, kind{honestKind + name, 1, rejectedPause, func(ctx context.Context, _ int) string {
				status, err := s.get(ctx, s.honest, target)
				return outcome(ctx, status, err)
			}})
		}
	}
	s.clients = map[string]int{}
	for _, k := range kinds {
		s.clients[k.name] = k.clients
		for i := range k.clients {
			wg.Go(func() {
				pause(ctx, rand.N(ramp)) // clients do not arrive in the same millisecond
				for ctx.Err() == nil {
					outcome := k.act(ctx, i)
					s.count(k.name, outcome)
					wait := k.pause
					if outcome != "200" {
						wait = max(wait, rejectedPause)
					}
					pause(ctx, wait)
				}
			})
		}
	}
}

// honestKind begins the names of the kinds of the honest client, which sends one request of each at
// a time.
const honestKind = "honest client: "

// honestTargets returns what the honest client requests, by kind: one request of each lane.
func honestTargets() map[string]string {
	return map[string]string{
		"export":          "/api/v1/soak/again/data.csv?category=annual",
		"large listing":   "/api/v1/soak/large/data?per_page=2",
		"page":            "/datasets/soak/records",
		"expensive query": "/api/v1/soak/long/data?search=" + url.QueryEscape("a1* b2*"),
	}
}

// findSlowTargets sets a target for every kind of response whose body the server buffers or
// streams.
func (s *soak) findSlowTargets(ctx context.Context) error {
	asset, err := s.findAsset(ctx, "swagger-ui-bundle.js")
	s.slowTargets = map[string]string{
		"listing":         "/api/v1/soak/records/data?per_page=100",
		"large listing":   "/api/v1/soak/large/data?per_page=100",
		"selected fields": "/api/v1/soak/large/data?per_page=100&_fields=shape",
		"facets":          "/api/v1/soak/large/facets?field=shape&top=100",
		"grid": fmt.Sprintf(
			"/api/v1/soak/records/grid?_x=id&_y=price&_bounds=0,0,%d,200&_columns=256&_rows=256", records),
		"description": "/api/v1/soak/wide",
		"table":       "/datasets/soak/large?per_page=100",
		"front page":  "/",
		"static file": asset,
	}
	return err
}

// expensive sends one of the queries that still scan many records or values: each takes several
// milliseconds of processor time. They request different pages and values.
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
	status, err := s.get(ctx, s.greedy, "/api/v1/soak/records/"+queries[i%len(queries)])
	return outcome(ctx, status, err)
}

// searchLongTexts searches a small dataset of long texts.
func (s *soak) searchLongTexts(ctx context.Context, _ int) string {
	status, err := s.get(ctx, s.greedy, fmt.Sprintf("/api/v1/soak/long/data?search=%s&page=%d",
		url.QueryEscape("a* b*"), 1+rand.IntN(50)))
	return outcome(ctx, status, err)
}

// headOfWorkbook requests the headers of an Excel file whose records have to be read, because some
// are long.
func (s *soak) headOfWorkbook(ctx context.Context, _ int) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.server.URL+"/api/v1/soak/large/data.xlsx",
		http.NoBody)
	if err != nil {
		return err.Error()
	}
	resp, err := s.greedy.Do(req)
	if err != nil {
		return outcome(ctx, 0, err)
	}
	resp.Body.Close()
	if resp.StatusCode == http.StatusBadRequest { // a cell cannot hold a megabyte
		return "200"
	}
	return outcome(ctx, resp.StatusCode, nil)
}

// background requests what is built in the background, of all kept versions.
func (s *soak) background(ctx context.Context, i int) string {
	var list struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	}
	body, status, err := s.request(ctx, s.greedy, http.MethodGet, "/api/v1/soak/again/versions", "")
	if err != nil || status != http.StatusOK {
		return outcome(ctx, status, err)
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Versions) == 0 {
		return "no versions: " + body
	}
	from, to := list.Versions[i%len(list.Versions)].Version, list.Versions[i/2%len(list.Versions)].Version
	target := "/api/v1/soak/again/data.parquet?_types=text&_version=" + from
	if i%2 == 0 {
		target = "/api/v1/soak/again/changes?_from=" + from + "&_to=" + to
	}
	status, err = s.get(ctx, s.greedy, target)
	if status == http.StatusGone { // it is not kept any more
		return "200"
	}
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

// readSlowly reads a response, 16 KiB at a time, with a pause before each. It returns the status
// when the server ends the response or closes the connection.
func (s *soak) readSlowly(ctx context.Context, target string, wait time.Duration) string {
	conn, err := s.dial(ctx, "GET "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if err != nil {
		return outcome(ctx, 0, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	buf := make([]byte, 16<<10)
	if _, err := io.ReadAtLeast(conn, buf[:1<<10], len("HTTP/1.1 200")); err != nil {
		return outcome(ctx, 0, err)
	}
	status := string(buf[len("HTTP/1.1 "):len("HTTP/1.1 200")])
	if status != "200" {
		return status
	}
	for err == nil {
		pause(ctx, wait)
		_, err = conn.Read(buf)
	}
	if err != io.EOF && ctx.Err() == nil {
		return outcome(ctx, 0, err)
	}
	return status
}

// halfSentForm sends half of a form, and holds the connection until the server closes it.
func (s *soak) halfSentForm(ctx context.Context, _ int) string {
	return s.hold(ctx, "POST /datasets/soak/records/key HTTP/1.1\r\nHost: x\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nkey=")
}

// halfSentPlant sends half of the largest plant, and holds the connection until the server closes
// it.
func (s *soak) halfSentPlant(ctx context.Context, _ int) string {
	const size = 1 << 20
	return s.hold(ctx, fmt.Sprintf("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\n"+
		"Content-Length: %d\r\n\r\n%*s", token, size, size/2, `{"id":1,"name":"`))
}

// hold sends a part of a request, and holds the connection until the server closes it.
func (s *soak) hold(ctx context.Context, part string) string {
	conn, err := s.dial(ctx, part)
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
	_, status, err := s.request(context.WithoutCancel(ctx), s.client, http.MethodPost, "/plants", body)
	if err == nil && status == http.StatusOK {
		s.mu.Lock()
		s.acknowledged = append(s.acknowledged, id)
		s.mu.Unlock()
	}
	return outcome(ctx, status, err)
}

// publishAgain publishes a dataset again.
func (s *soak) publishAgain(ctx context.Context, _ int) string {
	if err := s.publish(ctx, s.files["soak/again"], "soak/again"); err != nil && ctx.Err() == nil {
		return err.Error()
	}
	return "published"
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
