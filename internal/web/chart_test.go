package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
)

// groupsOf returns the rows of the table beside a chart.
func groupsOf(t *testing.T, doc *html.Node) (rows []string) {
	t.Helper()
	section := one(t, doc, tag("section", "groups"))
	for _, body := range all(section, tag("tbody", "")) {
		for _, tr := range all(body, tag("tr", "")) {
			rows = append(rows, words(one(t, tr, tag("th", "")))+" "+words(one(t, tr, tag("td", "num"))))
		}
	}
	return rows
}

// TestChart checks that the chart of a dataset counts the rows of the listing, and that its parts
// lead to their rows.
func TestChart(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"/chart", 200)
	if got := words(one(t, one(t, doc, has("id", "answer")), tag("h2", ""))); !strings.HasPrefix(got, "Rows by date") {
		t.Errorf("the sentence is %q", got)
	}
	title := textOf(one(t, one(t, doc, tag("head", "")), tag("title", "")))
	if !strings.HasPrefix(title, "Rows by date per month as lines: The garden") {
		t.Errorf("the title is %q", title)
	}
	if n := len(groupsOf(t, doc)); n != 12 {
		t.Errorf("%d months", n)
	}
	const query = "?category=fern&category=moss&search=kind&_by=category"
	doc = s.page(t, catalog+"/chart"+query, 200)
	if diff := cmp.Diff([]string{"fern 19", "moss 19"}, groupsOf(t, doc)); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
	wide := one(t, doc, tag("svg", "wide"))
	if got := attr(one(t, wide, has("role", "img")),
		"aria-label"); got != "Bars of 2 groups. Highest: fern: 19. Lowest: fern: 19." {
		t.Errorf("the chart is described as %q", got)
	}
	hits := all(wide, tag("a", ""))
	if len(hits) != 2 || attr(hits[0], "aria-label") != "fern: 19" {
		t.Fatalf("%d parts can be clicked", len(hits))
	}
	if _, total := s.listing(t, catalog+"/data"+strings.TrimSuffix(attr(hits[1], "href"),
		"&_by=category")); total != 19 {
		t.Errorf("%s has %d rows", attr(hits[1], "href"), total)
	}
	for _, a := range all(one(t, doc, tag("nav", "tabs")), tag("a", "")) {
		if name := words(a); (name == "Table" || name == "Chart") &&
			!strings.Contains(attr(a, "href"), "category=fern&category=moss&search=kind&_by=category") {
			t.Errorf("the tab %s leads to %s", name, attr(a, "href"))
		}
	}
	if got := words(one(t, doc, has("id", "call"))); !strings.HasPrefix(got,
		"GET /api/v1/garden/catalog/aggregate?category=fern&category=moss&search=kind&_by=category&_measure=count&_sort=-count&_top=20") {
		t.Errorf("the call is %q", got)
	}
}

// TestChart_call checks that the API call of a chart and its files are valid.
func TestChart_call(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, query := range []string{"", "?_by=category", "?_by=date%3Amonth&_by=category&_measure=sum%3Aprice",
		"?_measure=mean%3Aprice", "?_by=price%3A5000&category=fern"} {
		doc := s.page(t, catalog+"/chart"+query, 200)
		address := attr(one(t, one(t, doc, has("id", "call")), tag("code", "")), "data-url")
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if a := s.get(t, u.RequestURI()); a.status != 200 || !strings.Contains(a.body, `"groups":`) {
			t.Errorf("%s: the call %s gives %d %s", query, address, a.status, a.body)
		}
		for _, a := range all(one(t, doc, tag("section", "groups")), tag("a", "button")) {
			file := s.get(t, attr(a, "href"))
			switch words(a) {
			case "CSV":
				if file.status != 200 || file.header.Get("Content-Disposition") != "attachment" ||
					!strings.HasPrefix(file.header.Get("Content-Type"), "text/csv") {
					t.Errorf("%s: %d %v", attr(a, "href"), file.status, file.header)
				}
			case "SVG":
				if file.status != 200 || file.header.Get("Content-Type") != "image/svg+xml" ||
					!strings.Contains(file.body, "The garden, ") || strings.Contains(file.body, "var(") {
					t.Errorf("%s: %d %.300s", attr(a, "href"), file.status, file.body)
				}
			}
		}
	}
}

