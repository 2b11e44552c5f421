package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/testseed"
	"herbarium/internal/versions/versionstest"
)

// faultyPublishing is a service whose dependencies can be made to fail.
type faultyPublishing struct {
	*publishSite
	faults *faults
	folder string       // of the database and of received files
	bucket string       // folder of the object store; empty if there is none
	passed atomic.Int64 // time that the library believes to have passed, in nanoseconds
}

// newFaultyPublishing returns a service on one machine, or a node with an object store.
func newFaultyPublishing(t *testing.T, shared bool) *faultyPublishing {
	t.Helper()
	p := &faultyPublishing{faults: &faults{at: -1}, folder: t.TempDir()}
	db, err := sqlite.Open(t.Context(), filepath.Join(p.folder, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	now := func() time.Time { return time.Now().Add(time.Duration(p.passed.Load())) }
	opts := versionstest.Options{Dir: t.TempDir(), Keep: 2, Now: now}
	if shared {
		p.bucket = t.TempDir()
		bucket, err := blobs.OpenFolder(p.bucket)
		must.NoError(t, err)
		t.Cleanup(func() { must.NoError(t, bucket.Close()) })
		opts.Blobs = faultyBlobs{bucket, p.faults}
	}
	l, err := versionstest.Open(faultyCatalogue{db, p.faults}, opts)
	must.NoError(t, err)
	p.publishSite = &publishSite{library: l, store: db, versions: opts.Dir}
	publisher := &publish.Publisher{Versions: l.Service, Store: db, Data: p.folder, Log: slog.New(slog.DiscardHandler)}
	changes := p.start(publishingOptions{
		QueueOptions: publish.QueueOptions{Publisher: publisher, Library: l, Versions: l,
			Store: faultyRecords{db, p.faults}, Dir: p.folder, Now: now},
		files: receive.Options{Dir: p.folder}, changes: publisher,
	})
	t.Cleanup(func() {
		p.queue.Stop()
		must.NoError(t, errors.Join(l.Close(), db.Close()))
	})
	p.service = newService(t, func(o *httpapi.Options) { o.Publishing = changes })
	return p
}

// wantNothingLeft checks that after garbage collection there are the files of the versions in the
// catalogue, and no others.
func (p *faultyPublishing) wantNothingLeft(t *testing.T) {
	t.Helper()
	for range 3 {
		must.NoError(t, errors.Join(p.library.Collect(t.Context()), p.library.Sweep(t.Context())))
		p.passed.Add(int64(25 * time.Hour))
	}
	all, err := p.store.AllVersions(t.Context())
	must.NoError(t, err)
	var want []string
	kept := map[string]bool{}
	for _, d := range all {
		for _, v := range d.Versions {
			kept[v.Version] = true
			want = append(want, store.SegmentFile(v.Version))
			if v.Settings != nil && v.Settings.Kept != nil {
				want = append(want, store.SourceFile(v.Version))
			}
		}
	}
	slices.Sort(want)
	isComparison := func(name string) bool {
		f, ok := store.ParseVersionFile(name)
		return ok && f.Kind == store.ComparisonKind && f.IsNeeded(kept)
	}
	local := slices.DeleteFunc(namesIn(t, p.versions), isComparison)
	if p.bucket == "" {
		if diff := cmp.Diff(want, local); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	} else {
		if diff := cmp.Diff(want, slices.DeleteFunc(namesIn(t, p.bucket), isComparison)); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
		for _, name := range local { // a cache
			if !strings.HasSuffix(name, store.SegmentSuffix) || !slices.Contains(want, name) {
				t.Errorf("the node has %s", name)
			}
		}
	}
	for _, name := range namesIn(t, p.folder) {
		if !strings.HasPrefix(name, "test.db") {
			t.Errorf("%s is left of a received file", name)
		}
	}
}

// namesIn returns the names of the files in a folder, without copies of descriptions and the files
// that processes share.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.NoError(t, err)
	for _, e := range entries {
		if name := e.Name(); name != "changed" && name != "catalogue.json" && filepath.Ext(name) != ".description" {
			names = append(names, name)
		}
	}
	return names
}

// TestPublish_anyDependencyFails fails each operation of the object store and of the database
// during a request in turn, before or after it is executed. The live version is the old one or the
// new one, and the new one if the request succeeded; nothing is left; and the same request succeeds
// afterwards.
func TestPublish_anyDependencyFails(t *testing.T) {
	t.Parallel()
	const before, rows = prices, "1 Rose 2.50|2 Fern 3"
	const described = `{"resources": [{"path": "prices.csv", "title": "Prices", "schema": {"fields": [{"name": "id"}, {"name": "name"}, {"name": "price"}]}}]}`
	requests := []struct {
		name, method, path, body string
		want                     string // records afterwards
	}{
		{"file", "PUT", "/source", before + "3,Moss,4\n", rows + "|3 Moss 4"},
		{"changes", "PATCH", "/source?_mode=append", "id,name,price\n4,Ivy,5\n", rows + "|4 Ivy 5"},
		{"descriptor", "PUT", "/descriptor", described, rows},
		{"rollback", "POST", "/rollback", "", "0 Oak 1"},
		{"removal", "DELETE", "", "", ""},
	}
	for _, shared := range []bool{false, true} {
		for _, r := range requests {
			for _, after := range []bool{false, true} {
				if after && (!shared || r.method == "PATCH") && !testseed.Soak() {
					continue // much the same as others
				}
				t.Run(fmt.Sprintf("%s/shared=%t/after=%t", r.name, shared, after), func(t *testing.T) {
					t.Parallel()
					p := newFaultyPublishing(t, shared)
					content := func() string {
						d, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
						must.NoError(t, err)
						if d.Version == "" {
							return ""
						}
						v, err := p.library.AcquireVersion(t.Context(), d.Ref, d.Version)
						must.NoError(t, err)
						return rowsOf(t, v)
					}
					for at := 0; ; at++ {
						for _, file := range []string{"id,name,price\n0,Oak,1\n", before} {
							if a := p.put(t, "?_allow_breaking=true&_force=true", file); a.status > 201 {
								t.Fatalf("%d %s", a.status, a.body)
							}
						}
						live := p.liveVersion(t)
						p.faults.arm(at, after)
						a := p.send(t, r.method, r.path, r.body, `If-Match: "`+live+`"`)
						fired := p.faults.disarm()
						// a version that could not be opened is tried again after a pause
						p.passed.Add(int64(time.Hour))
						got := content()
						if a.status < 300 && got != r.want || got != rows && got != r.want || a.status != 503 &&
							a.status >= 300 {
							t.Errorf("%q fails: %d %s, and the live version has %q", fired, a.status, a.body, got)
						}
						p.wantNothingLeft(t)
						if fired == "" {
							t.Logf("%d operations", at)
							break
						}
						if got == r.want && r.method != "PUT" {
							continue // it has been done
						}
						if a := p.send(t, r.method, r.path, r.body); a.status >= 300 && r.method != "DELETE" {
							t.Errorf("after %q failed: %d %s", fired, a.status, a.body)
						} else if got := content(); got != r.want && r.method != "DELETE" {
							t.Errorf("after %q failed, a retry leads to %q", fired, got)
						}
					}
				})
			}
		}
	}
}

// TestPutSource_endsAnywhere ends the body after each of its bytes: nothing is published, and
// nothing is left.
func TestPutSource_endsAnywhere(t *testing.T) {
	t.Parallel()
	p := newFaultyPublishing(t, false)
	if a := p.put(t, "", prices); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	const changed = prices + "3,Moss,4\n"
	body, contentType := form(t, "prices.csv", changed, "_access", "open")
	for _, tt := range []struct{ method, path, body, header string }{
		{"PUT", "/source", changed, "X: "},
		{"PUT", "/source", body, contentType},
		{"POST", "/source", body, contentType},
		{"PATCH", "/source?_mode=append", changed, "X: "},
	} {
		for n := range len(tt.body) {
			r := request(tt.method, pricesPath+tt.path, "", "X-API-Key: "+publisher, tt.header)
			r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(tt.body[:n]),
				brokenReader{io.ErrUnexpectedEOF})), int64(len(tt.body))
			if a := p.do(t, r); a.status != 400 || !strings.Contains(a.message(t), "ends early") {
				t.Errorf("%s %s that ends after %d bytes gives %d %s", tt.method, tt.path, n, a.status, a.body)
			}
		}
	}
	if got := p.rows(t); got != "1 Rose 2.50|2 Fern 3" {
		t.Errorf("the live version has %q", got)
	}
	p.wantNothingLeft(t)
}

