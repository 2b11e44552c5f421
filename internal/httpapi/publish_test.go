package httpapi_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/admission"
	fetches "herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/query"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// publishSite is a service that publishes to a library.
type publishSite struct {
	*service
	library *versionstest.Node
	store   *sqlite.Store
	files   *receive.Receiver
	queue   *publish.Queue

	versions string    // folder of the files of versions
	now      time.Time // of the publishes; zero: the time of the system
}

// publishingOptions are the options of a service that publishes.
type publishingOptions struct {
	publish.QueueOptions
	files   receive.Options
	changes publishing.Publisher   // rolls back and removes
	fetch   *fetches.ClientOptions // nil: nothing is fetched
}

// pausedPublisher waits before it publishes.
type pausedPublisher struct {
	publish.SourcePublisher
	pause func(context.Context)
}

func (p pausedPublisher) Publish(ctx context.Context, s ingest.Source, o publish.Options) (versions.Result, error) {
	p.pause(ctx)
	return p.SourcePublisher.Publish(ctx, s, o)
}

// newPublishing returns a service; change may modify its options.
func newPublishing(t *testing.T, change func(*publishingOptions)) *publishSite {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	versions := t.TempDir()
	p := &publishSite{store: db, versions: versions}
	l, err := versionstest.Open(db, versionstest.Options{Dir: versions, Keep: 20, Now: func() time.Time {
		if p.now.IsZero() {
			return time.Now()
		}
		return p.now
	}})
	must.NoError(t, err)
	p.library = l
	// several builds of one key
	lanes, err := admission.New(admission.Options{Limits: admission.DefaultLimits(1, 4<<30)})
	must.NoError(t, err)
	publisher := &publish.Publisher{Versions: l.Service, Store: db, Data: dir, Log: slog.New(slog.DiscardHandler)}
	opts := publishingOptions{
		QueueOptions: publish.QueueOptions{Admission: lanes, Publisher: publisher, Library: l, Versions: l,
			Store: db, Dir: dir},
		files: receive.Options{Dir: dir}, changes: publisher,
	}
	if change != nil {
		change(&opts)
	}
	changes := p.start(opts)
	t.Cleanup(func() {
		p.queue.Stop()
		if err := errors.Join(l.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	p.service = newService(t, func(o *httpapi.Options) {
		o.Library, o.Publishing, o.Changes, o.History = l, changes, l.Comparisons(), l.History
	})
	return p
}

// start starts what publishes files.
func (p *publishSite) start(opts publishingOptions) *publishing.Services {
	p.files = receive.New(opts.files)
	opts.Files = p.files
	p.queue = publish.NewQueue(opts.QueueOptions)
	services := &publishing.Services{Files: p.files, Queue: p.queue, Versions: p.library, Publisher: opts.changes}
	if opts.fetch != nil {
		opts.fetch.Files = p.files
		services.Fetches = fetches.New(fetches.Options{Store: p.store, Client: fetches.NewClient(*opts.fetch),
			Queue: p.queue, Live: p.library.Live, LiveVersion: p.library.LiveVersion,
			Log: slog.New(slog.DiscardHandler)})
	}
	return services
}

// liveVersion returns the name of the live version.
func (p *publishSite) liveVersion(t *testing.T) string {
	t.Helper()
	d, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	must.NoError(t, err)
	return d.Version
}

const pricesPath = "/api/v1/shop/prices"

// put publishes a file.
func (p *publishSite) put(t *testing.T, query, file string, headers ...string) checkedResponse {
	t.Helper()
	return p.do(t, request("PUT", pricesPath+"/source"+query, file, append(headers, "X-API-Key: "+publisher)...))
}

// live returns the records of the live version as JSON.
func (p *publishSite) live(t *testing.T) string {
	t.Helper()
	v, err := p.library.Acquire(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	if err != nil {
		return err.Error()
	}
	defer v.Release()
	req, err := query.Split("").Listing(v.Fields, herb.Order{})
	must.NoError(t, err)
	page, err := v.List(t.Context(), req)
	must.NoError(t, err)
	return string(bytes.Join(page.Records, nil))
}

type publishedBody struct {
	Error           int
	Message, Status string
	Version         string
	Changes         []versions.Change
}

func decode[T any](t *testing.T, a checkedResponse) (body T) {
	t.Helper()
	must.NoError(t, json.Unmarshal([]byte(a.body), &body))
	return body
}

const prices = "id,name,price\n1,Rose,2.50\n2,Fern,3\n"

func TestPutSource(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	created := p.put(t, "", prices)
	first := decode[publishedBody](t, created)
	if created.status != 201 || first.Status != "published" || created.header.Get("Location") != pricesPath ||
		created.header.Get("Etag") != `"`+first.Version+`"` {
		t.Fatalf("the first file gives %d %v %s", created.status, created.header, created.body)
	}
	if again := p.put(t, "", prices); again.status != 200 || decode[publishedBody](t, again).Status != "unchanged" {
		t.Errorf("the same file gives %d %s", again.status, again.body)
	}
	checked := p.put(t, "?_check=true", prices+"3,Moss,4\n")
	if b := decode[publishedBody](t, checked); checked.status != 200 || b.Status != "checked" || b.Version != "" ||
		len(b.Changes) != 1 {
		t.Errorf("a check gives %d %s", checked.status, checked.body)
	}
	if got, want := p.live(t),
		`{"id":"1","name":"Rose","price":"2.50"}{"id":"2","name":"Fern","price":"3"}`; got != want {
		t.Errorf("a check changed the live version: %s", got)
	}
	replaced := p.put(t, "", prices+"3,Moss,4\n", `If-Match: "`+first.Version+`"`)
	if replaced.status != 200 || decode[publishedBody](t, replaced).Status != "published" ||
		!strings.Contains(p.live(t), "Moss") {
		t.Errorf("another file gives %d %s", replaced.status, replaced.body)
	}
	if a := p.put(t, "", prices, `If-Match: "`+first.Version+`"`); a.status != 412 ||
		!strings.Contains(a.message(t), "has the version "+decode[publishedBody](t, replaced).Version) {
		t.Errorf("another version gives %d %s", a.status, a.body)
	}
	if a := p.put(t, "", prices, "If-None-Match: *"); a.status != 412 {
		t.Errorf("an existing dataset gives %d %s", a.status, a.body)
	}
	rejected := p.put(t, "", "id,name\n1,Rose\n2,Fern\n3,Moss\n")
	if b := decode[publishedBody](t, rejected); rejected.status != 409 || b.Error != 409 || b.Status != "rejected" ||
		len(b.Changes) != 1 || b.Changes[0].Field != "price" {
		t.Errorf("a removed field gives %d %s", rejected.status, rejected.body)
	}
	if a := p.put(t, "?_allow_breaking=true", "id,name\n1,Rose\n2,Fern\n3,Moss\n"); a.status != 200 ||
		strings.Contains(p.live(t), "price") {
		t.Errorf("an allowed change gives %d %s", a.status, a.body)
	}
	entries, err := p.store.AuditEntries(t.Context(), herb.AuditQuery{})
	must.NoError(t, err)
	var log []string
	for _, e := range entries {
		log = append(log, string(e.Result))
		if e.Actor != publisher[5:15] || e.Origin != "192.0.2.1" || e.Subject != "shop/prices" ||
			!strings.Contains(e.Detail, "sha256 ") {
			t.Errorf("audit entry %+v", e)
		}
	}
	if got := strings.Join(log, " "); got != "ok ok ok rejected ok" {
		t.Errorf("the audit log has %s", got)
	}
}

func TestPutSource_rejects(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, func(o *publishingOptions) { o.files.MaxSize = 100 })
	path := pricesPath + "/source"
	for name, tt := range map[string]struct {
		request *http.Request
		status  int
		message string
	}{
		"no key":        {request("PUT", path, prices), 401, "publishing requires a key"},
		"another scope": {request("PUT", path, prices, "X-API-Key: "+reader), 403, "it needs publish:shop/prices"},
		"another dataset": {request("PUT", "/api/v1/shop/stock/source", prices, "X-API-Key: "+onePub), 403,
			"publish:shop/stock"},
		"name": {request("PUT", "/api/v1/shop/Prices/source", prices, "X-API-Key: "+publisher), 400,
			"does not name a dataset"},
		"parameter": {request("PUT", path+"?_delimeter=;", prices, "X-API-Key: "+publisher), 400,
			`did you mean "_delimiter"?`},
		"widths": {request("PUT", path+"?_widths=10,x", prices, "X-API-Key: "+publisher), 400,
			"the width of column 2, is not a number"},
		"delimiter": {request("PUT", path+"?_delimiter=ab", prices, "X-API-Key: "+publisher), 400,
			"_delimiter is"},
		"switch": {request("PUT", path+"?_check=1", prices, "X-API-Key: "+publisher), 400,
			"write true or false"},
		"access": {request("PUT", path+"?_access=none", prices, "X-API-Key: "+publisher), 400,
			"unknown access"},
		"too large": {request("PUT", path, strings.Repeat("x", 101), "X-API-Key: "+publisher), 413,
			"larger than 100 bytes"},
		"empty": {request("PUT", path, "", "X-API-Key: "+publisher), 422, "empty"},
		"no such version": {request("PUT", path, prices, "X-API-Key: "+publisher, `If-Match: "v0"`), 412,
			"does not exist"},
		"not a file": {request("PUT", path, "a,b\n1,2\n\x00\x01\x02\x03\x04\x05\x06\x07",
			"X-API-Key: "+publisher), 422, "file:"},
		"malformed digest": {request("PUT", path, prices, "X-API-Key: "+publisher, "Content-Digest: sha-256=abc"),
			400, "malformed Content-Digest"},
		"another digest": {request("PUT", path, prices, "X-API-Key: "+publisher, "Content-Digest: "+digestOf("x")),
			400, "does not match"},
		"brotli": {request("PUT", path, prices, "X-API-Key: "+publisher, "Content-Encoding: br"), 415,
			"supported: gzip, zstd"},
		"twice compressed": {request("PUT", path, prices, "X-API-Key: "+publisher, "Content-Encoding: gzip, gzip"),
			415, "supported: gzip, zstd"},
		"compressed form": {request("PUT", path, prices, "X-API-Key: "+publisher, "Content-Encoding: gzip",
			"Content-Type: multipart/form-data; boundary=x"), 415, "supported: identity"},
		"reserved namespace": {request("PUT", "/api/v1/publishes/x/source", prices, "X-API-Key: "+publisher), 403,
			"publish:publishes/x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := p.do(t, tt.request)
			if a.status != tt.status || !strings.Contains(a.message(t), tt.message) {
				t.Errorf("%d %s, want %d %s", a.status, a.body, tt.status, tt.message)
			}
			if accepted := a.header.Get("Accept-Encoding"); (accepted != "") != (tt.status == 415) {
				t.Errorf("Accept-Encoding is %q", accepted)
			}
		})
	}
	chunked := request("PUT", path, strings.Repeat("x", 101), "X-API-Key: "+publisher)
	chunked.ContentLength = -1
	if a := p.do(t, chunked); a.status != 413 {
		t.Errorf("a large body of unknown size gives %d %s", a.status, a.body)
	}
	if got := p.live(t); !strings.Contains(got, "no such dataset") {
		t.Errorf("something was published: %s", got)
	}
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// form returns a multipart body and its Content-Type: pairs of a name and a value, the file with
// its name.
func form(t *testing.T, file, content string, pairs ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		must.NoError(t, w.WriteField(pairs[i], pairs[i+1]))
	}
	if file != "" {
		part, err := w.CreateFormFile("file", file)
		must.NoError(t, err)
		_, err = io.WriteString(part, content)
		must.NoError(t, err)
	}
	must.NoError(t, w.Close())
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

const pricesDescriptor = `{"name": "shop", "resources": [{"name": "prices", "path": "prices.csv", "title": "Prices",
	"schema": {"fields": [{"name": "id", "type": "string"}, {"name": "cost", "herbarium": {"from": "price"}}]},
	"herbarium": {"access": "key", "include": {"name": ["Rose", "Moss"]}}}]}`

// TestPutSource_settings sends a descriptor once. Later files are read by the same settings.
func TestPutSource_settings(t *testing.T) {
	t.Parallel()
	for _, yaml := range []bool{false, true} {
		p := newPublishing(t, nil)
		descriptor := pricesDescriptor
		if yaml {
			descriptor = "# YAML\n" + descriptor
		}
		body, contentType := form(t, "prices.csv", prices, "descriptor", descriptor)
		if a := p.put(t, "", body, contentType, "Content-Digest: "+digestOf(body)); a.status != 201 {
			t.Fatalf("a form gives %d %s", a.status, a.body)
		}
		if got, want := p.live(t), `{"id":"1","cost":"2.50"}`; got != want {
			t.Errorf("records are %s, want %s", got, want)
		}
		if a := p.put(t, "", prices+"3,Moss,4\n"); a.status != 200 {
			t.Fatalf("another file gives %d %s", a.status, a.body)
		}
		d, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
		must.NoError(t, err)
		if d.Access != herb.AccessKey || d.Title != "Prices" || d.Fields[0].Type != herb.TypeText ||
			p.live(t) != `{"id":"1","cost":"2.50"}{"id":"3","cost":"4"}` {
			t.Errorf("another file has access %s, title %q, fields %v, records %s", d.Access, d.Title,
				d.Fields, p.live(t))
		}
	}
}

// TestPutSource_rows sends a descriptor that lists rows that are not records. It applies to the
// same file; in another one, the same rows may be records.
func TestPutSource_rows(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	const descriptor = `{"resources": [{"title": "Prices", "dialect": {"delimiter": ",", "headerRows": [2], "commentRows": [4]}}]}`
	const edition = "Summer\nid,name\n1,Fern\n0,test\n2,Moss\n"
	body, contentType := form(t, "prices.csv", edition, "descriptor", descriptor)
	if a := p.put(t, "", body, contentType); a.status != 201 || p.rows(t) != "1 Fern|2 Moss" {
		t.Fatalf("%d %s: %s", a.status, a.body, p.rows(t))
	}
	body, contentType = form(t, "prices.csv", edition)
	if a := p.put(t, "", body, contentType); a.status != 200 || !strings.Contains(a.body, `"status":"unchanged"`) ||
		p.rows(t) != "1 Fern|2 Moss" {
		t.Errorf("the same file gives %d %s: %s", a.status, a.body, p.rows(t))
	}
	a := p.put(t, "", "Autumn\nid,name\n1,Fern\n2,Moss\n3,Rose\n")
	if a.status != 200 || p.rows(t) != "1 Fern|2 Moss|3 Rose" ||
		!strings.Contains(a.body, "the layout of this file is detected") {
		t.Errorf("another file gives %d %s: %s", a.status, a.body, p.rows(t))
	}
	if d := p.send(t, "GET", "/descriptor", ""); d.status != 200 || !strings.Contains(d.body, `"title":"Prices"`) ||
		strings.Contains(d.body, "Rows") {
		t.Errorf("its descriptor is %d %s", d.status, d.body)
	}
}

// TestPutSource_reading sends a file with reading options, which apply to the next one, too.
func TestPutSource_reading(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	if a := p.put(t, "?_delimiter=|&_header=none&_access=key", "a|b;c\n"); a.status != 201 ||
		p.live(t) != `{"column_1":"a","column_2":"b;c"}` {
		t.Fatalf("%d %s: %s", a.status, a.body, p.live(t))
	}
	if a := p.put(t, "", "a|b;c\nd|e;f\n"); a.status != 200 ||
		!strings.HasSuffix(p.live(t), `{"column_1":"d","column_2":"e;f"}`) {
		t.Errorf("%d %s: %s", a.status, a.body, p.live(t))
	}
	if a := p.put(t, "?_widths=2,3&_allow_breaking=true", "a|b;c\n"); a.status != 200 ||
		p.live(t) != `{"column_1":"a|","column_2":"b;c"}` {
		t.Errorf("widths instead of the delimiter: %d, live %s", a.status, p.live(t))
	}
	if a := p.put(t, "?_delimiter=%3B&_allow_breaking=true", "a|b;c\n"); a.status != 200 ||
		p.live(t) != `{"column_1":"a|b","column_2":"c"}` {
		t.Errorf("%d %s: %s", a.status, a.body, p.live(t))
	}
	d, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	must.NoError(t, err)
	if d.Access != herb.AccessKey {
		t.Errorf("access is %s", d.Access)
	}
	if a := p.put(t, "?_access=open&_allow_breaking=true&_force=true", "a|b;c\n"); a.status != 409 ||
		!strings.Contains(a.body, "use _allow_exposure=true\"") {
		t.Errorf("a change of access gives %d %s", a.status, a.body)
	}
	if a := p.put(t, "?_access=open&_allow_exposure=true", "a|b;c\n"); a.status != 200 {
		t.Errorf("a change of access with consent gives %d %s", a.status, a.body)
	}
}

func TestPutSource_form(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	for name, tt := range map[string]struct {
		file, content string
		pairs         []string
		status        int
		message       string
	}{
		"no file": {"", "", []string{"descriptor", "{}"}, 400, `no part "file"`},
		"unknown part": {"a.csv", prices, []string{"name", "x"}, 400,
			`unknown part "name"; valid parts: file, descriptor, _format`},
		"both": {"a.csv", prices, []string{"descriptor", pricesDescriptor, "_header", "1"}, 400,
			"cannot be combined with a descriptor"},
		"descriptor": {"a.csv", prices, []string{"descriptor", `{"resources": [{"title": 1}, {}]}`}, 422,
			`none of them is "prices"`},
		"files": {"a.csv", prices, []string{"descriptor", `{"resources": [{"path": ["a", "b"]}]}`}, 422,
			"only one can be sent"},
		"schema file": {"a.csv", prices,
			[]string{"descriptor", `{"resources": [{"path": "a", "schema": "/etc/passwd"}]}`}, 422, "was not sent"},
		"inline records": {"a.csv", prices, []string{"descriptor", `{"resources": [{"data": [{"a": 1}]}]}`}, 422,
			"remove it"},
		"not JSON": {"a.csv", prices, []string{"descriptor", `{"resources": `}, 422,
			"descriptor: line 1: not JSON"},
		"tables": {"a.json", `{"a": [{"x": 1}, {"x": 2}], "b": [{"y": 1}, {"y": 3}]}`, nil, 422,
			`name one of them, with _table: a, b`},
		"no such table": {"a.json", `{"a": [{"x": 1}, {"x": 2}], "b": [{"y": 1}, {"y": 3}]}`, []string{"_table", "c"},
			422, `"c"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, contentType := form(t, tt.file, tt.content, tt.pairs...)
			if a := p.put(t, "", body, contentType); a.status != tt.status ||
				!strings.Contains(a.message(t), tt.message) {
				t.Errorf("%d %s, want %d %s", a.status, a.body, tt.status, tt.message)
			}
		})
	}
	q := newPublishing(t, nil)
	body, contentType := form(t, "a.json", `{"a": [{"x": 1}, {"x": 2}], "b": [{"y": 1}, {"y": 3}]}`, "_table", "b",
		"descriptor", "")
	if a := q.put(t, "", body, contentType); a.status != 201 || q.live(t) != `{"y":"1"}{"y":"3"}` {
		t.Errorf("%d %s: %s", a.status, a.body, q.live(t))
	}
}

// TestPutSource_concurrent publishes a file while another version goes live: the one that was sent
// for an older version is rejected, and a repetition is unchanged.
func TestPutSource_concurrent(t *testing.T) {
	t.Parallel()
	var during func()
	p := newPublishing(t, func(o *publishingOptions) {
		o.Publisher = pausedPublisher{o.Publisher, func(context.Context) {
			if do := during; do != nil {
				during = nil
				do()
			}
		}}
	})
	sent := func(file string) func() {
		return func() {
			if a := p.put(t, "", file); a.status > 201 {
				t.Errorf("the publish in between gives %d %s", a.status, a.body)
			}
		}
	}
	during = sent(prices)
	if a := p.put(t, "", prices+"3,Moss,4\n"); a.status != 409 ||
		!strings.Contains(a.message(t), "another version of shop/prices went live") {
		t.Errorf("another file gives %d %s", a.status, a.body)
	}
	during = sent(prices + "4,Ivy,5\n")
	if a := p.put(t, "", prices+"4,Ivy,5\n"); a.status != 200 || decode[publishedBody](t, a).Status != "unchanged" {
		t.Errorf("the same file gives %d %s", a.status, a.body)
	}
	live := p.liveVersion(t)
	during = sent(prices + "5,Oak,5\n")
	if a := p.put(t, "", prices+"6,Elm,5\n", `If-Match: "`+live+`"`); a.status != 412 {
		t.Errorf("a required version gives %d %s", a.status, a.body)
	}
	if !strings.Contains(p.live(t), "Oak") {
		t.Errorf("live is %s", p.live(t))
	}
}

func TestPutSource_async(t *testing.T) {
	t.Parallel()
	resume := make(chan struct{})
	p := newPublishing(t, func(o *publishingOptions) {
		o.Publisher = pausedPublisher{o.Publisher, func(ctx context.Context) {
			select {
			case <-resume:
			case <-ctx.Done():
			}
		}}
	})
	accepted := p.put(t, "", prices, "Prefer: wait=0")
	at := accepted.header.Get("Location")
	if accepted.status != 202 || !strings.HasPrefix(at, "/api/v1/publishes/") ||
		accepted.header.Get("Preference-Applied") != "wait=0" {
		t.Fatalf("%d %v %s", accepted.status, accepted.header, accepted.body)
	}
	type state struct {
		State, Dataset string
		Status         int
		Result         *publishedBody
	}
	if a := p.get(t, at, "X-API-Key: "+onePub); a.status != 200 || decode[state](t, a).State != "received" {
		t.Errorf("while it waits: %d %s", a.status, a.body)
	}
	for key, status := range map[string]int{"": 401, "X-API-Key: " + reader: 404, "X-API-Key: " + unknown: 401} {
		if a := p.get(t, at, strings.Split(key, "\n")...); a.status != status {
			t.Errorf("key %q gives %d %s", key, a.status, a.body)
		}
	}
	close(resume)
	p.queue.Stop() // waits for it; it may be canceled
	a := p.get(t, at, "X-API-Key: "+publisher)
	s := decode[state](t, a)
	switch {
	case s.State == "live" && s.Status == 201 && s.Result.Status == "published":
	case s.State == "failed" && s.Status == 503 && strings.Contains(s.Result.Message, "stopping"):
	default:
		t.Errorf("at the end: %s", a.body)
	}
	if a := p.get(t, "/api/v1/publishes/nothing", "X-API-Key: "+publisher); a.status != 404 {
		t.Errorf("an unknown publish gives %d %s", a.status, a.body)
	}
	if a := p.get(t, "/api/v1/publishes/nothing"); a.status != 401 {
		t.Errorf("an unknown publish gives %d without a key", a.status)
	}
	if a := p.put(t, "", prices); a.status != 503 {
		t.Errorf("a stopped service gives %d %s", a.status, a.body)
	}
}

// TestPutSource_disconnect sends a body that ends early: nothing is published.
func TestPutSource_disconnect(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	r := request("PUT", pricesPath+"/source", "", "X-API-Key: "+publisher)
	r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(prices),
		brokenReader{io.ErrUnexpectedEOF})), 1000
	if a := p.do(t, r); a.status != 400 || !strings.Contains(a.message(t), "ends early") ||
		a.header.Get("Connection") != "close" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if got := p.live(t); !strings.Contains(got, "no such dataset") {
		t.Errorf("something was published: %s", got)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// TestPutSource_lane checks that a file that is being received occupies a slot of its own lane, and
// that a client that stops sending is rejected.
func TestPutSource_lane(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	p := newPublishing(t, func(o *publishingOptions) {
		o.files.Free = func(string) (free, total uint64, ok bool) {
			if got := taken(c); !slices.Equal(got, []admission.Lane{admission.Publish}) {
				t.Errorf("a file is received in the lanes %v", got)
			}
			return 1 << 40, 1 << 40, true
		}
	})
	p.service = newService(t, func(o *httpapi.Options) {
		o.Publishing = &publishing.Services{Files: p.files, Queue: p.queue, Versions: p.library}
		o.Admission, o.UploadStall = c, time.Millisecond
	})
	server := httptest.NewServer(p.service)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	must.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "PUT "+pricesPath+"/source HTTP/1.1\r\nHost: x\r\nX-API-Key: "+publisher+
		"\r\nContent-Length: 100\r\n\r\nid,name")
	must.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must.NoError(t, err)
	defer response.Body.Close()
	if message, _ := io.ReadAll(response.Body); response.StatusCode != 400 ||
		!strings.Contains(string(message), "stalled") {
		t.Errorf("%d %s", response.StatusCode, message)
	}
	if got := taken(c); len(got) > 0 {
		t.Errorf("lanes %v are occupied afterwards", got)
	}
}

func TestPutSource_diskSpace(t *testing.T) {
	t.Parallel()
	free := uint64(1 << 40)
	p := newPublishing(t, func(o *publishingOptions) {
		o.files.Free = func(string) (uint64, uint64, bool) { return free, 1 << 40, true }
	})
	if a := p.put(t, "", prices); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	free = 1 << 20
	if a := p.put(t, "", prices+"3,Moss,4\n"); a.status != 507 ||
		!strings.Contains(a.message(t), "not enough disk space") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if strings.Contains(p.live(t), "Moss") {
		t.Error("the file was published")
	}
}

// send sends a request of a publisher about the dataset.
func (p *publishSite) send(t *testing.T, method, path, body string, headers ...string) checkedResponse {
	t.Helper()
	return p.do(t, request(method, pricesPath+path, body, append(headers, "X-API-Key: "+publisher)...))
}

func TestSource(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	if a := p.send(t, "GET", "/source", ""); a.status != 404 {
		t.Errorf("an unknown dataset gives %d %s", a.status, a.body)
	}
	first := decode[publishedBody](t,
		p.put(t, "", prices, `Content-Disposition: attachment; filename="prices 1.csv"`)).Version
	changed := prices + strings.Repeat("3,Moss,4\n", 50_000)
	p.put(t, "", changed)
	a := p.send(t, "GET", "/source", "")
	if a.status != 200 || a.body != changed || a.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d, %d bytes, %v", a.status, len(a.body), a.header)
	}
	a = p.send(t, "GET", "/source?_version="+first, "")
	if a.status != 200 || a.body != prices ||
		a.header.Get("Content-Disposition") != `attachment; filename="prices 1.csv"` ||
		a.header.Get("X-Dataset-Version") != first {
		t.Errorf("%d %q %v", a.status, a.body, a.header)
	}
	if a := p.send(t, "GET", "/source?_version="+first, "", `If-None-Match: "`+first+`"`); a.status != 304 {
		t.Errorf("a known version gives %d", a.status)
	}
	for _, key := range []string{"X-API-Key: " + reader, "X: "} {
		if a := p.do(t, request("GET", pricesPath+"/source", "", key)); a.status != 401 && a.status != 403 ||
			strings.Contains(a.body, "Moss") {
			t.Errorf("%s gives %d %.100s", key, a.status, a.body)
		}
	}
	if a := p.send(t, "GET", "/descriptor", ""); a.status != 404 ||
		!strings.Contains(a.message(t), "without a descriptor") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestSource_public checks who may read a source that is public.
func TestSource_public(t *testing.T) {
	t.Parallel()
	for _, access := range []string{"open", "key"} {
		p := newPublishing(t, nil)
		body, contentType := form(t, "prices.csv", prices, "descriptor",
			`{"resources": [{"path": "prices.csv", "herbarium": {"source": "public", "access": "`+access+`"}}]}`)
		if a := p.put(t, "", body, contentType); a.status != 201 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for key, status := range map[string]int{"": map[string]int{"open": 200, "key": 401}[access], reader: 200,
			publisher: 200} {
			if a := p.do(t, request("GET", pricesPath+"/source", "", "X-API-Key: "+key)); a.status != status ||
				(a.body == prices) != (status == 200) {
				t.Errorf("access %s, key %q: %d %s", access, key, a.status, a.body)
			}
		}
		if a := p.do(t, request("GET", pricesPath+"/descriptor", "", "X-API-Key: "+reader)); a.status != 403 {
			t.Errorf("the descriptor gives %d", a.status)
		}
	}
}

// TestSource_versions checks that the source and the report of a kept version are authorized by
// that version and by the live one.
func TestSource_versions(t *testing.T) {
	t.Parallel()
	type settings struct{ source, access string }
	open, hidden, protected := settings{"public", "open"}, settings{"private", "open"}, settings{"public", "key"}
	for _, tt := range []struct {
		name         string
		kept, live   settings
		keys         []string
		source, read []int // statuses of the source and the report of the kept version, by key
	}{
		{"both public", open, open, []string{"", elsewhere, reader, onePub}, []int{200, 200, 200, 200},
			[]int{200, 200, 200, 200}},
		{"kept one private", hidden, open, []string{"", reader, onePub}, []int{401, 403, 200}, []int{200, 200, 200}},
		{"live one private", open, hidden, []string{"", reader, onePub}, []int{401, 403, 200}, []int{200, 200, 200}},
		{"kept one protected", protected, open, []string{"", elsewhere, reader, onePub}, []int{401, 403, 200, 200},
			[]int{401, 403, 200, 200}},
		{"live one protected", open, protected, []string{"", elsewhere, reader, onePub}, []int{401, 403, 200, 200},
			[]int{401, 403, 200, 200}},
	} {
		p := newPublishing(t, nil)
		versions := make([]string, 2)
		for i, s := range []settings{tt.kept, tt.live} {
			body, contentType := form(t, "prices.csv", prices+strings.Repeat("3,Moss,4\n", i), "descriptor",
				`{"resources": [{"path": "prices.csv", "herbarium": {"source": "`+s.source+`", "access": "`+
					s.access+`"}}]}`)
			a := p.put(t, "?_allow_exposure=true", body, contentType)
			versions[i] = decode[publishedBody](t, a).Version
			if versions[i] == "" {
				t.Fatalf("%s: %d %s", tt.name, a.status, a.body)
			}
		}
		for i, key := range tt.keys {
			source := p.do(t, request("GET", pricesPath+"/source?_version="+versions[0], "", "X-API-Key: "+key,
				`If-None-Match: "x"`))
			if source.status != tt.source[i] || (source.body == prices) != (source.status == 200) {
				t.Errorf("%s, key %q: the source gives %d %s, want %d", tt.name, key, source.status, source.body,
					tt.source[i])
			}
			if known := p.do(t, request("GET", pricesPath+"/source?_version="+versions[0], "", "X-API-Key: "+key,
				`If-None-Match: "`+versions[0]+`"`)); (known.status == 304) != (tt.source[i] == 200) {
				t.Errorf("%s, key %q: a known source gives %d", tt.name, key, known.status)
			}
			if report := p.do(t, request("GET", pricesPath+"/report?_version="+versions[0], "",
				"X-API-Key: "+key)); report.status != tt.read[i] {
				t.Errorf("%s, key %q: the report gives %d %s, want %d", tt.name, key, report.status,
					report.body, tt.read[i])
			}
		}
	}
}

func TestPutDescriptor(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	if a := p.send(t, "PUT", "/descriptor", pricesDescriptor); a.status != 404 {
		t.Errorf("an unknown dataset gives %d %s", a.status, a.body)
	}
	p.put(t, "", prices)
	if a := p.send(t, "PUT", "/descriptor", pricesDescriptor); a.status != 409 {
		t.Errorf("a breaking change gives %d %s", a.status, a.body)
	}
	if a := p.send(t, "PUT", "/descriptor?_allow_breaking=true", pricesDescriptor); a.status != 200 ||
		p.live(t) != `{"id":"1","cost":"2.50"}` {
		t.Errorf("%d %s: %s", a.status, a.body, p.live(t))
	}
	a := p.send(t, "GET", "/descriptor", "")
	var got, want any
	must.NoError(t, errors.Join(json.Unmarshal([]byte(a.body), &got), json.Unmarshal([]byte(pricesDescriptor), &want)))
	if diff := gocmp.Diff(want, got); a.status != 200 || diff != "" {
		t.Errorf("the descriptor (-want +got):\n%s", diff)
	}
	if a := p.send(t, "PUT", "/descriptor", a.body); a.status != 200 ||
		decode[publishedBody](t, a).Status != "unchanged" {
		t.Errorf("the same descriptor gives %d %s", a.status, a.body)
	}
	if a := p.send(t, "PUT", "/descriptor", "{}"); a.status != 422 {
		t.Errorf("an empty descriptor gives %d %s", a.status, a.body)
	}
	if a := p.send(t, "PUT", "/descriptor", " "); a.status != 400 {
		t.Errorf("an empty body gives %d %s", a.status, a.body)
	}
	if a := p.send(t, "GET", "/source", ""); a.body != prices {
		t.Errorf("the source is %q", a.body)
	}
}

func TestRollbackAndRemove(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	if a := p.send(t, "POST", "/rollback", ""); a.status != 404 {
		t.Errorf("an unknown dataset gives %d %s", a.status, a.body)
	}
	first := decode[publishedBody](t, p.put(t, "?_access=open", prices)).Version
	second := decode[publishedBody](t, p.put(t, "?_access=key", prices)).Version
	for _, tt := range []struct {
		path, body, header string
		status             int
	}{
		{"/rollback", "", "", 409}, // it would become public
		{"/rollback", `{"version": "x"}`, "", 400},
		{"/rollback", `{"to": "not a version"}`, "", 400},
		{"/rollback", `{"to": "x"}`, "", 410}, // perhaps a label
		{"/rollback", `{"to": "20200101T000000Z-aaaaaaaaaa"}`, "", 410},
		{"/rollback?_check=true", "", "", 400},
		{"/rollback?_allow_exposure=true", `{"to": "` + first + `"}`, `If-Match: "` + first + `"`, 412},
		{"/rollback?_allow_exposure=true", `{"to": "` + first + `"}`, `If-Match: "` + second + `"`, 200},
		{"/rollback", `{"to": "` + second + `"}`, "", 200},
	} {
		if a := p.send(t, "POST", tt.path, tt.body, cmp.Or(tt.header, "X: ")); a.status != tt.status {
			t.Errorf("%s %s gives %d %s", tt.path, tt.body, a.status, a.body)
		}
	}
	if live := p.liveVersion(t); live != second {
		t.Errorf("live is %s", live)
	}
	for _, tt := range []struct {
		header string
		status int
	}{{"X: ", 400}, {`If-Match: "` + first + `"`, 412}, {`If-Match: "` + second + `"`, 204},
		{`If-Match: "` + second + `"`, 412}} {
		if a := p.send(t, "DELETE", "", "", tt.header); a.status != tt.status {
			t.Errorf("%s gives %d %s", tt.header, a.status, a.body)
		}
	}
	if a := p.do(t, request("DELETE", pricesPath, "", "X-API-Key: "+reader, "If-Match: *")); a.status != 403 {
		t.Errorf("a reader gets %d", a.status)
	}
	if got := p.live(t); !strings.Contains(got, "no such dataset") {
		t.Errorf("live is %s", got)
	}
	files, err := filepath.Glob(filepath.Join(p.versions, "*-*"))
	if err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}

// TestPatchSource_keys replaces and removes records whose keys are equal by value and written in
// another way. Texts are compared as written.
func TestPatchSource_keys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, schema, file, change, want string }{
		{"number", "number", "1,Rose,2\n2.50,Fern,3\n3,Moss,4\n", "1.0,Oak,5,\n2.5,,,true\n+4,Elm,6,\n4.0,Ash,7,\n",
			"1.0 Oak 5|3 Moss 4|4.0 Ash 7"},
		{"decimal comma", `number", "decimalChar": ",`, "\"1,50\",Rose,2\n2,Fern,3\n",
			"\"1,5\",Oak,5,\n\"2,0\",,,true\n", "1,5 Oak 5"},
		{"datetime", "datetime", "2024-02-29T12:00:00Z,Rose,2\n2024-03-01T00:00:00Z,Fern,3\n",
			"2024-02-29T13:00:00+01:00,Oak,5,\n2024-03-01 00:00:00,,,true\n", "2024-02-29T13:00:00+01:00 Oak 5"},
		{"text", "string", "1,Rose,2\n1.0,Fern,3\n", "1,Oak,5,\n", "1 Oak 5|1.0 Fern 3"},
	} {
		p := newPublishing(t, nil)
		const head = "id,name,price"
		descriptor := `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id", "fields": [
			{"name": "id", "type": "` + tt.schema + `"}, {"name": "name"}, {"name": "price"}]}}]}`
		body, contentType := form(t, "prices.csv", head+"\n"+tt.file, "descriptor", descriptor)
		if a := p.put(t, "", body, contentType); a.status != 201 {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
		if a := p.send(t, "PATCH", "/source?_mode=upsert", head+",_deleted\n"+tt.change); a.status != 200 ||
			p.rows(t) != tt.want {
			t.Errorf("%s: %d %s leads to %q, want %q", tt.name, a.status, a.body, p.rows(t), tt.want)
		}
	}
}

// TestPatchSource_repeatedKeys changes a version with records of the same key. A record that would
// replace or remove several of them is rejected, whatever is consented to.
func TestPatchSource_repeatedKeys(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	const header = "id,name,price,_deleted\n"
	body, contentType := form(t, "prices.csv", "id,name,price\n1,Rose,2\n1,Fern,3\n2,Moss,4\n", "descriptor",
		`{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id"}}]}`)
	if a := p.put(t, "?_allow_breaking=true", body, contentType); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, change := range []string{"1,Oak,5,\n", "1.0,,,true\n", "3,Ash,6,\n1,Oak,5,\n"} {
		a := p.send(t, "PATCH", "/source?_mode=upsert&_allow_breaking=true", header+change)
		if a.status != 409 || !strings.Contains(a.message(t), "the primary key (id) of shop/prices is not unique") ||
			p.rows(t) != "1 Rose 2|1 Fern 3|2 Moss 4" {
			t.Errorf("%q gives %d %s: %s", change, a.status, a.body, p.rows(t))
		}
	}
	a := p.send(t, "PATCH", "/source?_mode=upsert&_allow_breaking=true", header+"2,Oak,5,\n")
	if a.status != 200 || p.rows(t) != "1 Rose 2|1 Fern 3|2 Oak 5" {
		t.Errorf("%d %s: %s", a.status, a.body, p.rows(t))
	}
}

// TestPatchSource_noReport changes a version that an earlier release published without a report.
func TestPatchSource_noReport(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	p.put(t, "", prices)
	d, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	must.NoError(t, err)
	live := d.Version
	d.Version, d.Report = live[:len(live)-3]+"zzz", nil
	segment, err := os.ReadFile(filepath.Join(p.versions, live+".segment"))
	must.NoError(t, err)
	must.NoError(t, os.WriteFile(filepath.Join(p.versions, d.Version+".segment"), segment, 0o600))
	_, err = p.store.AddVersion(t.Context(), d, live, herb.Keep{Versions: 10}, time.Now())
	must.NoError(t, err)
	if a := p.send(t, "PATCH", "/source?_mode=append", "id,name,price\n3,Moss,4\n"); a.status != 200 ||
		p.rows(t) != "1 Rose 2.50|2 Fern 3|3 Moss 4" {
		t.Errorf("%d %s: %s", a.status, a.body, p.rows(t))
	}
}

func TestPatchSource(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	if a := p.send(t, "PATCH", "/source?_mode=append", prices); a.status != 404 {
		t.Errorf("an unknown dataset gives %d %s", a.status, a.body)
	}
	const descriptor = `{"resources": [{"path": "prices.csv", "title": "Prices", "schema": {"primaryKey": "id", "missingValues": ["-"], "fields": [
		{"name": "id", "type": "string"}, {"name": "label", "herbarium": {"from": "name"}}, {"name": "price", "type": "number"}]},
		"herbarium": {"include": {"kind": ["plant"]}, "expectations": [{"query": "", "min": 1}]}}]}`
	const header = "id,name,price,kind\n"
	body, contentType := form(t, "prices.csv", header+"01,Rose,2.50,plant\n02,Fern,-,plant\n03,Pot,1,other\n",
		"descriptor", descriptor)
	if a := p.put(t, "", body, contentType); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	steps := []struct {
		mode, file string
		status     int
		want       string // records, or a part of the message
	}{
		{"", header, 400, "_mode is required"},
		{"?_mode=merge", header, 400, "write append or upsert"},
		{"?_mode=append&_access=open", header, 400, "_access"},
		{"?_mode=append", "id,name,kind\n04,Ivy,plant\n", 422, "send a file of the same columns"},
		{"?_mode=append", header + "04,\"Ivy \"\"x\"\",\n\",4,plant\n05,Spade,9,other\n", 200,
			`01 Rose 2.50|02 Fern |04 Ivy "x",` + "\n" + ` 4`},
		{"?_mode=append", header + "04,Ivy,4,plant\n", 409, "primary key (id) is not unique"},
		{"?_mode=append", header + "06,Oak,many,plant\n", 422, "many"},
		{"?_mode=upsert", "kind,price,name,id,_deleted\nplant,8,Oak,07,\nplant,3,Fern,02,no\nplant,,,01,true\nplant,5,Elm,07,false\nplant,,,99,1\n", 200, `02 Fern 3|04 Ivy "x",` + "\n" + ` 4|07 Elm 5`},
		{"?_mode=upsert&_check=true", header + "02,Fern,7,plant\n", 200, `02 Fern 3|04 Ivy "x",` + "\n" +
			` 4|07 Elm 5`},
		{"?_mode=upsert", header + "07,Elm,6,plant\n", 200, `02 Fern 3|04 Ivy "x",` + "\n" + ` 4|07 Elm 6`},
	}
	for _, tt := range steps {
		a := p.send(t, "PATCH", "/source"+tt.mode, tt.file)
		if a.status != tt.status {
			t.Errorf("%s %q gives %d %s", tt.mode, tt.file, a.status, a.body)
			continue
		}
		if tt.status != 200 {
			if !strings.Contains(a.message(t), tt.want) {
				t.Errorf("%s %q gives %s", tt.mode, tt.file, a.body)
			}
			continue
		}
		if got := p.rows(t); got != tt.want {
			t.Errorf("%s %q leads to %q, want %q", tt.mode, tt.file, got, tt.want)
		}
	}
	d, err := p.library.LiveVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	must.NoError(t, err)
	if d.Title != "Prices" || d.Fields[0].Type != herb.TypeText || d.Fields[2].Type != herb.TypeNumber ||
		len(d.PrimaryKey) != 1 {
		t.Errorf("the description is %+v", d)
	}
	if a := p.put(t, "", header+"01,Rose,2.50,plant\n02,Fern,-,plant\n"); a.status != 200 ||
		p.rows(t) != "01 Rose 2.50|02 Fern " {
		t.Errorf("a whole file gives %d %s: %s", a.status, a.body, p.rows(t))
	}
	q := newPublishing(t, nil)
	q.put(t, "", "price,name\n2.50,Rose\n3,Rose\n")
	if a := q.send(t, "PATCH", "/source?_mode=upsert", "price,name\n3,Rose\n"); a.status != 409 ||
		!strings.Contains(a.message(t), "no primary key") {
		t.Errorf("%d %s", a.status, a.body)
	}
	q.put(t, "?_allow_breaking=true", prices)
	if a := q.send(t, "PATCH", "/source?_mode=append", "id,name,price\n3,Moss,4\n"); a.status != 200 ||
		q.rows(t) != "1 Rose 2.50|2 Fern 3|3 Moss 4" {
		t.Errorf("%d %s: %s", a.status, a.body, q.rows(t))
	}
	if a := q.send(t, "GET", "/source",
		""); a.body != "\"id\",\"name\",\"price\"\n\"1\",\"Rose\",\"2.50\"\n\"2\",\"Fern\",\"3\"\n\"3\",\"Moss\",\"4\"\n" {
		t.Errorf("the source is %q", a.body)
	}
}

// rows returns the values of the live records, each after a blank or a bar.
func (p *publishSite) rows(t *testing.T) string {
	t.Helper()
	v, err := p.library.Acquire(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	must.NoError(t, err)
	return rowsOf(t, v)
}

// rowsOf returns the values of the records of a version, each after a blank or a bar, and releases
// it.
func rowsOf(t *testing.T, v library.View) string {
	t.Helper()
	defer v.Release()
	var all []string
	decoder := herb.NewRecordDecoder(v.Fields)
	must.NoError(t, v.Reader.Each(t.Context(), func(record []byte) error {
		var values []string
		err := decoder.Decode(record, func(value []byte) { values = append(values, string(value)) })
		all = append(all, strings.Join(values, " "))
		return err
	}))
	return strings.Join(all, "|")
}
