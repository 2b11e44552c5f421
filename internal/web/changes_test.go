package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/must"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
	"herbarium/internal/web"
)

// versionsSite is a site over a library with versions.
type versionsSite struct {
	*site
	library *versionstest.Node
}

func newVersionsSite(t *testing.T) *versionsSite {
	t.Helper()
	l := versionstest.OpenLibrary(t, versionstest.OpenDB(t, t.TempDir()),
		versionstest.Options{Dir: t.TempDir(), Keep: 20})
	return &versionsSite{newSite(t, func(o *web.Options, _ *apitest.Library) {
		o.Library, o.History, o.Changes = l, l.History, l.Comparisons()
	}), l}
}

// publish publishes a table, whose first line has the names of its fields, and returns the version.
// The first field is the primary key.
func (s *versionsSite) publish(t *testing.T, ref herb.Ref, access herb.Access, lines ...string) string {
	t.Helper()
	d := herb.Dataset{Ref: ref, Access: access, Title: "Stock"}
	for name := range strings.SplitSeq(lines[0], "|") {
		d.Fields = append(d.Fields, field(name, herb.TypeText))
	}
	d.PrimaryKey = []string{d.Fields[0].Name}
	_, err := s.library.Publish(t.Context(), versions.Publication{
		Dataset: d, AccessSet: true, PublishOptions: versions.PublishOptions{
			Message:  "What is new" + string(access),
			Consents: []herb.Consent{herb.ConsentBreaking, herb.ConsentExposure},
		},
		Records: func(yield func(herb.Record, error) bool) {
			for _, line := range lines[1:] {
				if !yield(strings.Split(line, "|"), nil) {
					return
				}
			}
		},
	})
	must.NoError(t, err)
	live, err := s.library.LiveVersion(t.Context(), ref)
	must.NoError(t, err)
	return live.Version
}