// TestChart_file checks the names of files, and that an image of a version is cached.
func TestChart_file(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"/chart?_by=category&_measure=mean%3Aprice", 200)
	for _, a := range all(one(t, doc, tag("section", "groups")), tag("a", "button")) {
		if want := "The mean of Price in € by category." + strings.ToLower(words(a)); attr(a, "download") != want {
			t.Errorf("the file is %q, want %q", attr(a, "download"), want)
		}
	}
	images := all(one(t, doc, tag("ul", "suggestions")), tag("img", ""))
	if len(images) != 5 {
		t.Errorf("%d suggestions", len(images))
	}
	for _, i := range images {
		a := s.get(t, attr(i, "src"))
		if a.status != 200 || a.header.Get("Cache-Control") != "public, max-age=86400" ||
			!strings.Contains(a.body, `viewBox="0 0 124 46"`) {
			t.Errorf("%s: %d %v %.200s", attr(i, "src"), a.status, a.header, a.body)
		}
		if again := s.get(t, attr(i, "src"), "If-None-Match", a.header.Get("Etag")); again.status != 304 {
			t.Errorf("%s is sent again", attr(i, "src"))
		}
	}
}

func TestChart_invalid(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for query, want := range map[string]string{
		"?_by=categry": "did you mean \"category\"?", "?_measure=sum%3Atitle": "fields with a sum",
		"?_kind=pie": "one of: lines, bars", "?colour=red": "colour",
		"?price%5Bgte%5D=x&_by=category": "price[gte]",
	} {
		doc := s.page(t, catalog+"/chart"+query, 400)
		if got := words(one(t, doc, tag("div", "toast"))); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		if len(groupsOf(t, doc)) == 0 {
			t.Errorf("%s: the page shows no chart", query)
		}
	}
	// A zone without effect is left out; the rest of the question stays.
	for query, want := range map[string]string{
		"?_by=date%3Ayear&_measure=sum%3Aprice&_zone=UTC":   "?_by=date%3Ayear&_measure=sum%3Aprice",
		"?category=fern&_by=category&_zone=Europe%2FBerlin": "?category=fern&_by=category",
		"?_zone=UTC": catalog + "/chart",
	} {
		doc := s.page(t, catalog+"/chart"+query, 400)
		toast := one(t, doc, tag("div", "toast"))
		if got := words(toast); !strings.Contains(got, "_zone: _zone has no effect") ||
			attr(one(t, toast, tag("a", "x")), "href") != want || len(groupsOf(t, doc)) == 0 {
			t.Errorf("%s: %q, want %s", query, got, want)
		}
	}
	if a := s.get(t, catalog+"/chart.svg?_by=categry"); a.status != 400 {
		t.Errorf("the image of an invalid chart gives %d", a.status)
	}
	if got := s.follow(t, catalog+"/chart?_by=&_measure=&category%5Bgte%5D="); got != catalog+"/chart" {
		t.Errorf("empty parameters lead to %s", got)
	}
}

// TestChart_noZone checks that a zone is left out if no value has one, which only the values show.
func TestChart_noZone(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, _ := garden()
	d.Fields = []herb.Field{{Name: "at", Type: herb.TypeDateTime, Filterable: true, Sortable: true}}
	replace(s.library, d, []herb.Record{{"2024-05-01 10:00:00"}, {"2024-05-02 11:00:00"}})
	doc := s.page(t, catalog+"/chart?_by=at%3Aday&_zone=Europe%2FBerlin", 400)
	toast := one(t, doc, tag("div", "toast"))
	if got := words(toast); !strings.Contains(got, "_zone: _zone has no effect") ||
		attr(one(t, toast, tag("a", "x")), "href") != "?_by=at%3Aday" || len(groupsOf(t, doc)) != 2 {
		t.Errorf("%q", got)
	}
}

