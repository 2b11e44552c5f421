package webtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store"
)

// TestFetch shows readers and publishers a dataset that is fetched, whose source is down, on
// screens of three sizes. Then it fetches the file with a button.
func TestFetch(t *testing.T) {
	t.Parallel()
	var content atomic.Value
	content.Store("id,price\n1,2\n")
	origin := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, content.Load().(string))
	}))
	defer origin.Close()
	_, port, err := net.SplitHostPort(origin.Listener.Addr().String())
	must.NoError(t, err)
	hosts, err := fetch.ParseHosts([]string{"example.com:" + port, "127.0.0.1"})
	must.NoError(t, err)
	p := &pressLibrary{}
	t.Cleanup(p.stop)
	must.NoError(t, p.prepare(t.Context()))
	client := fetch.NewClient(fetch.ClientOptions{Hosts: hosts, Files: p.files,
		TLS: origin.Client().Transport.(*http.Transport).TLSClientConfig,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}})
	p.data.Publisher.Fetch = client.Fetch
	p.fetches = fetch.New(fetch.Options{Store: p.data.Store, Client: client, Queue: p.queue, Live: p.data.Library.Live,
		LiveVersion: p.data.Versions.LiveVersion, Log: slog.New(slog.DiscardHandler), Poll: time.Millisecond})

	folder, ref := t.TempDir(), herb.Ref{Namespace: "shop", Name: "prices"}
	address := "https://example.com:" + port + "/prices.csv"
	must.NoError(t, os.WriteFile(filepath.Join(folder, "datapackage.json"), fmt.Appendf(nil,
		`{"name": "shop", "resources": [{"name": "prices", "path": %q, "herbarium": `+
			`{"refresh": "1h", "expected": "daily"}}]}`, address), 0o600))
	must.NoError(t, p.publishFolder(t.Context(), folder))
	must.NoError(t, p.data.Library.Refresh(t.Context()))
	must.NoError(t, p.data.Store.AddFetch(t.Context(), store.Fetch{Ref: ref, Host: "https://example.com:" + port,
		Address: address, Due: time.Now().Add(time.Hour), Content: fmt.Appendf(nil, `{"address": %q, "refresh": "1h", `+
			`"checked_at": "2025-11-03T09:00:00Z", "changed_at": "2025-11-02T08:00:00Z", "failing_since": "2025-11-03T10:00:00Z",`+
			`"unreachable_since": "2025-11-03T10:00:00Z", "failures": 3, "error": "the source responded with status 404 Not Found"}`,
			address)}))

	const path, since = "/datasets/shop/prices", "The source of this dataset has not been reachable since 3 November 2025."
	s := p.serve(t, nil)
	reader, publisher := open(t, s, tabOptions{}), open(t, s, tabOptions{Fails: []int{401}})
	publisher.Visit("/publish")
	publisher.Fill("#key", p.publisher+"\r")
	publisher.Until(`document.getElementById("send") && document.readyState === "complete"`)
	for _, opts := range []tabOptions{{Width: 1440}, {Width: 768}, {Phone: true}} {
		visit := func(b *tab, page string) {
			b.Helper()
			b.Screen(opts)
			b.Visit(page)
			if w := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); w > 0 {
				b.Errorf("%+v: %s is %d pixels too wide", opts, page, w)
			}
		}
		for _, page := range []string{"/", path} {
			visit(reader, page)
			if got := eval[string](reader, `[...document.querySelectorAll(".badge.fresh")].map((e) => e.textContent + ": " + e.title).join()`); !strings.HasPrefix(got, "fresh: expected daily: due on ") {
				t.Errorf("%+v: %s shows %q", opts, page, got)
			}
		}
		visit(reader, path+"/versions")
		if got := reader.Text(".notice"); got != since || reader.Count(".fetch") != 0 {
			t.Errorf("readers see %q", got)
		}
		visit(publisher, path+"/versions")
		got := strings.Join(strings.Fields(publisher.Text(".fetch")), " ")
		for _, want := range []string{address, "Checked 3 November 2025, 09:00 UTC",
			"Changed 2 November 2025, 08:00 UTC",
			"Next ", "3 fetches have failed since 3 November 2025, 10:00 UTC: the source responded with status 404 Not Found",
			"Fetch now"} {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: publishers see %q without %q", opts, got, want)
			}
		}
		if !eval[bool](publisher, `document.querySelector(".fetch button").checkVisibility()`) {
			t.Errorf("%+v: the button is not visible", opts)
		}
	}

	content.Store("id,price\n1,3\n2,4\n")
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { must.NoError(t, p.fetches.Run(ctx)) })
	defer running.Wait()
	defer stop()
	publisher.Click(".fetch button")
	must.NoError(t, programtest.Eventually(t.Context(), func(ctx context.Context) error {
		states, err := p.fetches.States(ctx, ref)
		if err == nil && (states[ref].Failures > 0 || states[ref].Running) {
			err = errors.New("the file was not fetched")
		}
		return err
	}))
	must.NoError(t, p.data.Library.Refresh(t.Context()))
	publisher.Visit(path + "/versions")
	if publisher.Count(".notice") != 0 || publisher.Count(".versions > li") != 2 ||
		!strings.Contains(publisher.Text(".versions > li.live"), "2 rows") {
		t.Errorf("after the fetch: %q", publisher.Text("main"))
	}

	// Paste a link.
	publisher.Visit("/publish")
	publisher.Fill("#namespace", "shop")
	publisher.Fill("#dataset", "linked")
	publisher.Click(publisher.Pick(".paste summary", "Paste a link to a file"))
	publisher.Fill("#link", address)
	publisher.send()
	if got := publisher.Text(".publish-foot .primary"); got != "Publish 2 records" {
		t.Errorf("the button is %q", got)
	}
	publisher.Click(".publish-foot .primary")
	publisher.Until(`document.querySelector(".done")`)
	live, err := p.data.Versions.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "linked"})
	if err != nil || live.Descriptor.Fetch != (herb.FetchSource{Address: address, Refresh: "manual"}) {
		t.Errorf("it is fetched from %+v, %v", live.Descriptor, err)
	}
}
