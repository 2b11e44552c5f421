package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"herbarium/internal/httpapi/connection"
	"herbarium/internal/httpapi/response"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
)

const catalogData = "/api/v1/garden/catalog/data"

func digest(body string) string {
	h := sha256.Sum256([]byte(body))
	return "sha-256=:" + base64.StdEncoding.EncodeToString(h[:]) + ":"
}

func TestExport(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.get(t, "/api/v1/locked/staff/data?sort=name&order=desc", "Accept: text/csv", "X-API-Key: "+reader)
	if want := "name\r\nÇelik\r\nBo\r\nAna\r\n"; a.body != want {
		t.Errorf("CSV is %q, want %q", a.body, want)
	}
	want := map[string]string{
		"Content-Disposition": `attachment; filename="staff.csv"`, "X-Total-Count": "3", "Link": "",
		"Content-Length": "",
		"Cache-Control":  "private, no-cache", "Vary": "Authorization, X-API-Key, Accept, Accept-Encoding",
	}
	for name, value := range want {
		if got := a.header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	a = s.get(t, "/api/v1/locked/staff/data?search=-bo", "Accept: application/x-ndjson", "X-API-Key: "+reader)
	if want := `{"name":"Ana"}` + "\n" + `{"name":"Çelik"}` + "\n"; a.body != want ||
		a.header.Get("X-Total-Count") != "2" {
		t.Errorf("NDJSON is %q, of %s", a.body, a.header.Get("X-Total-Count"))
	}
	if got := a.header.Get("Content-Disposition"); got != `attachment; filename="staff.ndjson"` {
		t.Errorf("Content-Disposition is %q", got)
	}
	if a := s.get(t, "/api/v1/odd/a-b.c/data", "Accept: text/csv"); a.body != "page,a b&c,\"quo\"\"te<\"\r\n" {
		t.Errorf("of no records: %q", a.body)
	}
	a = s.get(t, "/api/v1/odd/a-b.c/data", "Accept: application/x-ndjson", "Accept-Encoding: zstd")
	if a.status != 200 || a.body != "" {
		t.Errorf("of no records: %d %q", a.status, a.body)
	}
}

// TestExportEqualsPages compares an export with all pages of the listing.
func TestExportEqualsPages(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, q := range []string{"", "category=tree&sort=price&order=desc", "search=plant", "sort=date",
		"sort=-category,price,-id", "id[gt]=1000"} {
		var want strings.Builder
		for page := 1; ; page++ {
			a := s.get(t, fmt.Sprintf("%s?%s&per_page=7&page=%d", catalogData, q, page))
			_, meta := a.listing(t)
			data, _, _ := strings.Cut(strings.TrimPrefix(a.body, `{"data":[`), `],"meta"`)
			for rec := range strings.SplitSeq(data, "},{") {
				if rec != "" {
					want.WriteString("{" + strings.Trim(rec, "{}") + "}\n")
				}
			}
			if !meta.HasNext {
				break
			}
		}
		a := s.get(t, catalogData+"?"+q, "Accept: application/x-ndjson")
		if diff := cmp.Diff(want.String(), a.body); diff != "" {
			t.Errorf("%q (-pages +export):\n%s", q, diff)
		}
	}
}

func TestExport_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct {
		target, header string
		status         int
		message        string
	}{
		{catalogData + "?page=1", "", 400, `"page" is given, but an export has no pages`},
		{catalogData + "?sort=price&per_page=100", "", 400, `leave "per_page" out`},
		{catalogData + "?page=0", "", 400, `leave "page" out`},
		{catalogData + "?page=&per_page=", "", 200, ""},
		{catalogData + "?sort=prize", "", 400, "did you mean"},
		{catalogData + "?format=csv", "", 400, "format"},
		{"/api/v1/no/thing/data", "", 404, "no such dataset"},
		{"/api/v1/locked/staff/data", "", 401, "requires a key"},
		{"/api/v1/locked/staff/data", "X-API-Key: " + elsewhere, 403, ""},
	}
	for _, tt := range tests {
		headers := []string{"Accept: text/csv"}
		if tt.header != "" {
			headers = append(headers, tt.header)
		}
		a := s.get(t, tt.target, headers...)
		if a.status != tt.status {
			t.Errorf("%s gives %d", tt.target, a.status)
		}
		if tt.status == 200 {
			continue
		}
		if !strings.Contains(a.message(t), tt.message) {
			t.Errorf("%s says %q", tt.target, a.message(t))
		}
		for _, name := range []string{"Etag", "Trailer", "Content-Disposition", "X-Total-Count"} {
			if got := a.header.Get(name); got != "" {
				t.Errorf("%s has %s: %q", tt.target, name, got)
			}
		}
	}
}