// node returns another node with the same database and object store; change may modify its options.
func (p *faultyPublishing) node(t *testing.T, change func(*publishingOptions)) *publishSite {
	t.Helper()
	bucket, err := blobs.OpenFolder(p.bucket)
	must.NoError(t, err)
	n := &publishSite{store: p.store, versions: t.TempDir()}
	n.library, err = versionstest.Open(p.store, versionstest.Options{Dir: n.versions, Keep: 20, Blobs: bucket})
	must.NoError(t, err)
	dir := t.TempDir()
	publisher := &publish.Publisher{Versions: n.library.Service, Store: p.store, Data: dir,
		Log: slog.New(slog.DiscardHandler)}
	opts := publishingOptions{
		QueueOptions: publish.QueueOptions{Publisher: publisher, Library: n.library, Versions: n.library,
			Store: p.store, Dir: dir},
		files: receive.Options{Dir: dir}, changes: publisher,
	}
	change(&opts)
	changes := n.start(opts)
	n.service = newService(t, func(o *httpapi.Options) { o.Publishing = changes })
	t.Cleanup(func() {
		n.queue.Stop()
		must.NoError(t, errors.Join(n.library.Close(), bucket.Close()))
	})
	return n
}

// TestPutSource_twoNodes publishes on one node while another one publishes the same dataset: the
// first to go live wins, the other one gets 409, or 200 if it has sent the same file.
func TestPutSource_twoNodes(t *testing.T) {
	t.Parallel()
	shared := newFaultyPublishing(t, true)
	var during func()
	a := shared.node(t, func(o *publishingOptions) {
		o.Publisher = pausedPublisher{o.Publisher, func(context.Context) { during() }}
	})
	b := shared.node(t, func(*publishingOptions) {})
	last := ""
	for _, tt := range []struct {
		name, first, second string // the files of the node that is faster, and of the other one
		status              int
		want                string // records
	}{
		{"new dataset", prices, prices + "3,Moss,4\n", 409, "1 Rose 2.50|2 Fern 3"},
		{"another file", prices + "4,Ivy,5\n", prices + "5,Oak,6\n", 409, "1 Rose 2.50|2 Fern 3|4 Ivy 5"},
		{"the same file", prices + "6,Elm,7\n", prices + "6,Elm,7\n", 200, "1 Rose 2.50|2 Fern 3|6 Elm 7"},
	} {
		during = func() {
			if r := b.put(t, "", tt.first); r.status > 201 {
				t.Errorf("%s: the faster node gives %d %s", tt.name, r.status, r.body)
			}
		}
		if r := a.put(t, "", tt.second); r.status != tt.status {
			t.Errorf("%s: the slower node gives %d %s", tt.name, r.status, r.body)
		}
		for _, n := range []*publishSite{a, b} {
			live, err := n.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
			must.NoError(t, err)
			v, err := n.library.AcquireVersion(t.Context(), live.Ref, live.Version)
			must.NoError(t, err)
			if got := rowsOf(t, v); got != tt.want || live.Version == last {
				t.Errorf("%s: %q is live", tt.name, got)
			}
			if source := n.send(t, "GET", "/source", ""); source.body != tt.first {
				t.Errorf("%s: the source is %q", tt.name, source.body)
			}
			if n == b {
				last = live.Version
			}
		}
	}
	shared.wantNothingLeft(t)
}
