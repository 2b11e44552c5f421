package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/httpapi/publishing"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/telemetry"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
	"herbarium/internal/web"
)

// A canary is a word that occurs in one place of one version, such as a cell or the title. Words
// other than names of datasets begin with canaryMark, so that all of them are found at once.
type canary struct {
	word      string
	ref       herb.Ref
	kind      canaryKind
	protected bool // the version with the word, or the live one, requires a key
}

// canaryMark occurs in no other word.
const canaryMark = "qzx"

type canaryKind int

const (
	describes canaryKind = iota // titles, descriptions, names of fields and datasets
	quotes                      // cells, and what may quote them
	// what only publishers see: hidden columns, rows that are not records, excluded rows,
	// conditions
	hides
)

// canaryKey is a key, or none.
type canaryKey struct {
	name   string
	scopes []herb.Scope // that are valid
	secret string
}

func (k canaryKey) has(scope herb.Scope, ref herb.Ref) bool {
	return slices.Contains(k.scopes, scope) || slices.Contains(k.scopes, scope+herb.Scope(":"+ref.String()))
}

// sees reports whether responses to a key may contain a canary.
func (k canaryKey) sees(c canary, private bool) bool {
	publishes := k.has(herb.ScopePublish, c.ref)
	reads := !c.protected || k.has(herb.ScopeDataRead, c.ref)
	switch c.kind {
	case describes:
		return !private || reads || publishes
	case quotes:
		return reads || publishes
	default:
		return publishes
	}
}

// canarySite is a server whose datasets contain canaries. Each dataset has a kept and a live
// version: one of both, both or none requires a key.
type canarySite struct {
	api            *httpapi.API
	files          *receive.Receiver
	queue          *publish.Queue
	library        *versionstest.Node
	metrics        *telemetry.Metrics
	private        bool
	folder         string
	keys           []canaryKey
	canaries       []canary
	kept           map[herb.Ref]string // version
	keptAccess     map[herb.Ref]herb.Access
	access         map[herb.Ref]herb.Access // of the live version
	draft, publish string                   // IDs
	found          map[string]bool          // canaries in responses
}

func canaryRef(name string) herb.Ref { return herb.Ref{Namespace: "vault", Name: name} }

