package web_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

// The keys of the fixture.
const (
	staffKey = "herb_staff00000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	otherKey = "herb_other00000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	sellsKey = "herb_sells00000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // publishes the namespace nursery
	sendsKey = "herb_sends00000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // publishes it, but may not read it
	ownerKey = "herb_owner00000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // publishes garden/catalog and locked/staff
)

// keys returns the keys of the fixture.
func keys() *apitest.Keys {
	return &apitest.Keys{Scopes: map[string][]herb.Scope{
		staffKey: {"data:read:locked/staff"},
		otherKey: {"data:read:garden/catalog"},
		sellsKey: {"publish:nursery/*", "data:read"},
		sendsKey: {"publish:nursery/*"},
		ownerKey: {"publish:garden/catalog", "publish:locked/staff"},
	}}
}

// keep adds an earlier version of a dataset, which is listed from records.
func keep(l *apitest.Library, d herb.Dataset, version string, records []herb.Record) {
	d.Version, d.Published = version, time.Date(2025, 1, 2, 8, 30, 0, 0, time.UTC)
	l.Keep(d, records)
}

// replace publishes another version of a dataset.
func replace(l *apitest.Library, d herb.Dataset, records []herb.Record) {
	l.Put(d, records)
	setVersions(l, "v2")
}

// setVersions names the live versions of all datasets.
func setVersions(l *apitest.Library, version string) {
	for i := range l.Views {
		l.Views[i].Version = version
	}
}

// field returns a field that supports searching, filtering and sorting.
func field(name string, t herb.Type) herb.Field {
	return herb.Field{Name: name, Type: t, Searchable: t == herb.TypeText || t == herb.TypeList, Filterable: true,
		Sortable: true}
}

func garden() (herb.Dataset, []herb.Record) {
	fields := []herb.Field{
		field("id", herb.TypeNumber), field("title", herb.TypeText), field("category", herb.TypeText),
		field("price", herb.TypeNumber),
		field("date", herb.TypeDate), field("url", herb.TypeText), field("image", herb.TypeText),
		field("tags", herb.TypeList),
	}
	fields[3].Title, fields[3].Description = "Price in €", "What it costs"
	var records []herb.Record
	for i := range 60 {
		category := []string{"fern", "moss", "tree"}[i%3]
		if i%20 == 19 {
			category = ""
		}
		records = append(records, herb.Record{
			fmt.Sprint(i + 1), fmt.Sprintf("Plant %d of the %s kind", i+1, category), category,
			fmt.Sprintf("%d.50", i*1000),
			fmt.Sprintf("2024-%02d-%02d", i%12+1, i%28+1), fmt.Sprintf("https://garden.example/plants/%d", i+1),
			fmt.Sprintf("https://garden.example/images/%d.jpg", i+1), []string{"shade", "shade,wet", "dry"}[i%3],
		})
	}
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: "catalog"}, Title: "The garden", Description: "What grows in it.",
		Access: herb.AccessOpen, Fields: fields,
	}
	d.PrimaryKey = []string{"id"}
	d.Descriptor = herb.NewDescriptor(
		[]byte(`{"package":{"keywords":["plants","garden"]},"resource":{"licenses":[{"name":"CC0","path":"https://cc.example/zero"}]}}`))
	d.Report = &herb.Report{Format: "csv", Rows: 60, Cells: "abc"}
	for _, f := range fields {
		distinct := map[string]int{"category": 3, "tags": 3, "date": 50, "price": 60}[f.Name]
		if distinct == 0 {
			distinct = 60
		}
		d.Report.Columns = append(d.Report.Columns, herb.ColumnReport{Field: f.Name, Type: f.Type, Filled: 57,
			Distinct: distinct, Evidence: "seen"})
	}
	return d, records
}

func staff() (herb.Dataset, []herb.Record) {
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "locked", Name: "staff"}, Title: "Staff", Access: herb.AccessKey,
		Fields: []herb.Field{field("name", herb.TypeText), field("room", herb.TypeNumber)},
	}
	d.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "name", Min: "Secretive Ana"}, {Field: "room"}}}
	return d, []herb.Record{{"Secretive Ana", "7"}, {"Secretive Bo", "8"}}
}

// hostile returns values that attack a page.
func hostile() []string {
	return []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `javascript:alert(1)`, ` javascript:alert(1)`,
		`data:text/html,<script>alert(1)</script>`, `https://a@evil.example/`,
		`https://x.example/"onmouseover="alert(1)`,
		"\u202Eexe.gnp", "\u2066\u202Eabc", "</td></table><h1>gone", "{{.}}", "a\r\nb\tc\n\n d ",
		"nul\x00byte", "'`${1}`'",
		"<!-- x", "]]>", "&lt;b&gt;", "<swap-mark>", "vbscript:x", "//evil.example/x.jpg", "http://plain.example/x.jpg",
		"\u0085\u2028\uFEFF",
		strings.Repeat("long ", 400), "  ",
	}
}