func TestExportConditional(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tags := map[string]bool{}
	for _, accept := range []string{"application/json", "text/csv", "application/x-ndjson"} {
		tag := s.get(t, catalogData, "Accept: "+accept).header.Get("Etag")
		if tags[tag] || tag == "" {
			t.Errorf("%s has tag %q, like another", accept, tag)
		}
		tags[tag] = true
		before := s.library.listed.Load()
		a := s.get(t, catalogData, "Accept: "+accept, "If-None-Match: "+tag)
		if a.status != 304 || a.header.Get("Etag") != tag || a.header.Get("Vary") != "Accept, Accept-Encoding" ||
			s.library.listed.Load() != before {
			t.Errorf("%s gives %d %v", accept, a.status, a.header)
		}
	}
}

func TestExportHead(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, coding := range []string{"identity", "gzip"} {
		headers := []string{"Accept: text/csv", "Accept-Encoding: " + coding}
		const target = catalogData + "?category=tree"
		get, head := s.get(t, target, headers...), s.do(t, request("HEAD", target, "", headers...))
		for _, h := range []http.Header{get.header, head.header} {
			for _, name := range []string{"X-Request-Id", "Content-Digest", "Unencoded-Digest", "X-Content-Rows"} {
				h.Del(name)
			}
		}
		if diff := cmp.Diff(get.header, head.header); diff != "" || head.status != 200 || head.body != "" {
			t.Errorf("%d (-GET +HEAD):\n%s", head.status, diff)
		}
	}
}

// TestExportTrailer checks the trailers of exports from a real server: hashes of the sent and of
// the decompressed bytes, and the number of rows.
func TestExportTrailer(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	base := "http://" + s.listen(t)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	plain := s.get(t, catalogData, "Accept: text/csv").body
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", base+catalogData, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/csv")
		r.Header.Set("Accept-Encoding", coding)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		want := http.Header{
			"Content-Digest": {digest(string(body))}, "Unencoded-Digest": {digest(plain)}, "X-Content-Rows": {"60"},
		}
		if diff := cmp.Diff(want, res.Trailer); diff != "" || res.Header.Get("X-Total-Count") != "60" {
			t.Errorf("%s: trailer (-want +got):\n%s", coding, diff)
		}
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Encoding", strings.TrimPrefix(coding, "identity"))
		rec.Body = bytes.NewBuffer(body)
		if unpack(t, rec) != plain {
			t.Errorf("%s: the body is another", coding)
		}
		if !strings.Contains(s.log.String(), `"bytes":`+strconv.Itoa(len(body))+",") {
			t.Errorf("%s: the log does not contain %d bytes:\n%s", coding, len(body), s.log)
		}
	}
}

// TestExport_http10 checks that HTTP/1.0 clients get neither chunks nor trailers.
func TestExport_http10(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := raw(t, s.listen(t), "GET", "GET "+catalogData+" HTTP/1.0\r\nAccept: text/csv\r\n\r\n")
	if a.status != 200 || a.header.Get("Trailer") != "" || strings.Count(a.body, "\r\n") != 61 {
		t.Errorf("got %d %v %q", a.status, a.header, a.body)
	}
}