// changeLines returns the rows of a page of changes, or of a history, as text.
func changeLines(page *html.Node) (lines []string) {
	for _, tr := range all(page, tag("tr", ""))[1:] {
		var cells []string
		for c := range tr.ChildNodes() {
			cells = append(cells, words(c))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return lines
}

const stock = "/datasets/shop/stock"

func stockRef() herb.Ref { return herb.Ref{Namespace: "shop", Name: "stock"} }

// TestChanges checks the page of changes: its rows, counts, links and errors.
func TestChanges(t *testing.T) {
	t.Parallel()
	s := newVersionsSite(t)
	first := s.publish(t, stockRef(), "", "id|name|price|gone", "1|Rose|2|x", "2| Fern|3|x", "3|Ivy|4|x", "5|Oak|9|x")
	if a := s.get(t, stock+"/changes"); a.status != 404 || !strings.Contains(a.body, "nothing to compare") {
		t.Errorf("one version: %d", a.status)
	}
	second := s.publish(t, stockRef(), "", "id|name|price|kind", "1|Rose|2.50|", "2|Fern|3|", "4|Moss|5|new",
		"5|Oak|9|tree")
	id := func(key string) string { return strings.NewReplacer("FIRST", first, "SECOND", second).Replace(key) }
	rows := []string{
		"~ changed|1|Rose|old value 2 new value 2.50|empty",
		"~ changed|2|old value ␣Fern new value Fernonly invisible characters differ|3|empty",
		"− removed|3|Ivy|4|empty", "+ added|4|Moss|5|new", "~ changed|5|Oak|9|old value empty new value tree",
	}
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], "|empty", "|–empty")
		rows[i] = strings.ReplaceAll(rows[i], "value empty", "value –empty")
	}
	for _, tt := range []struct {
		query  string
		status int
		rows   []string
	}{
		{"", 200, rows},
		{"?_from=FIRST", 200, rows},
		{"?_from=FIRST&_to=SECOND", 200, rows},
		{"?_op=added", 200, rows[3:4]},
		{"?_op=added%2Cremoved", 200, rows[2:4]},
		{"?per_page=2&page=2", 200, rows[2:4]},
		{"?search=moss", 200, rows[3:4]},
		{"?price=2", 200, rows[:1]}, // the old value
		{"?price=2.50", 200, rows[:1]},
		{"?gone=x&_op=removed", 200, rows[2:3]}, // a field of the earlier version
		{"?_from=SECOND&_to=SECOND", 200, nil},
		{"?sort=price", 400, rows},
		{"?nosuch=1", 400, rows},
		{"?_op=gone", 400, rows},
	} {
		page := s.page(t, stock+"/changes"+id(tt.query), tt.status)
		if got := all(page, tag("table", "")); len(got) == 0 != (tt.rows == nil) || tt.rows != nil &&
			!slices.Equal(changeLines(page), tt.rows) {
			t.Errorf("%s shows %q, want %q", tt.query, words(one(t, page, tag("div", "diff"))), tt.rows)
		}
		if alerts := len(all(page, tag("div", "notice"))); alerts > 0 != (tt.status == 400) {
			t.Errorf("%s has %d notices", tt.query, alerts)
		}
	}
	page := s.page(t, stock+"/changes?_op=changed", 200)
	if got := words(one(t, page, tag("ul", "kinds"))); got != "+1 added~3 changed ×−1 removed" {
		t.Errorf("the kinds are %q", got)
	}
	if got := words(one(t, page, tag("thead", ""))); got != "Changeid –name 1 changedprice 1 changedkind 1 changed" {
		t.Errorf("the columns are %q", got)
	}
	if got := words(one(t, page, tag("ul", "notes"))); got != "+ New column kind − Removed column gone" {
		t.Errorf("the fields are %q", got)
	}
	if got := words(one(t, page, func(n *html.Node) bool { return attr(n, "id") == "call" })); !strings.Contains(got,
		id("/api/v1/shop/stock/changes?_from=FIRST&_op=changed&per_page=50")) {
		t.Errorf("the call is %q", got)
	}
	var files []string
	for _, a := range all(one(t, one(t, page, tag("details", "download")), tag("ul", "files")), tag("a", "")) {
		files = append(files, s.get(t, attr(a, "href"), "Accept", "*/*").body)
	}
	if want := "id,name,price,kind,_deleted\r\n1,Rose,2.50,,false\r\n2,Fern,3,,false\r\n5,Oak,9,tree,false\r\n"; len(
		files) != 2 || files[0] != want || strings.Count(files[1], "\n") != 4 {
		t.Errorf("the files are %q", files)
	}
	if got := s.follow(t, stock+"/changes?_op=&_version="+second); got != stock+"/changes?_to="+second {
		t.Errorf("a query with parameters without effect leads to %s", got)
	}
	if a := s.get(t, stock+"/changes?_from=20010101T133000Z-abcdefghij"); a.status != 410 ||
		!strings.Contains(a.body, first) || !strings.Contains(a.body, `href="`+stock+`/versions"`) {
		t.Errorf("a version that is not kept: %d %s", a.status, a.body)
	}
	if a := s.get(t, stock+"/changes/facets?_facet=kind&_from="+first); a.status != 200 ||
		!strings.Contains(a.body, "tree") {
		t.Errorf("the values of a filter: %d %s", a.status, a.body)
	}
	if got := words(one(t, s.page(t, stock+"/versions", 200), tag("ol", "versions"))); strings.Count(got,
		"+1 added · ~3 changed · −1 removed") != 1 {
		t.Errorf("the versions are %q", got)
	}
	_, err := s.library.Label(t.Context(), stockRef(), first, "2026-Q1")
	must.NoError(t, err)
	page = s.page(t, stock+"/changes?_from=2026-Q1&_op=added", 200)
	if got := changeLines(page); !slices.Equal(got, rows[3:4]) ||
		!strings.Contains(words(one(t, page, tag("aside", "timeline"))), "2026-Q1") {
		t.Errorf("from a label: %q", got)
	}
	if got := words(one(t, s.page(t, stock+"/versions", 200), tag("ol", "versions"))); !strings.Contains(got,
		"2026-Q1") || strings.Count(got, "What is new") != 2 {
		t.Errorf("the versions are %q", got)
	}
	if got := changeLines(s.page(t, stock+"/history?id=1", 200)); !strings.Contains(got[1], "2026-Q1 What is new") {
		t.Errorf("the history of a record is %q", got)
	}
	form := one(t, s.page(t, stock+"/versions?price=2.50", 200),
		func(n *html.Node) bool { return attr(n, "id") == "compare" })
	if got := submit(t, form, "_from", first); got != stock+"/changes?_from="+first+"&price=2.50" {
		t.Errorf("the form leads to %s", got)
	}
}

// TestChanges_long checks that a page shows where long values differ, and not more of them.
func TestChanges_long(t *testing.T) {
	t.Parallel()
	s := newVersionsSite(t)
	long := strings.Repeat("long ", 400_000)
	s.publish(t, stockRef(), "", "id|text", "1|"+long+"old")
	s.publish(t, stockRef(), "", "id|text", "1|"+long+"new", "2|"+long)
	a := s.get(t, stock+"/changes")
	if got := strings.Join(changeLines(parse(t, a.body)), "\n"); len(a.body) > 60_000 ||
		!strings.Contains(got, "long old") || !strings.Contains(got, "long new") {
		t.Errorf("%d bytes: %q", len(a.body), got)
	}
	if a := s.get(t, stock+"/history?id=1"); a.status != 200 || len(a.body) > 60_000 {
		t.Errorf("the history has %d bytes, %d", len(a.body), a.status)
	}
}