func evil() (herb.Dataset, []herb.Record) {
	fields := []herb.Field{field(`"><script>alert(1)</script>`, herb.TypeText), field("image", herb.TypeText),
		field("tags", herb.TypeList),
		field("_column", herb.TypeText), field("page", herb.TypeText), field("a[eq]", herb.TypeText),
		field("\u202Efield", herb.TypeText)}
	fields[1].Title, fields[1].Description = `<b onclick=alert(1)>`, "</dd><script>alert(2)</script>"
	var records []herb.Record
	for _, v := range hostile() {
		records = append(records, herb.Record{v, v, v, v, v, v, v})
	}
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "evil", Name: "nasty"}, Title: "</title><script>alert(1)</script>\u202Ex",
		Description: `"><script>alert(1)</script>`, Fields: fields,
	}
	d.Descriptor = herb.NewDescriptor(
		[]byte(`{"resource":{"licenses":[{"name":"<script>","path":"javascript:alert(1)"}],"keywords":["</script><script>alert(1)"]}}`))
	d.Report = &herb.Report{Format: "<script>alert(1)</script>", Notes: []string{"<script>alert(1)</script>"}}
	for _, f := range fields {
		d.Report.Columns = append(d.Report.Columns, herb.ColumnReport{Field: f.Name, Distinct: 3, Min: "<script>",
			Evidence: "<script>"})
	}
	return d, records
}

func wide() (herb.Dataset, []herb.Record) {
	var fields []herb.Field
	var record herb.Record
	for i := range 2000 {
		fields = append(fields, field(fmt.Sprintf("f%d", i), herb.TypeText))
		record = append(record, fmt.Sprint(i))
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "wide", Name: "many"}, Fields: fields}
	return d, []herb.Record{record}
}

// site is a server with pages over a fake library.
type site struct {
	http.Handler
	library *apitest.Library
	base    string
}

func newSite(t testing.TB, change func(*web.Options, *apitest.Library)) *site {
	t.Helper()
	lib := &apitest.Library{Histories: map[herb.Ref][]versions.Version{}}
	lib.Put(garden())
	lib.Put(staff())
	lib.Put(evil())
	lib.Put(wide())
	lib.Put(herb.Dataset{Ref: herb.Ref{Namespace: "empty", Name: "none"},
		Fields: []herb.Field{field("a", herb.TypeText)}}, nil)
	for _, v := range lib.Views {
		d := v.Dataset
		if d.Namespace == "wide" {
			d.Report = &herb.Report{Columns: make([]herb.ColumnReport, len(d.Fields))}
		}
		lib.Histories[d.Ref] = []versions.Version{{Dataset: d, Live: true}}
	}
	opts := web.Options{
		Site: httpapi.Site{Library: lib, History: lib.History, Version: "test", Agents: true,
			SearchBudget: time.Hour},
		Folder:       func(herb.Ref) string { return "" },
		SourceErrors: func(context.Context) ([]herb.SourceError, error) { return nil, nil },
	}
	if change != nil {
		change(&opts, lib)
	}
	pages, err := web.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(opts.PublicURL)
	if err != nil {
		t.Fatal(err)
	}
	return &site{Handler: newAPI(t, opts.Site, pages), library: lib, base: strings.TrimRight(u.Path, "/")}
}

// newAPI returns the server of pages.
func newAPI(t testing.TB, s httpapi.Site, pages httpapi.Pages) *httpapi.API {
	t.Helper()
	lanes, err := admission.New(admission.Options{Limits: admission.DefaultLimits(2, 1<<30)})
	if err != nil {
		t.Fatal(err)
	}
	api, err := httpapi.New(httpapi.Options{
		Site: s, Keys: keys(), Pages: pages, Admission: lanes,
		Log: slog.New(slog.DiscardHandler), Health: func() httpapi.Health { return httpapi.Health{} },
		Observe: func(response.Observation) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
}

func (s *site) do(t testing.TB, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	res := w.Result()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

// get sends a request as a browser does. more are names and values of headers.
func (s *site) get(t testing.TB, path string, more ...string) reply {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://herbarium.test"+path, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	return s.do(t, r)
}

// page requests a page and parses it.
func (s *site) page(t testing.TB, path string, status int) *html.Node {
	t.Helper()
	a := s.get(t, path)
	if a.status != status {
		t.Fatalf("%s gives %d, want %d: %.300s", path, a.status, status, a.body)
	}
	return parse(t, a.body)
}

func parse(t testing.TB, body string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// all returns the descendant elements of n that meet a condition, in document order.
func all(n *html.Node, meets func(*html.Node) bool) (found []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && meets(d) {
			found = append(found, d)
		}
	}
	return found
}

// tag is the condition that an element has a tag name and, if given, a class.
func tag(name, class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		return n.Data == name && (class == "" || slices.Contains(strings.Fields(attr(n, "class")), class))
	}
}

// one returns the only descendant element that meets a condition.
func one(t testing.TB, n *html.Node, meets func(*html.Node) bool) *html.Node {
	t.Helper()
	found := all(n, meets)
	if len(found) != 1 {
		t.Fatalf("found %d elements, want 1", len(found))
	}
	return found[0]
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text of an element.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// words returns the text of an element with white space collapsed.
func words(n *html.Node) string { return strings.Join(strings.Fields(textOf(n)), " ") }