// rows returns a stream of n records that calls before for each one. A negative n means infinitely
// many.
func rows(ctx context.Context, n int, before func(i int) error) query.Stream {
	d, records := catalog()
	rec := records[0].AppendJSON(nil, d.Fields)
	total := n
	if n < 0 {
		total = 1 << 40
	}
	return query.Stream{Total: total, Records: func(yield func([]byte, error) bool) {
		for i := 0; i != n; i++ {
			err := ctx.Err()
			if err == nil && before != nil {
				err = before(i)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}}
}

// watched is a service that signals when a request has ended and been logged.
type watched struct {
	*service
	observed, ended chan response.Observation
}

func newWatched(t *testing.T, stall time.Duration) *watched {
	w := &watched{observed: make(chan response.Observation, 1), ended: make(chan response.Observation, 1)}
	w.service = newService(t, func(o *httpapi.Options) {
		o.Stall = stall
		o.Observe = func(x response.Observation) { w.observed <- x }
	})
	return w
}

func (w *watched) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	defer func() { w.ended <- <-w.observed }()
	w.service.ServeHTTP(rw, r)
}

// fetch sends a request to a real server and reads the body until it ends or fails.
func fetch(t *testing.T, base string, read func(io.Reader) error) (res *http.Response, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", base+catalogData, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/x-ndjson")
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	res, err = client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return res, read(res.Body)
}