// TestChanges_hostile checks that values and names cannot break out of the pages.
func TestChanges_hostile(t *testing.T) {
	t.Parallel()
	s := newVersionsSite(t)
	const fields = `id|"><script>alert(1)</script>|tags`
	var before, after []string
	for i, value := range hostile() {
		before = append(before, fmt.Sprintf("%d|%s|x", i, value))
		after = append(after, fmt.Sprintf("%d|x|%s|%s", i, value, value))
	}
	from := s.publish(t, stockRef(), "", append([]string{fields}, before...)...)
	s.publish(t, stockRef(), "", append([]string{fields + "|<b>"}, after[9:]...)...)
	for _, path := range []string{"/changes", "/changes?_from=" + from + "&%22%3E%3Cscript%3E=x",
		"/changes?_op=%3Cscript%3E", "/history?id=9", "/versions"} {
		a := s.get(t, stock+path)
		if a.status != 200 && a.status != 400 {
			t.Errorf("%s gives %d", path, a.status)
		}
		checkHeaders(t, path, a)
		checkSafe(t, parse(t, a.body))
	}
}

// TestRecordHistory checks the values of a record in all versions.
func TestRecordHistory(t *testing.T) {
	t.Parallel()
	s := newVersionsSite(t)
	for _, lines := range [][]string{
		{"id|name|gone", "1|Rose|secret", "2|Fern|x"}, {"id|name|price", "2|Fern|3"},
		{"id|name|price", "1|Rose|2", "2|Fern|3"},
		{"id|name|price", "1|Rose|2", "2|Fern|4"}, {"id|name|price", "1|Rose|3", "2|Fern|4"},
	} {
		s.publish(t, stockRef(), "", lines...)
	}
	page := s.page(t, stock+"/history?id=1", 200)
	got := changeLines(page)
	for i, want := range []string{
		"~ changed|1|Rose|old value 2 new value 3", "no change|1|Rose|2", "+ added|1|Rose|2", "− removed|1|Rose|–empty",
		"earliest|1|Rose|–empty",
	} {
		if i >= len(got) || !strings.HasSuffix(got[i], want) {
			t.Errorf("row %d of %q is not %q", i, got, want)
		}
	}
	if body := textOf(page); strings.Contains(body, "secret") || strings.Contains(body, "gone") {
		t.Error("the history shows a field that the live version hides")
	}
	if !strings.HasPrefix(words(one(t, one(t, page, tag("section", "compared")), tag("h2", ""))), "History of Rose") {
		t.Error("the history has no title")
	}
	record := s.page(t, stock+"?id=1&_record=1", 200)
	if !slices.ContainsFunc(all(record, tag("a", "")),
		func(a *html.Node) bool { return attr(a, "href") == stock+"/history?id=1" }) {
		t.Error("the record does not link to its history")
	}
	for query, status := range map[string]int{"?id=9": 404, "": 400, "?name=Rose": 400, "?id=1&name=Rose": 400} {
		s.page(t, stock+"/history"+query, status)
	}
}

