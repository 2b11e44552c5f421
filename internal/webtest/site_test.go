package webtest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/app"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/must"
	"herbarium/internal/plants"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

// The datasets of the fixture.
const (
	catalog = "/datasets/garden/catalog"
	staff   = "/datasets/locked/staff"
	nasty   = "/datasets/evil/nasty"
	none    = "/datasets/empty/none"
)

// shared is the data folder of all tests.
var shared library

// library is a data folder with published datasets.
type library struct {
	start    sync.Once
	folder   string
	data     *app.Data
	verifier *access.Verifier
	staffKey string              // may read locked/staff
	otherKey string              // may not read locked/staff
	sources  map[herb.Ref]string // folders
	files    *receive.Receiver   // nil: nothing is published in the browser
	queue    *publish.Queue      // like files
	drafts   *review.Service     // like files
	fetches  *fetch.Service      // nil: nothing is fetched
	err      error
}

// in returns the library after publishing its datasets once.
func (l *library) in(t testing.TB) *library {
	t.Helper()
	l.start.Do(func() { l.err = l.publish(context.Background()) })
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l
}

func (l *library) stop() {
	if l.data != nil {
		_ = l.data.Close() // the folder is removed anyway
	}
	if l.folder != "" {
		_ = os.RemoveAll(l.folder)
	}
}

func (l *library) sourceFolder(ref herb.Ref) string { return l.sources[ref] }

// open opens an empty data folder.
func (l *library) open(ctx context.Context) (err error) {
	l.sources = map[herb.Ref]string{}
	l.folder, err = os.MkdirTemp("", "webtest")
	if err != nil {
		return err
	}
	config := app.DefaultConfig()
	config.Data = filepath.Join(l.folder, "data")
	l.data, err = app.OpenData(ctx, config, app.OpenOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	l.verifier = access.NewVerifier(l.data.Store, access.Options{Log: slog.New(slog.DiscardHandler)})
	return nil
}

// example is the folder that the README serves.
var example = filepath.Join("..", "..", "examples", "garden")

func (l *library) publish(ctx context.Context) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	garden, err := os.ReadFile(filepath.Join(example, "catalog.csv"))
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(l.folder, "sources", "garden", "images"),
		os.DirFS(filepath.Join(example, "images"))); err != nil {
		return err
	}
	lines := strings.SplitAfter(string(garden), "\n")
	for _, files := range []map[string]string{
		// an older version
		{"garden/datapackage.json": gardenPackage, "garden/catalog.csv": strings.Join(lines[:401], "")},
		{"garden/catalog.csv": string(garden)},
		{"locked/datapackage.json": lockedPackage, "locked/staff.csv": "name,room\nSecretive Ana,7\nSecretive Bo,8\n"},
		{"evil/datapackage.json": evilPackage(), "evil/nasty.csv": evilCSV()},
		{"empty/datapackage.json": emptyPackage, "empty/none.csv": "name,room\n"},
		{"wide/datapackage.json": widePackage, "wide/thousand.csv": wideCSV()},
		{"values/cities.csv": manyValuesCSV(), "values/long.csv": longTextCSV(), "values/odd.csv": oddColumnsCSV(),
			"values/journeys.csv": journeysCSV()},
	} {
		if err := l.publishFiles(ctx, files); err != nil {
			return err
		}
	}
	for secret, scope := range map[*string]herb.Scope{&l.staffKey: "data:read:locked/staff",
		&l.otherKey: "data:read:garden/catalog"} {
		minted, key := access.Mint(string(scope), []herb.Scope{scope}, time.Now(), time.Time{})
		if err := l.data.Store.AddKey(ctx, key); err != nil {
			return err
		}
		*secret = minted
	}
	return l.data.Library.Refresh(ctx)
}

// publishFiles writes files to one folder and publishes it.
func (l *library) publishFiles(ctx context.Context, files map[string]string) error {
	folder := ""
	for name, content := range files {
		name = filepath.Join(l.folder, "sources", name)
		folder = filepath.Dir(name)
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(name, []byte(content), 0o600)); err != nil {
			return err
		}
	}
	return l.publishFolder(ctx, folder)
}