// TestExport_failure checks that a failure after the first bytes cannot be mistaken for the end.
func TestExport_failure(t *testing.T) {
	t.Parallel()
	broken := herb.Errorf(herb.CodeInternal, "the disk is gone")
	t.Run("before the first byte", func(t *testing.T) {
		t.Parallel()
		s := newService(t, nil)
		s.library.stream = func(ctx context.Context) query.Stream {
			return rows(ctx, 100, func(i int) error { return map[int]error{20: broken}[i] })
		}
		a := s.get(t, catalogData, "Accept: text/csv", "Accept-Encoding: gzip")
		if a.status != 500 || a.header.Get("Trailer") != "" || a.header.Get("X-Total-Count") != "" {
			t.Errorf("got %d %v", a.status, a.header)
		}
	})
	for _, failure := range []struct {
		name   string
		stream func(ctx context.Context) query.Stream
	}{
		{"in the middle", func(ctx context.Context) query.Stream {
			return rows(ctx, 10_000, func(i int) error { return map[int]error{5_000: broken}[i] })
		}},
		{"too few records", func(ctx context.Context) query.Stream {
			s := rows(ctx, 5_000, nil)
			s.Total++
			return s
		}},
		{"a panic", func(ctx context.Context) query.Stream {
			return rows(ctx, 10_000, func(i int) error {
				if i == 5_000 {
					panic("out of order")
				}
				return nil
			})
		}},
	} {
		t.Run(failure.name, func(t *testing.T) {
			t.Parallel()
			s := newWatched(t, 0)
			s.library.stream = failure.stream
			res, err := fetch(t, "http://"+s.listenAs(t, s), func(body io.Reader) error {
				_, err := io.Copy(io.Discard, body)
				return err
			})
			if !errors.Is(err, io.ErrUnexpectedEOF) || res.StatusCode != 200 ||
				len(res.Trailer.Get("X-Content-Rows")) > 0 {
				t.Errorf("the client sees %v, trailer %v", err, res.Trailer)
			}
			if x := <-s.ended; x.Status != 0 || x.Bytes == 0 {
				t.Errorf("observed %+v", x)
			}
			if log := s.log.String(); !strings.Contains(log, `"level":"ERROR"`) {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// TestExport_clientDisconnects checks that an export stops when its client disconnects.
func TestExport_clientDisconnects(t *testing.T) {
	t.Parallel()
	s := newWatched(t, 0)
	s.library.stream = func(ctx context.Context) query.Stream { return rows(ctx, -1, nil) }
	_, err := fetch(t, "http://"+s.listenAs(t, s), func(body io.Reader) error {
		_, err := io.CopyN(io.Discard, body, 1<<20)
		return err // closes the body
	})
	if err != nil {
		t.Fatal(err)
	}
	if x := <-s.ended; x.Status != 0 || x.Bytes < 1<<20 {
		t.Errorf("observed %+v", x)
	}
	if log := s.log.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("it is logged as an error:\n%s", log)
	}
}

// TestExportStalledClient has a client that stops reading and keeps the connection open.
func TestExportStalledClient(t *testing.T) {
	t.Parallel()
	s := newWatched(t, 100*time.Millisecond)
	s.library.stream = func(ctx context.Context) query.Stream { return rows(ctx, -1, nil) }
	c, err := net.Dial("tcp", s.listenAs(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET "+catalogData+" HTTP/1.1\r\nHost: a\r\nAccept: text/csv\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if x := <-s.ended; x.Status != 0 {
		t.Errorf("observed %+v", x)
	}
	if log := s.log.String(); !strings.Contains(log, "timeout") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log is\n%s", log)
	}
}

// TestExport_slowClient checks that a slow but steady reader gets a whole export that takes longer
// than the limits of other responses.
func TestExport_slowClient(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second // enough for a loaded machine to read the header of a request
	s := newService(t, nil)
	s.library.stream = func(ctx context.Context) query.Stream {
		return rows(ctx, 6_000, func(i int) error {
			if i%3_000 == 2_999 {
				<-time.After(limit)
			}
			return nil
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := connection.NewServer(s, slog.New(slog.DiscardHandler))
	server.ReadTimeout, server.WriteTimeout = limit, limit
	go server.Serve(connection.Listener(l, 0))
	defer server.Close()
	lines := 0
	res, err := fetch(t, "http://"+l.Addr().String(), func(body io.Reader) error {
		for b := bufio.NewReader(body); ; lines++ {
			if _, err := b.ReadSlice('\n'); err != nil {
				return err
			}
		}
	})
	if !errors.Is(err, io.EOF) || lines != 6_000 || res.Trailer.Get("X-Content-Rows") != "6000" {
		t.Errorf("%d lines, %v, trailer %v\n%s", lines, err, res.Trailer, s.log)
	}
}

// TestExportAndShutdown stops the server during an export, which must still complete.
func TestExportAndShutdown(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	stopping := make(chan struct{})
	begun := make(chan struct{})
	s.library.stream = func(ctx context.Context) query.Stream {
		return rows(ctx, 2_000, func(i int) error {
			if i == 1_000 {
				close(begun)
				<-stopping
			}
			return nil
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := connection.NewServer(s, slog.New(slog.DiscardHandler))
	server.RegisterOnShutdown(func() { close(stopping) })
	go server.Serve(connection.Listener(l, 0))
	stopped := make(chan error, 1)
	go func() {
		<-begun
		stopped <- server.Shutdown(context.WithoutCancel(t.Context()))
	}()
	res, err := fetch(t, "http://"+l.Addr().String(), func(body io.Reader) error {
		_, err := io.Copy(io.Discard, body)
		return err
	})
	if err != nil || res.Trailer.Get("X-Content-Rows") != "2000" {
		t.Errorf("%v, trailer %v", err, res.Trailer)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestExportMemory checks that ten times as many records need hardly more allocations. It is not
// parallel, because allocations of other tests would count.
func TestExportMemory(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.Log = slog.New(slog.DiscardHandler) })
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		allocations := func(n int) float64 {
			s.library.stream = func(ctx context.Context) query.Stream { return rows(ctx, n, nil) }
			return testing.AllocsPerRun(3, func() {
				w := &nullWriter{http.Header{}}
				s.ServeHTTP(w, request("GET", catalogData, "", "Accept: text/csv", "Accept-Encoding: "+coding))
				if got := w.header.Get("X-Content-Rows"); got != strconv.Itoa(n) {
					t.Fatalf("%s rows of %d", got, n)
				}
			})
		}
		if few, many := allocations(1_000), allocations(10_000); many > few+100 {
			t.Errorf("%s: %v allocations for 1,000 records, %v for 10,000", coding, few, many)
		}
	}
}