// TestChanges_access checks that both versions are opened for the visitor.
func TestChanges_access(t *testing.T) {
	t.Parallel()
	ref := herb.Ref{Namespace: "locked", Name: "staff"}
	const path = "/datasets/locked/staff"
	s := newVersionsSite(t)
	locked := s.publish(t, ref, herb.AccessKey, "id|name", "1|Secretive Ana")
	open := s.publish(t, ref, "", "id|name", "1|Ana", "2|Bo")
	s.publish(t, ref, "", "id|name", "1|Ana", "2|Cy")
	query := "/changes?_from=" + locked
	for _, target := range []string{query, query + "&_to=" + open, "/changes?_from=" + open + "&_to=" + locked,
		"/changes/facets?_facet=name&_from=" + locked} {
		a := s.get(t, path+target)
		if a.status != 401 || strings.Contains(a.body, "Secretive") {
			t.Errorf("%s without a key: %d", target, a.status)
		}
		a = s.get(t, path+target, as(staffKey)...)
		if cached := a.header.Get("Cache-Control"); a.status != 200 || !strings.Contains(cached, "private") {
			t.Errorf("%s with the key: %d, %s", target, a.status, cached)
		}
	}
	if a := s.get(t, path+"/changes?_from="+open); a.status != 200 ||
		strings.Contains(a.header.Get("Cache-Control"), "private") {
		t.Errorf("two open versions: %d %v", a.status, a.header)
	}
	history := s.page(t, path+"/history?id=1", 200)
	if got := changeLines(history); len(got) != 2 || !strings.Contains(got[1], "earliest") ||
		strings.Contains(textOf(history), "Secretive") {
		t.Errorf("the history without a key is %q", got)
	}
	a := s.get(t, path+"/history?id=1", as(staffKey)...)
	if !strings.Contains(a.body, "Secretive") || !strings.Contains(a.header.Get("Cache-Control"), "private") {
		t.Errorf("the history with the key: %v", a.header)
	}
	s.page(t, path+"/changes?_to="+open, 404)
	for _, page := range []string{"/versions", "/changes?_from=" + open, "/history?id=1", "?_version=" + open} {
		if a := s.get(t, path+page); a.status != 200 || strings.Contains(a.body, locked) ||
			strings.Contains(a.body, "of 3") {
			t.Errorf("%s without a key: %d; it lists a version that requires one", page, a.status)
		}
		if a := s.get(t, path+page, as(staffKey)...); !strings.HasPrefix(a.header.Get("Cache-Control"), "private") {
			t.Errorf("%s with the key: %v", page, a.header)
		}
	}
	if got := words(one(t, s.page(t, path+"/versions", 200), tag("ol", "versions"))); strings.Count(got,
		"removed") != 1 || strings.Count(got, "Show rows") != 2 {
		t.Errorf("the versions without a key are %q", got)
	}
	if a := s.get(t, path+"/versions", as(staffKey)...); !strings.Contains(a.body, locked) {
		t.Error("the versions lack the protected one with the key")
	}
	form := one(t, s.page(t, path+query, 401), func(n *html.Node) bool { return attr(n, "action") == path+"/key" })
	body := url.Values{"key": {staffKey}}
	for _, in := range all(form, tag("input", "")) {
		if attr(in, "type") == "hidden" {
			body.Set(attr(in, "name"), attr(in, "value"))
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://herbarium.test"+path+"/key",
		io.NopCloser(strings.NewReader(body.Encode())))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://herbarium.test")
	if a := s.do(t, r); a.status != 303 || a.header.Get("Location") != path+query {
		t.Errorf("the key leads to %d %s", a.status, fmt.Sprint(a.header["Location"]))
	}
}

// TestVersions_withdrawn shows labels and withdrawn versions on the page of versions.
func TestVersions_withdrawn(t *testing.T) {
	t.Parallel()
	s := newVersionsSite(t)
	first := s.publish(t, stockRef(), herb.AccessOpen, "id|name", "1|Rose")
	second := s.publish(t, stockRef(), herb.AccessOpen, "id|name", "1|Rose", "2|Fern")
	s.publish(t, stockRef(), herb.AccessOpen, "id|name", "1|Rose", "3|Moss")
	_, err := s.library.Label(t.Context(), stockRef(), second, "2026-Q1")
	must.NoError(t, err)
	page := s.get(t, stock+"/versions")
	if strings.Contains(page.body, "Withdrawn") || !strings.Contains(page.body, "2026-Q1") {
		t.Errorf("before: %s", page.body)
	}
	must.NoError(t, s.library.Withdraw(t.Context(), stockRef(), first))
	page = s.get(t, stock+"/versions")
	if section := words(one(t, parse(t, page.body),
		func(n *html.Node) bool { return n.Data == "section" })); !strings.Contains(section, first+", published on") {
		t.Errorf("the page names %q", section)
	}
	for _, path := range []string{"?_version=" + first, "/about?_version=" + first, "/changes?_from=" + first,
		"/map?_version=" + first} {
		if a := s.get(t, stock+path); a.status != 410 || !strings.Contains(a.body, "was withdrawn") {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	third := s.publish(t, stockRef(), herb.AccessOpen, "id|name", "1|Rose", "4|Oak")
	s.publish(t, stockRef(), herb.AccessOpen, "id|name", "1|Rose", "5|Elm")
	must.NoError(t, s.library.Withdraw(t.Context(), stockRef(), third))
	if got := words(one(t, s.page(t, stock+"/versions", 200), tag("ol", "versions"))); strings.Count(got,
		"Same columns") != 1 {
		t.Errorf("the version after a withdrawn one is said to be the same: %q", got)
	}
}