// TestChart_everyDataset checks charts of datasets without rows, with many fields and with hostile
// values.
func TestChart_everyDataset(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, want := range map[string]string{
		"/datasets/empty/none/chart": "No rows match.", "/datasets/empty/none/chart?_measure=count": "0",
		"/datasets/empty/none/chart?_measure=distinct%3Aa": "0",
		"/datasets/wide/many/chart":                        "", "/datasets/evil/nasty/chart": "",
		"/datasets/evil/nasty/chart?_by=tags&_by=page": "", catalog + "/chart?search=nosuchword": "No rows match.",
		catalog + "/chart?search=nosuchword&_by=date%3Amonth&_by=category":     "No rows match.",
		catalog + "/chart?search=nosuchword&_by=category&_by=tags&_kind=table": "",
	} {
		a := s.get(t, path)
		doc := parse(t, a.body)
		checkSafe(t, doc)
		if got := words(one(t, doc, has("id", "answer"))); a.status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %q, want %q", path, a.status, got, want)
		}
		if len(a.body) > 300_000 {
			t.Errorf("%s has %d bytes", path, len(a.body))
		}
	}
	if a := s.get(t, "/datasets/evil/nasty/chart.svg?_by=tags"); a.status != 200 ||
		strings.Contains(a.body, "<script") || strings.Contains(a.body, "\u202E") {
		t.Errorf("the image of hostile values: %d %s", a.status, a.body)
	}
}

// TestChart_locked checks that the chart of a protected dataset requires a key, as its table does.
func TestChart_locked(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	paths := []string{"/datasets/locked/staff/chart", "/datasets/locked/staff/chart.svg",
		"/datasets/locked/staff/aggregate.csv?_by=name"}
	for _, path := range paths {
		for cookie, status := range map[string]int{"": 401, "herbarium_key=" + otherKey: 403, "herbarium_key=" +
			staffKey: 200} {
			a := s.get(t, path, "Cookie", cookie)
			if a.status != status || status != 200 && strings.Contains(a.body, "Secretive") {
				t.Errorf("%s with %q gives %d, want %d: %.200s", path, cookie, a.status, status, a.body)
			}
			if status == 200 && !strings.Contains(a.header.Get("Cache-Control"), "private") &&
				!strings.Contains(a.header.Get("Cache-Control"), "no-store") {
				t.Errorf("%s is cached: %v", path, a.header)
			}
		}
	}
}