// publishFolder publishes the sources in a folder.
func (l *library) publishFolder(ctx context.Context, folder string) error {
	set := discover.New(discover.Options{Formats: ingest.Formats()}).Discover(ctx, []string{folder})
	if err := set.Err(); err != nil {
		return err
	}
	for _, s := range set.Sources {
		l.sources[s.Ref] = filepath.Dir(s.Path)
		if out, err := l.data.Publish(ctx, s,
			publish.Options{PublishOptions: versions.PublishOptions{
				Consents: []herb.Consent{herb.ConsentBreaking}}}); err != nil {
			return fmt.Errorf("publishing %s: %w %v", s.Ref, err, out.Changes)
		}
	}
	return nil
}

// handler returns the HTTP handler of the library, composed as in the program.
func (l *library) handler(t testing.TB, publicURL string) http.Handler {
	t.Helper()
	common := httpapi.Site{Library: l.data.Library, History: l.data.Versions.History, PublicURL: publicURL,
		Agents: true, Version: "1.0", Changes: l.data.Versions.Comparisons()}
	options := web.Options{Site: common, Folder: l.sourceFolder, SourceErrors: l.data.Store.SourceErrors}
	var services *publishing.Services
	if l.queue != nil {
		services = &publishing.Services{Files: l.files, Queue: l.queue, Versions: l.data.Versions,
			Publisher: l.data.Publisher}
		if l.fetches != nil {
			services.Fetches, options.Fetches = l.fetches, l.fetches
		}
		options.Files, options.Drafts, options.Versions, options.Publisher = l.files, l.drafts, l.data.Versions,
			l.data.Publisher
	}
	pages, err := web.New(options)
	must.NoError(t, err)
	lanes, err := admission.New(admission.Options{Limits: admission.DefaultLimits(runtime.GOMAXPROCS(0), 1<<30)})
	must.NoError(t, err)
	api, err := httpapi.New(httpapi.Options{
		Site: common, Plants: plants.New(l.data.Store, plants.Options{}), Keys: l.verifier, Pages: pages,
		Publishing: services,
		Log:        slog.New(slog.DiscardHandler), Admission: lanes,
		Health: func() httpapi.Health { return httpapi.Health{} }, Observe: func(response.Observation) {},
	})
	must.NoError(t, err)
	return api
}

// site is a server for one test, over the shared library.
type site struct {
	*library
	url string // of the server, with the path prefix of a proxy
}

// newSite starts a server. around wraps its handler; nil: no wrapper.
func newSite(t testing.TB, around func(http.Handler) http.Handler) *site {
	t.Helper()
	return shared.in(t).serve(t, around)
}

func (l *library) serve(t testing.TB, around func(http.Handler) http.Handler) *site {
	t.Helper()
	handler := l.handler(t, "")
	if around != nil {
		handler = around(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &site{library: l, url: server.URL}
}

// newProxiedSite starts a server behind a proxy with a path prefix, which the server knows from
// --public-url only.
func newProxiedSite(t testing.TB, base string) *site {
	t.Helper()
	l := shared.in(t)
	server := httptest.NewUnstartedServer(nil)
	public := "http://" + server.Listener.Addr().String() + base
	mux := http.NewServeMux()
	mux.Handle(base+"/", http.StripPrefix(base, l.handler(t, public)))
	server.Config.Handler = mux
	server.Start()
	t.Cleanup(server.Close)
	return &site{library: l, url: public}
}

const gardenPackage = `{
	"name": "garden", "title": "The garden",
	"resources": [{
		"name": "catalog", "path": "catalog.csv", "title": "Garden catalogue",
		"description": "Plants of the garden, what they cost, and what is worth knowing about them.",
		"keywords": ["plants", "garden"],
		"licenses": [{"name": "CC0-1.0", "title": "CC0", "path": "https://creativecommons.org/publicdomain/zero/1.0/"}],
		"schema": {"primaryKey": ["id"]}
	}]
}`

const lockedPackage = `{
	"name": "locked", "herbarium": {"access": "key"},
	"resources": [{"name": "staff", "path": "staff.csv", "title": "Staff", "description": "Who sits where."}]
}`

const emptyPackage = `{"name": "empty", "resources": [{"name": "none", "path": "none.csv", "title": "Nothing yet"}]}`

const widePackage = `{"name": "wide", "resources": [{"name": "thousand", "path": "thousand.csv", "title": "A thousand columns",
	"description": "Columns of all types.", "schema": {"primaryKey": ["key"]},
	"herbarium": {"charts": [{"by": "kind_9"}, {"by": "day_10:month", "measure": "mean:amount_8"}, {"measure": "max:amount_8"}]}}]}`
