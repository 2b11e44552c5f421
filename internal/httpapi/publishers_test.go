package httpapi_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/ingest"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// blockedPublisher does not publish shop/other before its context is done.
type blockedPublisher struct{ publish.SourcePublisher }

func (p blockedPublisher) Publish(ctx context.Context, s ingest.Source, o publish.Options) (versions.Result, error) {
	if s.Ref.Name == "other" {
		<-ctx.Done()
	}
	return p.SourcePublisher.Publish(ctx, s, o)
}

// TestPublishers_checks lets one key start as many checks as it can, which do not end. Another key
// publishes meanwhile.
func TestPublishers_checks(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, func(o *publishingOptions) { o.Publisher = blockedPublisher{o.Publisher} })
	accepted := 0
	for {
		r := request("PUT", "/api/v1/shop/other/source?_check=true", prices, "X-API-Key: "+publisher,
			"Prefer: respond-async")
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", accepted)
		a := p.do(t, r)
		if a.status == 202 && accepted < 32 {
			accepted++
			continue
		}
		if a.status != 503 || a.header.Get("Retry-After") != "10" ||
			!strings.Contains(a.message(t),
				"your key has 24 publishes (lane publish) at once, its share of the limit of 32") {
			t.Errorf("after %d checks: %d, Retry-After %q: %s", accepted, a.status, a.header.Get("Retry-After"), a.body)
		}
		break
	}
	if accepted != 24 {
		t.Errorf("one key has %d checks", accepted)
	}
	if a := p.do(t, request("PUT", pricesPath+"/source", prices, "X-API-Key: "+onePub)); a.status != 201 {
		t.Errorf("another key gets %d: %s", a.status, a.body)
	}
}

// TestPublishers_stalledUploads lets one key send files from 36 addresses and stall. Another key
// publishes meanwhile.
func TestPublishers_stalledUploads(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	rejected, begun := make(chan string), make(chan struct{})
	end := make(chan struct{})
	var sending sync.WaitGroup
	for n := range 36 {
		sending.Go(func() {
			body := io.MultiReader(&signalReader{begun: begun}, blockedReader{end})
			r := httptest.NewRequestWithContext(t.Context(), "PUT", "/api/v1/shop/other/source", body)
			r.Header.Set("X-Api-Key", publisher)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", n)
			w := httptest.NewRecorder()
			p.ServeHTTP(w, r)
			select {
			case <-end:
			case rejected <- w.Body.String():
			}
		})
	}
	received := 0
	for range 36 {
		select {
		case <-begun:
			received++
		case message := <-rejected:
			if !strings.Contains(message,
				"your key has 24 publishes (lane publish) at once, its share of the limit of 32") {
				t.Errorf("rejected: %s", message)
			}
		}
	}
	if a := p.do(t, request("PUT", pricesPath+"/source", prices, "X-API-Key: "+onePub)); a.status != 201 ||
		received != 24 {
		t.Errorf("beside %d uploads of one key, another key gets %d: %s", received, a.status, a.body)
	}
	close(end)
	sending.Wait()
}

// signalReader is an empty reader that signals when it is read first.
type signalReader struct{ begun chan<- struct{} }

func (s *signalReader) Read([]byte) (int, error) {
	s.begun <- struct{}{}
	return 0, io.EOF
}

// blockedReader is a body whose client sends nothing and disconnects at the end.
type blockedReader struct{ end <-chan struct{} }

func (b blockedReader) Read([]byte) (int, error) {
	<-b.end
	return 0, io.ErrUnexpectedEOF
}

// TestRollback_concurrent rolls back with one condition many times at once: one request succeeds.
func TestRollback_concurrent(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	first := decode[publishedBody](t, p.put(t, "", prices)).Version
	second := decode[publishedBody](t, p.put(t, "", prices+"3,Moss,4\n")).Version
	var sending sync.WaitGroup
	statuses := make(chan int, 8)
	for range cap(statuses) {
		sending.Go(func() {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, request("POST", pricesPath+"/rollback", `{"to": "`+first+`"}`, "X-API-Key: "+publisher,
				`If-Match: "`+second+`"`))
			statuses <- w.Code
		})
	}
	sending.Wait()
	counts := map[int]int{}
	for range cap(statuses) {
		counts[<-statuses]++
	}
	if counts[200] != 1 || counts[412] != cap(statuses)-1 {
		t.Errorf("statuses: %v", counts)
	}
}

// removingPublisher publishes another version right before a dataset is removed.
type removingPublisher struct {
	publishing.Publisher
	before func()
}

func (p removingPublisher) Remove(ctx context.Context, ref herb.Ref, live string) error {
	p.before()
	return p.Publisher.Remove(ctx, ref, live)
}

// TestRemove_condition removes a dataset that changes meanwhile: If-Match: * holds for every
// version, and for no dataset.
func TestRemove_condition(t *testing.T) {
	t.Parallel()
	var before func()
	p := newPublishing(t, func(o *publishingOptions) { o.changes = removingPublisher{o.changes, func() { before() }} })
	for _, tt := range []struct {
		name, header string
		before       func()
		status       int
	}{
		{"another version", "", func() { p.put(t, "", prices+"3,Moss,4\n") }, 412},
		{"another version, any", "If-Match: *", func() { p.put(t, "", prices+"4,Ivy,4\n") }, 204},
		{"removed, any", "If-Match: *", func() {
			live, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
			must.NoError(t, errors.Join(err, p.library.Remove(t.Context(), live.Ref, live.Version)))
		}, 412},
	} {
		version := decode[publishedBody](t, p.put(t, "", prices)).Version
		before = tt.before
		if a := p.send(t, "DELETE", "", "", cmp.Or(tt.header, `If-Match: "`+version+`"`)); a.status != tt.status {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
	}
	if a := p.send(t, "DELETE", "", "", "If-Match: *"); a.status != 412 {
		t.Errorf("no dataset: %d %s", a.status, a.body)
	}
}