// TestChart_version checks that the chart shows the version that the URL names, and that a 304
// saves it.
func TestChart_version(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := garden()
	keep(s.library, d, "v0", records[:12])
	doc := s.page(t, catalog+"/chart?_by=category&_version=v0", 200)
	if diff := cmp.Diff([]string{"fern 4", "moss 4", "tree 4"}, groupsOf(t, doc)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, a := range all(one(t, doc, tag("section", "groups")), tag("a", "")) {
		if !strings.Contains(attr(a, "href"), "_version=v0") {
			t.Errorf("%s leads to another version: %s", words(a), attr(a, "href"))
		}
	}
	a := s.get(t, catalog+"/chart?_by=category")
	if again := s.get(t, catalog+"/chart?_by=category", "If-None-Match", a.header.Get("Etag")); again.status != 304 {
		t.Errorf("the same chart is sent again: %d", again.status)
	}
}

// TestAbout_charts checks the charts that a publisher has pinned.
func TestAbout_charts(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := garden()
	d.Descriptor = herb.NewDescriptor(
		[]byte(`{"resource":{"herbarium":{"charts":[{"by":"date:month"},{"by":["date:month","category"],"measure":"sum:price"},{"by":"gone"},{"measure":"mean:price"}]}}}`))
	replace(s.library, d, records)
	doc := s.page(t, catalog+"/about", 200)
	var got []string
	for _, f := range all(one(t, doc, has("id", "charts")), tag("figure", "")) {
		a := one(t, f, tag("figcaption", ""))
		got = append(got, words(a)+" "+attr(one(t, a, tag("a", "")), "href"))
	}
	want := []string{
		"Rows by date per month as lines " + catalog + "/chart?_by=date%3Amonth",
		"The sum of Price in € by date per month, split by category as lines " + catalog +
			"/chart?_by=date%3Amonth&_by=category&_measure=sum%3Aprice",
		"The mean of Price in € " + catalog + "/chart?_measure=mean%3Aprice",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d, records = staff()
	d.Descriptor = herb.NewDescriptor([]byte(`{"resource":{"herbarium":{"charts":[{"by":"name"}]}}}`))
	replace(s.library, d, records)
	if a := s.get(t, "/datasets/locked/staff/about"); strings.Contains(a.body, "Secretive") ||
		strings.Contains(a.body, `id="charts"`) {
		t.Error("the description of a protected dataset shows values")
	}
}

// choose returns the address to which the form of the sentence of a chart leads with one of the
// choices of a control; empty if there is none.
func (s *site) choose(t *testing.T, path, control, label string) string {
	t.Helper()
	form := one(t, s.page(t, path, 200), tag("form", "sentence"))
	values := url.Values{}
	for _, input := range all(form, tag("input", "")) {
		values.Add(attr(input, "name"), attr(input, "value"))
	}
	isSelected := func(a html.Attribute) bool { return a.Key == "selected" }
	var chosen url.Values
	for _, selection := range all(form, tag("select", "")) {
		for _, option := range all(selection, tag("option", "")) {
			if slices.ContainsFunc(option.Attr, isSelected) {
				values.Add(attr(selection, "name"), attr(option, "value"))
			}
			if attr(selection, "id") == "set-"+control && words(option) == label {
				chosen = url.Values{attr(selection, "name"): {attr(option, "value")}}
			}
		}
	}
	if chosen == nil {
		return ""
	}
	maps.Copy(values, chosen)
	a := s.get(t, attr(form, "action")+"?"+values.Encode())
	if a.status != http.StatusSeeOther {
		t.Fatalf("%s, %s is %s: %d", path, control, label, a.status)
	}
	return a.header.Get("Location")
}

// TestChart_manyColumns checks that a chart of a table with many columns has a box for the name of
// one instead of a control with all of them.
func TestChart_manyColumns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const path = "/datasets/wide/many/chart"
	doc := s.page(t, path+"?_by=f7&f3=x", 200)
	if box := one(t, doc, has("id", "set-by")); box.Data != "input" || attr(box, "value") != "f7" ||
		attr(box, "list") != "columns-by" {
		t.Errorf("the box is a %s with %q", box.Data, attr(box, "value"))
	}
	if n := len(all(one(t, doc, has("id", "columns-by")), tag("option", ""))); n < 100 || n > 500 {
		t.Errorf("the list has %d columns", n)
	}
	for set, want := range map[string]string{"_set_by=f199": path + "?f3=x&_by=f199", "_set_by=F199": path +
		"?f3=x&_by=f199", "_set_by=": path + "?f3=x&_measure=count"} {
		if a := s.get(t, path+"?_by=f7&f3=x&"+set); a.status != http.StatusSeeOther ||
			a.header.Get("Location") != want {
			t.Errorf("%s: %d to %s, want %s", set, a.status, a.header.Get("Location"), want)
		}
	}
	doc = s.page(t, path+"?_by=f7&f3=x&_set_by=nothing", 400)
	if !strings.Contains(words(doc), `no column that suits "Group by" is called "nothing"`) ||
		attr(one(t, doc, has("id", "set-by")), "value") != "f7" {
		t.Error("the page does not say that the column is unknown")
	}
}

// TestChart_setProtected checks that the form of a protected dataset needs a key.
func TestChart_setProtected(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const path = "/datasets/locked/staff/chart"
	if a := s.get(t, path+"?_set_by=room"); a.status != http.StatusSeeOther || a.header.Get("Location") != path {
		t.Errorf("%d to %s", a.status, a.header.Get("Location"))
	}
}