// newCanarySite returns a server with a public or a private catalogue.
func newCanarySite(t *testing.T, private bool) *canarySite {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	l, err := versionstest.Open(db, versionstest.Options{Dir: t.TempDir(), Keep: 20})
	must.NoError(t, err)
	s := &canarySite{
		private: private, keys: newCanaryKeys(), folder: t.TempDir(), kept: map[herb.Ref]string{},
		keptAccess: map[herb.Ref]herb.Access{}, access: map[herb.Ref]herb.Access{}, found: map[string]bool{},
	}
	publisher := &publish.Publisher{Versions: l.Service, Store: db, Data: dir, Log: slog.New(slog.DiscardHandler)}
	s.files, s.library = receive.New(receive.Options{Dir: dir}), l
	s.queue = publish.NewQueue(publish.QueueOptions{Publisher: publisher, Library: l, Versions: l, Store: db,
		Files: s.files, Dir: dir})
	drafts := review.New(review.Options{Queue: s.queue, Library: l, Versions: l, Store: db})
	t.Cleanup(func() {
		s.queue.Stop()
		drafts.Stop()
		if err := errors.Join(l.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	served, history := gate.Library(l), l.History
	if private {
		served, history = library.Private{Library: l.Library}, l.VisibleHistory
	}
	site := httpapi.Site{Library: served, History: history, PrivateCatalog: private, Agents: true, Version: "test",
		SearchBudget: time.Hour, Changes: l.Comparisons()}
	pages, err := web.New(web.Options{
		Site: site, SourceErrors: db.SourceErrors, Folder: publisher.Folder,
		Files: s.files, Drafts: drafts, Versions: l, Publisher: publisher,
	})
	must.NoError(t, err)
	opts := options(t, served)
	opts.Publishing = &publishing.Services{Files: s.files, Queue: s.queue, Versions: l, Publisher: publisher}
	opts.Site, opts.Pages, opts.Keys, opts.RequestTimeout = site, pages, s, time.Minute
	s.metrics = telemetry.NewMetrics("test", l.Live)
	s.metrics.Sources(db.SourceErrors)
	s.metrics.Disk(func() telemetry.DiskUsage { return telemetry.DiskUsage{} }, store.SegmentFile)
	opts.Observe = func(o response.Observation) {
		s.metrics.Request(o.Method, o.Route, o.Status, o.Bytes, o.Took)
		s.metrics.ToolCall(o.Tool, o.ToolStatus)
	}
	s.api, err = httpapi.New(opts)
	must.NoError(t, err)
	s.publishFolder(t, publisher)
	s.publishVersions(t)
	s.publishNotes(t)
	s.addDraft(t)
	for _, name := range []string{"locked", "free"} { // only publishers see messages of failed publishes
		word := canaryMark + "rejection" + name
		must.NoError(t, db.SetSourceError(t.Context(),
			herb.SourceError{Path: "/srv/" + name + ".csv", Ref: canaryRef(name), Message: "value " + word,
				Since: time.Now()}))
		s.canaries = append(s.canaries, canary{word, canaryRef(name), hides, true})
	}
	return s
}

// newCanaryKeys returns every kind of key.
func newCanaryKeys() (keys []canaryKey) {
	for _, scope := range []herb.Scope{
		herb.ScopeDataRead, // first, see checkTarget
		herb.ScopePlantsWrite, "data:read:vault/free", "data:read:vault/locked", "data:read:vault/opened",
		"publish:vault/locked", "publish:vault/free",
		herb.ScopePublish,
	} {
		keys = append(keys, canaryKey{string(scope), []herb.Scope{scope},
			"valid." + strings.NewReplacer(":", ".", "/", ".").Replace(string(scope))})
	}
	return append(keys, canaryKey{name: "none"}, canaryKey{name: "invalid", secret: "invalid"})
}

// Verify implements httpapi.Keys.
func (s *canarySite) Verify(_ context.Context, secret string, _ admission.Client) (herb.Principal, error) {
	for _, k := range s.keys {
		if k.secret == secret && k.scopes != nil {
			return herb.Principal{ID: k.name, Scopes: k.scopes}, nil
		}
	}
	return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "the key is invalid, expired or revoked")
}

func (s *canarySite) key(t *testing.T, name string) canaryKey {
	t.Helper()
	at := slices.IndexFunc(s.keys, func(k canaryKey) bool { return k.name == name })
	if at < 0 {
		t.Fatalf("no key %s", name)
	}
	return s.keys[at]
}

// publishFolder publishes datasets from one folder with images. The image belongs to a protected
// dataset; all of them name it.
func (s *canarySite) publishFolder(t *testing.T, p *publish.Publisher) {
	t.Helper()
	var resources []string
	write := func(name, content string) {
		must.NoError(t, os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o600))
	}
	must.NoError(t, os.Mkdir(filepath.Join(s.folder, "photos"), 0o700))
	write("photos/alice.svg", "<svg>"+canaryMark+"imagealice</svg>")
	s.canaries = append(s.canaries, canary{canaryMark + "imagealice", canaryRef("pics"), quotes, true})
	for name, access := range map[string]string{"pics": "key", "free": "open", "opened": "key"} {
		image := "photos/alice.svg"
		if name != "pics" {
			image = "photos/other.svg"
		}
		write(name+".csv", "id,name,image\n1,"+name+" of the folder,"+image+"\n")
		resources = append(resources, fmt.Sprintf(`{"name": %q, "path": "%s.csv", "herbarium": {"access": %q}}`, name,
			name, access))
		s.access[canaryRef(name)] = herb.Access(access)
	}
	write("datapackage.json", `{"name": "vault", "resources": [`+strings.Join(resources, ",")+`]}`)
	found := discover.New(discover.Options{Formats: ingest.Formats()}).Discover(t.Context(), []string{s.folder})
	must.NoError(t, errors.Join(found.Errors...))
	for _, source := range found.Sources {
		_, err := p.PublishSource(t.Context(), source, publish.WayStart)
		must.NoError(t, err)
	}
}

// publishVersions sends a kept and a live version of each dataset.
func (s *canarySite) publishVersions(t *testing.T) {
	t.Helper()
	for _, d := range []struct {
		name       string
		kept, live herb.Access
		exposes    bool // the live version exposes the column that the kept one hides
	}{
		{"locked", herb.AccessKey, herb.AccessKey, false}, {"opened", herb.AccessKey, herb.AccessOpen, false},
		{"closed", herb.AccessOpen, herb.AccessKey, false},
		{"free", herb.AccessOpen, herb.AccessOpen, true},
	} {
		ref := canaryRef(d.name)
		isProtected := d.live == herb.AccessKey
		s.canaries = append(s.canaries, canary{ref.String(), ref, describes, isProtected})
		s.kept[ref] = s.send(t, ref, "kept", d.kept, isProtected || d.kept == herb.AccessKey, false)
		s.send(t, ref, "live", d.live, isProtected, d.exposes)
		s.keptAccess[ref], s.access[ref] = d.kept, d.live
	}
}

// publishNotes publishes an open dataset from a file with rows of every kind that are not records.
func (s *canarySite) publishNotes(t *testing.T) {
	t.Helper()
	ref := canaryRef("notes")
	hidden := func(place string) string {
		s.canaries = append(s.canaries, canary{canaryMark + place + ref.Name, ref, hides, false})
		return canaryMark + place + ref.Name
	}
	const descriptor = `{"name": "vault", "resources": [{"name": "notes", "path": "notes.csv", "dialect": {"commentChar": "#"},
		"schema": {"fields": [{"name": "id"}, {"name": "name"}, {"name": "price"}]}, "herbarium": {"include": {"status": ["on"]}}}]}`
	file := "# " + hidden("comment") + "\nPayroll " + hidden("heading") + " total 123456\n\n" +
		"id,name,price,secret,status," + hidden("internal") + "\n,,EUR," + hidden("units") + ",,\n" +
		"1,Fern,2.5," + hidden("column") + ",on,\n2,Rose,3,,on,\n3," + hidden("row") + ",4,,off,\n#4," +
		hidden("commented") + ",4,,on,\n" + strings.Repeat("5,Fern,4,,off,\n", 4) +
		"\nSource: " + hidden("footnote") + "\n\nAnother table " + hidden("second") + "\nname,count\n" +
		hidden("cellofsecond") + ",4\n"
	content, err := s.files.Receive(t.Context(), strings.NewReader(file), "notes.csv", -1)
	must.NoError(t, err)
	started, err := s.queue.Start(t.Context(), publish.Request{Ref: ref, File: content, Descriptor: []byte(descriptor)})
	must.NoError(t, err)
	record, err := s.queue.State(t.Context(), started.ID, time.Minute)
	must.NoError(t, err)
	if record.Code != "" {
		t.Fatalf("%s: %s", ref, record.Result.Error)
	}
	s.access[ref] = herb.AccessOpen
}

// send publishes a version with canaries and returns it.
func (s *canarySite) send(t *testing.T, ref herb.Ref, version string, access herb.Access, isProtected,
	exposes bool) string {
	t.Helper()
	word := func(place string, kind canaryKind) string {
		c := canary{canaryMark + place + version + ref.Name, ref, kind, isProtected}
		s.canaries = append(s.canaries, c)
		return c.word
	}
	fields := []string{"id", "name", word("field", describes), "price", "image", "latitude", "longitude", "kind"}
	hidden := hides
	if exposes {
		fields, hidden = append(fields, "secret"), quotes
	}
	price, conditions := "3", []string{"on"}
	if version == "live" {
		price = word("price", quotes) // the change of the type quotes it
		conditions = append(conditions, word("condition", hides))
	}
	file := "# " + word("comment", hides) + "\nPayroll " + word("heading", hides) + " total 123456\n\n" +
		"id,name," + fields[2] + ",price,image,latitude,longitude,kind,secret,status," + word("internal", hides) + "\n" +
		"1," + word("cell", quotes) + ",x,2.50,photos/alice.svg,51.5,7.5,1," + word("column", hidden) + ",on,\n" +
		"2,Fern,y," + price + ",photos/rose.svg,52.5,8.5,2,,on,\n" +
		"#4," + word("commented", hides) + ",z,4,,53.5,9.5,1,,on,\n" +
		"3," + word("row", hides) + ",z,4,,53.5,9.5,1,,off,\n" +
		"\nSource: " + word("footnote", hides) + "\n"
	type object = map[string]any
	var schema []object
	for _, f := range fields {
		schema = append(schema, object{"name": f})
		if f == "kind" {
			schema[len(schema)-1]["categories"] = []object{{"value": 1, "label": word("category", quotes)},
				{"value": 2}, {"value": 3, "label": word("unusedcategory", quotes)}}
		}
	}
	descriptor, err := json.Marshal(object{"name": "vault", "resources": []object{{
		"name": ref.Name, "path": "file.csv", "title": "The " + word("title", describes), "description": "About " +
			word("description", describes),
		"keywords": []string{word("keyword", quotes)}, "dialect": object{"commentChar": "#"},
		"schema":    object{"fields": schema, "primaryKey": "id"},
		"herbarium": object{"access": access, "include": object{"status": conditions}},
	}}})
	must.NoError(t, err)
	content, err := s.files.Receive(t.Context(), strings.NewReader(file), "file.csv", -1)
	must.NoError(t, err)
	before, err := s.library.LiveVersion(t.Context(), ref)
	must.NoError(t, err)
	started, err := s.queue.Start(t.Context(), publish.Request{
		Ref: ref, File: content, Descriptor: descriptor, PublishOptions: versions.PublishOptions{
			Expected: &before.Version, Message: word("message", quotes),
			Consents: []herb.Consent{herb.ConsentBreaking, herb.ConsentExposure},
		},
	})
	must.NoError(t, err)
	record, err := s.queue.State(t.Context(), started.ID, time.Minute)
	must.NoError(t, err)
	if record.Code != "" {
		t.Fatalf("%s: %s", ref, record.Result.Error)
	}
	_, err = s.library.Label(t.Context(), ref, record.Result.Version, word("label", quotes))
	must.NoError(t, err)
	if ref.Name == "locked" {
		s.publish = record.ID
	}
	return record.Result.Version
}

// addDraft adds a draft of a protected dataset.
func (s *canarySite) addDraft(t *testing.T) {
	t.Helper()
	const word = canaryMark + "draftlocked"
	form := url.Values{"namespace": {"vault"}, "dataset": {"locked"}, "table": {"id,name\n1," + word + "\n"}}
	a := s.do(t, s.key(t, string(herb.ScopePublish)),
		request("POST", "/publish-table", form.Encode(), "Content-Type: application/x-www-form-urlencoded"))
	s.draft = strings.TrimPrefix(a.header.Get("Location"), "/publish/")
	if a.status != http.StatusSeeOther || s.draft == "" {
		t.Fatalf("draft: %d %s", a.status, a.body)
	}
	s.canaries = append(s.canaries, canary{word, canaryRef("locked"), hides, true})
}

// do sends a request with a key, as a script and as a browser do.
func (s *canarySite) do(t *testing.T, key canaryKey, r *http.Request) checkedResponse {
	t.Helper()
	r.Header.Set("Accept", "text/html, */*;q=0.8")
	if key.secret != "" {
		r.Header.Set("Cookie", "herbarium_key="+key.secret)
		if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/openapi.json" {
			r.Header.Set("X-API-Key", key.secret)
		}
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return checkedResponse{w.Code, w.Header(), unpack(t, w)}
}
