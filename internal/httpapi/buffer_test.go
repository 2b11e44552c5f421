package httpapi_test

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// newLimitedService returns a service with a budget, and with a dataset whose description is large.
func newLimitedService(t *testing.T, bytes int64) (*service, *admission.Budget) {
	t.Helper()
	budget := admission.NewBudget(bytes, nil)
	s := newService(t, func(o *httpapi.Options) {
		o.Pages = pagesOf(homePage)
		lanes, err := admission.New(admission.Options{Limits: admission.DefaultLimits(2, 1<<30), Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		o.Admission = lanes
	})
	wide := herb.Dataset{Ref: herb.Ref{Namespace: "garden", Name: "wide"}, Access: herb.AccessOpen, Version: "v1"}
	record := make(herb.Record, 1000)
	for i := range record {
		wide.Fields = append(wide.Fields, herb.Field{Name: "column_" + strconv.Itoa(i), Type: herb.TypeText,
			Filterable: true})
	}
	s.library.put(wide, []herb.Record{record})
	return s, budget
}

// plantOf returns a request for a plant with a body of a size.
func plantOf(id, size int) []string {
	body := `{"id":` + strconv.Itoa(id) + `,"name":"Rose"`
	return []string{body + strings.Repeat(" ", size-len(body)-1) + "}", "Authorization: Bearer " + writer,
		"Content-Type: application/json"}
}

// TestBudget_released checks that nothing is held after a response, whatever it was.
func TestBudget_released(t *testing.T) {
	t.Parallel()
	s, budget := newLimitedService(t, 8<<20)
	for _, path := range []string{
		"/", "/nothing", "/api/v1", "/api/v1/garden/wide", "/api/v1/garden/wide/data",
		"/api/v1/garden/wide/data?_fields=column_1",
		"/api/v1/garden/catalog/data?per_page=100", "/api/v1/garden/catalog/data.csv",
		"/api/v1/garden/catalog/data.xlsx",
		"/api/v1/garden/catalog/facets?field=category", "/api/v1/garden/catalog/facets?field=nothing",
		"/api/v1/search?search=a",
		"/openapi.json", "/openapi.json?dataset=garden/wide", "/schemas/datapackage.json", "/healthz", "/readyz",
	} {
		for _, encoding := range []string{"identity", "gzip", "zstd"} {
			for _, method := range []string{"GET", "HEAD"} {
				a := s.do(t, request(method, path, "", "Accept-Encoding: "+encoding))
				if a.status >= 500 {
					t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
				}
				if used := budget.Used(); used != 0 {
					t.Fatalf("%d bytes are held after %s %s with %s", used, method, path, encoding)
				}
			}
		}
	}
	for i, size := range []int{100, 200_000, 1 << 20, 2 << 20} {
		r := plantOf(1000+i, size)
		s.do(t, request("POST", "/plants", r[0], r[1:]...))
		if used := budget.Used(); used != 0 {
			t.Fatalf("%d bytes are held after a plant of %d bytes", used, size)
		}
	}
}

// TestBudget_exhausted checks that large responses and bodies are rejected while others hold as
// much as they may, and that small ones are not.
func TestBudget_exhausted(t *testing.T) {
	t.Parallel()
	const limit = 2 << 20
	s, budget := newLimitedService(t, limit)
	others := budget.NewReservation(admission.Client{})
	if !others.TryGrow(limit / 16 * 9) { // the share of one client
		t.Fatal("the budget is used")
	}
	more := budget.NewReservation(admission.ClientOf(netip.MustParseAddr("10.9.9.9")))
	if !more.TryGrow(limit / 16) {
		t.Fatal("another client has no room")
	}
	large := plantOf(1, 400_000)
	small := plantOf(2, 100)
	checks := func(status int) {
		t.Helper()
		for i, a := range []checkedResponse{
			s.get(t, "/api/v1/garden/wide"), s.get(t, "/openapi.json?dataset=garden/wide"),
			s.do(t, request("POST", "/plants", large[0], large[1:]...)),
		} {
			if a.status != status || status == 503 &&
				(a.header.Get("Retry-After") == "" || !strings.Contains(a.message(t), "memory")) {
				t.Errorf("large response or body %d: %d; want %d: %.200s", i, a.status, status, a.body)
			}
		}
	}
	checks(503)
	for _, a := range []checkedResponse{
		s.get(t, "/api/v1/garden/catalog/data"), s.get(t, "/api/v1/garden/catalog/data", "Accept-Encoding: gzip"),
		s.get(t, "/"),
		s.do(t, request("POST", "/plants", small[0], small[1:]...)),
	} {
		if a.status != 200 {
			t.Errorf("a small response or body: %d %.200s", a.status, a.body)
		}
	}
	var fill []admission.Reservation
	for room, client := true, netip.MustParseAddr("10.0.0.1"); room; client = client.Next() { // what small ones may use
		more := budget.NewReservation(admission.ClientOf(client))
		room = more.TryGrow(1 << 10)
		fill = append(fill, more)
	}
	if a := s.get(t, "/api/v1/garden/catalog/data"); a.status != 503 {
		t.Errorf("a listing without any room: %d", a.status)
	}
	others.Release()
	more.Release()
	for i := range fill {
		fill[i].Release()
	}
	checks(200)
}
