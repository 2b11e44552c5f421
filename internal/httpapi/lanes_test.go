package httpapi_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
)

// idleAddr returns the address of a client that holds slots.
func idleAddr() netip.Addr { return netip.MustParseAddr("192.0.2.77") }

// taken returns the lanes of which slots are taken.
func taken(c *admission.Controller) (all []admission.Lane) {
	for _, l := range admission.Lanes() {
		if c.InFlight(l) > 0 {
			all = append(all, l)
		}
	}
	return all
}

// TestCosts checks that every route that changes something or receives files declares it.
func TestCosts(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) {
		o.Publishing, o.Agents = &publishing.Services{}, true
		o.Pages = pagesOf(homePage)
	})
	other := map[string]response.Cost{
		"GET /healthz": response.CostProbe, "GET /readyz": response.CostProbe,
		"POST /mcp":    response.CostRead,
		"POST /plants": response.CostWrite,
	}
	for _, method := range []string{"PUT", "POST", "PATCH"} {
		other[method+" /api/v1/{namespace}/{dataset}/source"] = response.CostUpload
	}
	other["PUT /api/v1/{namespace}/{dataset}/descriptor"] = response.CostUpload
	other["POST /api/v1/{namespace}/{dataset}/fetch"] = response.CostUpload
	for op, cost := range s.Costs() {
		want, ok := other[op]
		if method, _, _ := strings.Cut(op, " "); !ok && method != "GET" {
			want = response.CostWrite
		}
		if cost != want {
			t.Errorf("%s costs %d; want %d", op, cost, want)
		}
	}
}

// TestLanesOfWork checks in which lanes the queries of a small dataset run while they work: their
// lane follows from what they have done, not from the number of records.
func TestLanesOfWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, accept  string
		reports       int
		before, after []admission.Lane
	}{
		{"short listing", "application/json", 0, []admission.Lane{admission.Cheap}, []admission.Lane{admission.Cheap}},
		{"long listing", "application/json", 10, []admission.Lane{admission.Cheap},
			[]admission.Lane{admission.Expensive}},
		{"export", "text/csv", 10, []admission.Lane{admission.Bulk},
			[]admission.Lane{admission.Expensive, admission.Bulk}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := lanes(t, 1, nil)
			s := newService(t, func(o *httpapi.Options) { o.Admission = c })
			var before, after []admission.Lane
			work := func(ctx context.Context) error {
				before = taken(c)
				for range tt.reports {
					if err := query.Yield(ctx, 4096, time.Millisecond); err != nil {
						return err
					}
				}
				after = taken(c)
				return nil
			}
			s.library.query = work
			s.library.stream = func(ctx context.Context) query.Stream {
				if err := work(ctx); err != nil {
					t.Error(err)
				}
				return rows(ctx, 1, nil)
			}
			if a := s.get(t, catalogData, "Accept: "+tt.accept); a.status != 200 {
				t.Errorf("got %d: %s", a.status, a.body)
			}
			if !slices.Equal(before, tt.before) || !slices.Equal(after, tt.after) || taken(c) != nil {
				t.Errorf("ran in %v, then in %v, and held %v afterwards; want %v and %v", before, after, taken(c),
					tt.before, tt.after)
			}
		})
	}
}

// TestLongListings checks that a long query is rejected when the lane for expensive queries is
// full, and a short one is not.
func TestLongListings(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	s := newService(t, func(o *httpapi.Options) { o.Admission = c })
	other := c.NewTicket(admission.ClientOf(idleAddr()))
	if err := other.Enter(t.Context(), admission.Expensive); err != nil {
		t.Fatal(err)
	}
	s.library.query = func(ctx context.Context) error { return query.Yield(ctx, 1<<20, 0) }
	a := s.get(t, catalogData)
	if a.status != 503 || a.header.Get("Retry-After") != "2" || !strings.Contains(a.message(t), "lane expensive") {
		t.Errorf("got %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	s.library.query = nil
	if a := s.get(t, catalogData); a.status != 200 {
		t.Errorf("a short listing gets %d", a.status)
	}
}

// TestIdleClient starts exports and large pages of one client, which reads none of them. Another
// client still gets both.
func TestIdleClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lane           admission.Lane
		target, accept string
	}{
		{admission.Bulk, catalogData, "text/csv"},
		{admission.Bulk, "/api/v1/garden/large/data?per_page=3", "application/json"},
	} {
		t.Run(tt.lane.String(), func(t *testing.T) {
			t.Parallel()
			const slots = 4
			c := lanes(t, slots, nil)
			s := newService(t, func(o *httpapi.Options) { o.Admission = c })
			s.library.put(herb.Dataset{
				Ref: herb.Ref{Namespace: "garden", Name: "large"}, Version: "v1",
				Fields: []herb.Field{{Name: "text", Type: herb.TypeText}},
			}, []herb.Record{{strings.Repeat("x", 512<<10)}})
			send := func(addr string) int {
				r := request("GET", tt.target, "", "Accept: "+tt.accept)
				r.RemoteAddr = addr
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				return w.Code
			}
			idle := 0
			for { // as many as the client can start
				ticket := c.NewTicket(admission.ClientOf(idleAddr()))
				if ticket.Enter(t.Context(), tt.lane) != nil {
					break
				}
				idle++
			}
			if idle != slots*3/4 {
				t.Errorf("one client holds %d of %d slots", idle, slots)
			}
			for addr, want := range map[string]int{idleAddr().String() + ":1234": 503, "192.0.2.9:1234": 200,
				"[2001:db8::1]:1234": 200} {
				if got := send(addr); got != want {
					t.Errorf("a client at %s gets %d, want %d", addr, got, want)
				}
			}
		})
	}
}

// TestHeadOfWorkbook checks that the headers of a workbook need no scan of its records where none
// can be too long, and that the scan of others is subject to admission control.
func TestHeadOfWorkbook(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		longest int
		read    bool
	}{
		{"short records", 32767, false},
		{"long records", 32768, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := lanes(t, 1, nil)
			s := newService(t, func(o *httpapi.Options) { o.Admission = c })
			read := 0
			s.library.stream = func(ctx context.Context) query.Stream {
				found := rows(ctx, 100, func(int) error {
					read++
					if err := query.Yield(ctx, 4096, time.Millisecond); err != nil {
						return err
					}
					if c.InFlight(admission.Expensive) != 1 {
						t.Error("the scan has no slot")
					}
					return nil
				})
				found.Longest = tt.longest
				return found
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, request("HEAD", catalogData+".xlsx", ""))
			if w.Code != 200 || read > 0 != tt.read || taken(c) != nil {
				t.Errorf("got %d; %d records were read; %v are taken", w.Code, read, taken(c))
			}
		})
	}
}

// TestLanesInOnePlace checks that only one file decides about lanes.
func TestLanesInOnePlace(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, lane := range []string{"Cheap", "Expensive", "Bulk", "Write"} {
			for line := range strings.Lines(string(content)) {
				code, _, _ := strings.Cut(line, "//")
				if !strings.HasSuffix(file, "_test.go") && file != "lanes.go" &&
					strings.Contains(code, "admission."+lane) {
					t.Errorf("%s uses admission.%s; lanes.go decides about lanes", file, lane)
				}
			}
		}
	}
}
