package web_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

// send submits the form to choose a file. parts are names and values; that of a file begins with
// "@" and its name.
func (s *publishingSite) send(t testing.TB, key string, parts [][2]string, more ...string) reply {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, part := range parts {
		var err error
		if name, ok := strings.CutPrefix(part[0], "@"); ok {
			w, failed := form.CreateFormFile("file", name)
			err = failed
			if err == nil {
				_, err = w.Write([]byte(part[1]))
			}
		} else {
			err = form.WriteField(part[0], part[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://herbarium.test/publish", &body)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Cookie", "herbarium_key="+key)
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	return s.do(t, r)
}

// TestPublish_keys opens every page for publishing without a key that may publish.
func TestPublish_keys(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	for _, path := range []string{"/publish", "/publish/" + draftID, "/publish/" + draftID + "/descriptor",
		"/publish/" + draftID + "/live/publish1"} {
		if a := s.get(t, path); a.status != 401 || !strings.Contains(a.body, `name="back" value="/publish`) ||
			strings.Contains(a.body, "Dog rose") {
			t.Errorf("%s without a key: %d", path, a.status)
		}
		a := s.get(t, path, as(otherKey)...)
		if a.status != 403 || !strings.Contains(a.body, "may not publish") || strings.Contains(a.body, "Dog rose") {
			t.Errorf("%s with a key that may not publish: %d", path, a.status)
		}
		if cache := a.header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("%s has Cache-Control %q", path, cache)
		}
	}
	for _, path := range []string{"/publish/" + draftID, "/publish/" + draftID + "/publish", "/publish/" + draftID +
		"/discard", "/publish-table", "/datasets/nursery/stock/rollback"} {
		form := url.Values{"title": {"Other"}, "to": {"v0"}, "live": {"v1"}, "namespace": {"nursery"}, "dataset": {"x"},
			"table": {"a\tb"}}
		if a := s.post(t, path, form, as(otherKey)...); a.status != 403 {
			t.Errorf("POST %s with a key that may not publish: %d", path, a.status)
		}
		if a := s.post(t, path, form, append(as(sellsKey), "Sec-Fetch-Site", "cross-site")...); a.status != 403 ||
			!strings.Contains(a.body, "another site") {
			t.Errorf("POST %s from another site: %d", path, a.status)
		}
	}
	if a := s.send(t, otherKey, [][2]string{{"namespace", "nursery"}, {"@a.csv", "a,b\n"}}); a.status != 403 {
		t.Errorf("a file with a key that may not publish: %d", a.status)
	}
	if a := s.send(t, sellsKey, [][2]string{{"namespace", "nursery"}, {"@a.csv", "a,b\n"}}, "Origin",
		"https://evil.example"); a.status != 403 {
		t.Errorf("a file from another site: %d", a.status)
	}
	if len(s.files)+len(s.edits)+len(s.published)+len(s.discarded)+len(s.rollbacks) > 0 {
		t.Errorf("something was done: %+v", s.fakeDrafts)
	}
	s.review.Draft.Ref = herb.Ref{Namespace: "other", Name: "stock"}
	if a := s.get(t, "/publish/"+draftID, as(sellsKey)...); a.status != 404 || strings.Contains(a.body, "Dog rose") ||
		strings.Contains(a.body, "other/stock") {
		t.Errorf("a draft of a dataset that the key may not publish: %d", a.status)
	}
}

// TestPublish_keyForm enters a key and returns to the page that required it.
func TestPublish_keyForm(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	for back, want := range map[string]string{
		"/publish": "/publish", "/publish/" + draftID: "/publish/" + draftID, "": "/", "/publish/../x": "/",
		"//evil.example": "/", "/publish?x=1": "/",
		"/publish/a/b": "/",
	} {
		a := s.post(t, "/key", url.Values{"key": {sellsKey}, "back": {back}})
		if to := a.header.Get("Location"); a.status != 303 || to != want {
			t.Errorf("back to %q leads to %q, %d", back, to, a.status)
		}
	}
}

func TestPublish_off(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, path := range []string{"/publish", "/publish/" + draftID} {
		if a := s.get(t, path, as(sellsKey)...); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := s.get(t, "/", as(sellsKey)...); strings.Contains(a.body, "/publish") {
		t.Error("the catalogue links to the page")
	}
	if _, err := web.New(web.Options{Files: &fakeDrafts{}}); err == nil {
		t.Error("incomplete options are accepted")
	}
}

// TestPublish_links looks for links to publishing. Visitors without a key see the link of the
// catalogue, which leads to the form for a key.
func TestPublish_links(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	for path, link := range map[string]string{
		"/": `href="/publish"`, "/datasets/nursery/stock/versions": `href="/publish?namespace=nursery&amp;dataset=stock"`,
		"/datasets/nursery/stock/about": `href="/publish?namespace=nursery&amp;dataset=stock"`,
	} {
		for key, want := range map[string]bool{sellsKey: true, otherKey: false, "": false} {
			a := s.get(t, path, as(key)...)
			want := want || key == "" && path == "/"
			if got := strings.Contains(a.body, link); got != want {
				t.Errorf("%s with the key %q: link %v, want %v", path, key, got, want)
			}
			if want && key != "" && !strings.Contains(a.header.Get("Cache-Control"), "private") {
				t.Errorf("%s is cached: %v", path, a.header)
			}
		}
	}
	if a := s.get(t, "/datasets/garden/catalog/versions", as(sellsKey)...); strings.Contains(a.body, `/publish?`) {
		t.Error("a dataset that the key may not publish has a link")
	}
}

// TestPublish_form shows what the key may publish, and the drafts.
func TestPublish_form(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	a := s.get(t, "/publish", as(sellsKey)...)
	page := parse(t, a.body)
	if a.status != 200 || attr(one(t, page, byID("namespace")), "value") != "nursery" ||
		attr(one(t, page, byID("dataset")), "value") != "" {
		t.Errorf("%d, the namespace is %q", a.status, attr(one(t, page, byID("namespace")), "value"))
	}
	if options := all(one(t, page, byID("datasets")), tag("option", "")); len(options) != 1 ||
		attr(options[0], "value") != "stock" {
		t.Errorf("there are %d datasets to choose", len(options))
	}
	if got := words(one(t, page, tag("section", "drafts"))); got != "Files that wait for you autumn-2026.xlsx for "+
		"nursery/stock, 500 KiB, 5 minutes ago Discard autumn-2026.xlsx" {
		t.Errorf("the drafts are %q", got)
	}
	page = parse(t, s.get(t, "/publish?namespace=nursery&dataset=stock", as(sellsKey)...).body)
	if attr(one(t, page, byID("dataset")), "value") != "stock" {
		t.Error("the parameters do not name the dataset")
	}
}

func byID(id string) func(*html.Node) bool {
	return func(n *html.Node) bool { return attr(n, "id") == id }
}

// TestPublish_files sends files, which become drafts.
func TestPublish_files(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		parts  [][2]string
		status int
		to     string // where it leads, or a part of the message
		refs   string
	}{
		{"named", [][2]string{{"namespace", "nursery"}, {"dataset", "stock"}, {"@Prices 2026.csv", "a,b\n"}}, 303,
			"/publish/" + draftID, "nursery/stock"},
		{"after the file", [][2]string{{"namespace", "nursery"}, {"dataset", ""}, {"@Préise 2026.csv.gz", "a"}}, 303,
			"/publish/" + draftID, "nursery/preise-2026"},
		{"several", [][2]string{{"namespace", "nursery"}, {"@a.csv", "a"}, {"@b.csv", "b"}}, 303,
			"/publish-all?draft=" + draftID + "&draft=" + draftID, "nursery/a nursery/b"},
		{"several, one of them without a name",
			[][2]string{{"namespace", "nursery"}, {"@....csv", "a"}, {"@b.csv", "b"}}, 400,
			"....csv: a dataset cannot be named after", "nursery/b"},
		{"several with one name", [][2]string{{"namespace", "nursery"}, {"dataset", "x"}, {"@a.csv", "a"},
			{"@b.csv", "b"}}, 400, "leave Dataset empty", "nursery/x"},
		{"no namespace", [][2]string{{"namespace", ""}, {"@a.csv", "a"}}, 400, "Enter the collection", ""},
		{"namespace of others", [][2]string{{"namespace", "other"}, {"@a.csv", "a"}}, 403, "publish:other/a", ""},
		{"wrong namespace", [][2]string{{"namespace", "…"}, {"@a.csv", "a"}}, 400, "lower-case letters", ""},
		{"names to make valid", [][2]string{{"namespace", " Nursery "}, {"dataset", "Prices 2026"}, {"@a.csv", "a"}},
			303, "/publish/" + draftID, "nursery/prices-2026"},
		{"wrong dataset", [][2]string{{"namespace", "nursery"}, {"dataset", "a/b"}, {"@a.csv", "a"}}, 400,
			"lower-case letters", ""},
		{"name without letters", [][2]string{{"namespace", "nursery"}, {"@....csv", "a"}}, 400, "enter a name", ""},
		{"nothing", [][2]string{{"namespace", "nursery"}}, 400, "Choose a file, or paste a table.", ""},
		{"table", [][2]string{{"namespace", "nursery"}, {"dataset", "new"}, {"table", "a\tb\r\n1\t2\r\n"}}, 303,
			"/publish/" + draftID, "nursery/new"},
		{"table without a name", [][2]string{{"namespace", "nursery"}, {"table", "a\tb\n"}}, 400, "Enter the name", ""},
	} {
		s := newPublishingSite(t)
		a := s.send(t, sellsKey, tt.parts)
		if a.status != tt.status || a.header.Get("Location") != tt.to && !strings.Contains(a.body, tt.to) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, a.status, a.header.Get("Location"), tt.status, tt.to)
		}
		var refs []string
		for _, d := range s.created {
			refs = append(refs, d.Ref.String())
			if d.Owner != "sells00000" {
				t.Errorf("%s: the owner is %q", tt.name, d.Owner)
			}
		}
		if got := strings.Join(refs, " "); got != tt.refs {
			t.Errorf("%s: drafts of %q, want %q", tt.name, got, tt.refs)
		}
	}
}

// TestPublish_unreadable sends files that cannot be read, alone and with another one: they become
// no drafts, and the page says why.
func TestPublish_unreadable(t *testing.T) {
	t.Parallel()
	for _, files := range [][][2]string{
		{{"namespace", "nursery"}, {"@report.pdf", "%PDF"}},
		{{"namespace", "nursery"}, {"@report.pdf", "%PDF"}, {"@more.csv", "a"}},
	} {
		s := newPublishingSite(t)
		s.review = &review.Review{Draft: s.review.Draft, Error: "report.pdf: this is a PDF document"}
		a := s.send(t, sellsKey, files)
		if page := parse(t, a.body); a.status != 422 || len(s.discarded) != 1 ||
			!strings.HasPrefix(words(one(t, page, tag("p", "notice"))), "report.pdf: this is a PDF document") {
			t.Errorf("%d, discarded %q: %s", a.status, s.discarded, a.body)
		}
	}
	s := newPublishingSite(t)
	s.review.Error, s.review.Columns, s.review.Tables = "choose a table", nil, []string{"a", "b"}
	if a := s.send(t, sellsKey, [][2]string{{"namespace", "nursery"}, {"@a.xlsx", "x"}}); a.status != 303 ||
		len(s.discarded) > 0 {
		t.Errorf("a file whose table must be chosen: %d, discarded %q", a.status, s.discarded)
	}
}

// TestPublish_base publishes behind a proxy with a path prefix.
func TestPublish_base(t *testing.T) {
	t.Parallel()
	f := &fakeDrafts{review: stockReview(), record: ended("", versions.StatusPublished, "")}
	s := newSite(t, func(o *web.Options, _ *apitest.Library) {
		o.PublicURL, o.Files, o.Drafts, o.Versions, o.Publisher = "https://example.org/open", f, f, f, f
	})
	if a := s.get(t, "/publish", as(sellsKey)...); !strings.Contains(a.body, `action="/open/publish"`) ||
		!strings.Contains(a.body, `formaction="/open/publish-table"`) {
		t.Errorf("the form: %d", a.status)
	}
	if a := s.get(t, draftPath, as(sellsKey)...); !strings.Contains(a.body, `action="/open`+draftPath+`"`) ||
		!strings.Contains(a.body, `formaction="/open`+draftPath+`/publish"`) {
		t.Errorf("the review: %d", a.status)
	}
	origin := append(as(sellsKey), "Origin", "https://example.org")
	if a := s.post(t, draftPath, url.Values{"title": {"a"}, "was-title": {"b"}}, origin...); a.status != 303 ||
		a.header.Get("Location") != "/open"+draftPath {
		t.Errorf("an edit: %d %v", a.status, a.header)
	}
	a := s.get(t, draftPath+"/live/publish1", as(sellsKey)...)
	if a.header.Get("Location") != "/open/datasets/nursery/stock" ||
		!strings.Contains(a.header.Get("Set-Cookie"),
			"Path=/open/datasets/nursery/stock; Max-Age=120; HttpOnly; Secure") {
		t.Errorf("live: %d %v", a.status, a.header)
	}
	if a := s.post(t, "/key", url.Values{"key": {sellsKey}, "back": {draftPath}}, "Origin",
		"https://example.org"); a.header.Get("Location") != "/open"+draftPath {
		t.Errorf("the key: %d %v", a.status, a.header)
	}
}

// TestPublish_table pastes a table without a script.
func TestPublish_table(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]string{"a\tb\r\n1\t2\r\n": "pasted.tsv", "a,b\r\n1,2\r\n": "pasted.csv"} {
		s := newPublishingSite(t)
		a := s.post(t, "/publish-table", url.Values{"namespace": {"nursery"}, "dataset": {"new"}, "table": {table}},
			as(sellsKey)...)
		if a.status != 303 || len(s.created) != 1 || s.created[0].Name != want ||
			s.files[0] != strings.ReplaceAll(table, "\r\n", "\n") {
			t.Errorf("%q: %d, %+v %q", table, a.status, s.created, s.files)
		}
	}
	s := newPublishingSite(t)
	a := s.post(t, "/publish-table", url.Values{"namespace": {"nursery"}, "table": {"a\tb<script>"}}, as(sellsKey)...)
	if a.status != 400 || !strings.Contains(a.body, "a\tb&lt;script&gt;</textarea>") {
		t.Errorf("the table is not kept: %d", a.status)
	}
}
