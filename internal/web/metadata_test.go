package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

func linkedData(t *testing.T, doc *html.Node) map[string]any {
	t.Helper()
	block := one(t, doc, func(n *html.Node) bool {
		return attr(n, "type") == "application/ld+json" &&
			n.Data == "script"
	})
	var out map[string]any
	if err := json.Unmarshal([]byte(textOf(block)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJSONLD(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, _ *apitest.Library) { o.PublicURL = "https://example.org/open" })
	got := linkedData(t, s.page(t, catalog, 200))
	for name, want := range map[string]any{
		"@context": "https://schema.org", "@type": "Dataset", "name": "The garden", "description": "What grows in it.",
		"url": "https://example.org/open/datasets/garden/catalog", "license": "https://cc.example/zero",
		"isAccessibleForFree": true,
		"dateModified":        "2026-03-20T08:30:00Z", "version": "v1",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if n := len(got["variableMeasured"].([]any)); n != 8 {
		t.Errorf("%d variables", n)
	}
	for _, d := range got["distribution"].([]any) {
		to := d.(map[string]any)["contentUrl"].(string)
		if a := s.get(t, strings.TrimPrefix(to, "https://example.org")); a.status != 200 {
			t.Errorf("%s gives %d", to, a.status)
		}
	}
	evil := linkedData(t, s.page(t, "/datasets/evil/nasty", 200))
	if evil["license"] == "javascript:alert(1)" || evil["name"] != "</title><script>alert(1)</script>x" {
		t.Errorf("a hostile dataset is described as %v", evil)
	}
	if got := linkedData(t, s.page(t, "/", 200)); got["@type"] != "DataCatalog" || len(got["dataset"].([]any)) != 5 {
		t.Errorf("the catalogue is described as %v", got)
	}
}

func TestDCAT(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, _ *apitest.Library) { o.PublicURL = "https://example.org/open" })
	a := s.get(t, "/catalog.jsonld")
	if a.status != 200 || a.header.Get("Content-Type") != "application/ld+json" ||
		a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("got %d %v", a.status, a.header)
	}
	var c struct {
		Context map[string]string `json:"@context"`
		Type    string            `json:"@type"`
		Dataset []struct {
			ID           string            `json:"@id"`
			Type         string            `json:"@type"`
			Title        string            `json:"dct:title"`
			Keywords     []string          `json:"dcat:keyword"`
			Rights       map[string]string `json:"dct:accessRights"`
			LandingPage  map[string]string `json:"dcat:landingPage"`
			Distribution []struct {
				Access map[string]string `json:"dcat:accessURL"`
			} `json:"dcat:distribution"`
		} `json:"dcat:dataset"`
		Service map[string]any `json:"dcat:service"`
	}
	if err := json.Unmarshal([]byte(a.body), &c); err != nil {
		t.Fatal(err)
	}
	if c.Type != "dcat:Catalog" || c.Context["dcat"] != "http://www.w3.org/ns/dcat#" || len(c.Dataset) != 5 ||
		c.Service["@type"] != "dcat:DataService" {
		t.Errorf("the catalogue is %+v", c)
	}
	ids := map[string]bool{}
	for _, d := range c.Dataset {
		if d.Type != "dcat:Dataset" || d.Title == "" || len(d.Distribution) != 3 || ids[d.ID] { // JSON, CSV and Parquet
			t.Errorf("a dataset is %+v", d)
		}
		ids[d.ID] = true
		restricted := strings.HasSuffix(d.Rights["@id"], "RESTRICTED")
		if restricted != strings.Contains(d.ID, "/locked/") {
			t.Errorf("%s: access rights %v", d.ID, d.Rights)
		}
		for _, to := range []string{d.LandingPage["@id"], d.Distribution[0].Access["@id"],
			d.Distribution[1].Access["@id"]} {
			a := s.get(t, strings.TrimPrefix(to, "https://example.org"))
			if a.status != 200 && !(restricted && a.status == 401) {
				t.Errorf("%s gives %d", to, a.status)
			}
		}
	}
	if got := c.Dataset[2].Keywords; len(got) != 2 {
		t.Errorf("keywords are %v", got)
	}
}

// TestDCAT_agents checks that licenses, publishers and contacts reach the catalogue, however a
// descriptor gives them.
func TestDCAT_agents(t *testing.T) {
	t.Parallel()
	descriptors := []string{
		`{"licenses":[{"name":"CC-BY-4.0"}],"contributors":[{"title":"A. Author","role":"author"},{"title":"City","path":"https://city.example","roles":["publisher"]},{"title":"Desk","email":"desk@city.example","role":"contact"}]}`,
		`{"licenses":[{"title":"House rules"}],"publisher":"City","contactPoint":{"fn":"Desk","hasEmail":"mailto:desk@city.example"}}`,
		`{"licenses":[{"name":"x","path":"https://license.example"}],"publisher":{"name":"City","url":"https://city.example"},"contactPoint":{"email":"desk@city.example"}}`,
		`{"licenses":"none","publisher":7,"contactPoint":{"email":"javascript:alert(1)"},"contributors":{}}`,
	}
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		for i, d := range descriptors {
			l.Put(herb.Dataset{Ref: herb.Ref{Namespace: "agents", Name: "d" + strconv.Itoa(i)}, Access: herb.AccessOpen,
				Details: herb.Details{Descriptor: herb.NewDescriptor([]byte(`{"package":` + d + `}`))}}, nil)
		}
	})
	var c struct {
		Dataset []map[string]any `json:"dcat:dataset"`
	}
	if err := json.Unmarshal([]byte(s.get(t, "/catalog.jsonld").body), &c); err != nil {
		t.Fatal(err)
	}
	const desk = `{"@type":"vcard:Kind","vcard:fn":"Desk","vcard:hasEmail":{"@id":"mailto:desk@city.example"}}`
	const city = `{"@type":"foaf:Agent","foaf:homepage":{"@id":"https://city.example"},"foaf:name":"City"}`
	want := [][3]string{
		{`{"@id":"https://creativecommons.org/licenses/by/4.0/"}`, city, desk},
		{`{"@type":"dct:LicenseDocument","dct:title":"House rules"}`,
			`{"@type":"foaf:Agent","foaf:name":"City"}`, desk},
		{`{"@id":"https://license.example"}`, city,
			`{"@type":"vcard:Kind","vcard:fn":"desk@city.example","vcard:hasEmail":{"@id":"mailto:desk@city.example"}}`},
		{"null", "null", "null"},
	}
	seen := 0
	for _, d := range c.Dataset {
		name, ok := strings.CutPrefix(d["dct:identifier"].(string), "agents/d")
		if !ok {
			continue
		}
		seen++
		i, _ := strconv.Atoi(name)
		for k, member := range []string{"dct:license", "dct:publisher", "dcat:contactPoint"} {
			if got, _ := json.Marshal(d[member]); string(got) != want[i][k] {
				t.Errorf("%s: %s is %s, want %s", descriptors[i], member, got, want[i][k])
			}
		}
		distribution := d["dcat:distribution"].([]any)[0].(map[string]any)
		if got, _ := json.Marshal(distribution["dct:license"]); string(got) != want[i][0] {
			t.Errorf("%s: the license of the distribution is %s", descriptors[i], got)
		}
	}
	if seen != len(descriptors) {
		t.Errorf("%d datasets", seen)
	}
}

// TestWeight bounds the size of a page with its assets and charts, as sent to a browser.
func TestWeight(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	total := 0
	load := func(path string) string {
		a := s.get(t, path, "Accept-Encoding", "gzip")
		total += len(a.body)
		if strings.HasPrefix(path, "/assets/") &&
			(a.status != 200 || !strings.Contains(a.header.Get("Cache-Control"), "immutable")) {
			t.Errorf("%s: %d %v", path, a.status, a.header)
		}
		plain := s.get(t, path).body
		if refused := s.get(t, path, "Accept-Encoding", "gzip; q=0, identity"); refused.body != plain ||
			refused.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed for a client that refuses it", path)
		}
		if a.header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(a.body))
			if err != nil {
				t.Fatal(err)
			}
			if unpacked, err := io.ReadAll(z); err != nil || string(unpacked) != plain {
				t.Errorf("%s differs when it is compressed: %v", path, err)
			}
		}
		return plain
	}
	doc := parse(t, load(catalog+"?per_page=100"))
	load(catalog + "/distributions?_columns=id&_columns=category&_columns=price&_columns=date&_columns=tags")
	for _, n := range all(doc, func(n *html.Node) bool {
		return n.Data == "script" && attr(n, "src") != "" || attr(n, "rel") == "stylesheet" || attr(n, "rel") == "icon"
	}) {
		load(attr(n, "src") + attr(n, "href"))
	}
	if total > 43_000 { // the budget of the browser tests includes headers and a second request for charts
		t.Errorf("a page takes %d bytes without the font", total)
	}
	if a := s.get(t, "/assets/app.js"); a.status != 404 {
		t.Errorf("an asset without its hash gives %d", a.status)
	}
}

func TestDocs(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, _ *apitest.Library) { o.PublicURL = "https://example.org/open" })
	doc := s.page(t, "/docs", 200)
	place := one(t, doc, func(n *html.Node) bool { return attr(n, "id") == "swagger" })
	if attr(place, "data-document") != "/open/openapi.json" {
		t.Errorf("the viewer reads %s", attr(place, "data-document"))
	}
	choices := all(one(t, doc, byID("datasets")), tag("option", ""))
	if len(choices) == 0 || !slices.ContainsFunc(choices,
		func(n *html.Node) bool { return attr(n, "value") == "garden/catalog" }) {
		t.Errorf("there are %d datasets to choose from", len(choices))
	}
	for i := range 201 {
		s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "many", Name: fmt.Sprint("d", i)},
			Fields: []herb.Field{field("a", herb.TypeText)}}, nil)
	}
	many := s.page(t, "/docs?dataset=many/d200", 200)
	if n := len(all(one(t, many, byID("datasets")), tag("option", ""))); n != 200 ||
		attr(one(t, many, byID("pick-dataset")), "value") != "many/d200" {
		t.Errorf("%d of many datasets are listed", n)
	}
	if note := one(t, many, byID("pick")); !strings.Contains(words(note), "the first 200 of ") ||
		attr(one(t, note, tag("a", "")), "href") != "/open/" {
		t.Errorf("the note is %q", words(note))
	}
	var viewer []string
	for _, n := range all(doc,
		func(n *html.Node) bool { return strings.Contains(attr(n, "href")+attr(n, "src"), "swagger-ui") }) {
		viewer = append(viewer, strings.TrimPrefix(attr(n, "href")+attr(n, "src"), "/open"))
	}
	if len(viewer) != 2 {
		t.Errorf("the files of the viewer are %q", viewer)
	}
	for _, file := range viewer {
		packed, plain := s.get(t, file, "Accept-Encoding", "gzip"), s.get(t, file)
		z, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(z); err != nil || b.String() != plain.body ||
			plain.header.Get("Content-Encoding") != "" {
			t.Errorf("%s differs when it is compressed: %v", file, err)
		}
	}
}

// TestSnippets checks that the offered programs are valid, request the listing of the page, and
// contain no key.
func TestSnippets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct {
		path, url string
		locked    bool
	}{
		{catalog + "?title=it's+%22%24%28x%29%60&sort=price",
			"http://herbarium.test/api/v1/garden/catalog/data?title=it%27s+%22%24%28x%29%60&sort=price&per_page=50",
			false},
		{locked + "?room=7", "http://herbarium.test/api/v1/locked/staff/data?room=7&per_page=50", true},
	} {
		doc := parse(t, s.get(t, tt.path, "Cookie", "herbarium_key="+staffKey).body)
		code := map[string]string{}
		for _, d := range all(one(t, doc, tag("div", "languages")), tag("details", "")) {
			code[words(one(t, d, tag("summary", "")))] = textOf(one(t, d, tag("code", "")))
		}
		for _, language := range []string{"curl", "JavaScript", "Python", "Go", "R"} {
			c := code[language]
			if !strings.Contains(c, tt.url) || strings.Contains(c, staffKey) ||
				strings.Contains(c, "HERBARIUM_KEY") != tt.locked {
				t.Errorf("%s of %s:\n%s", language, tt.path, c)
			}
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "main.go", code["Go"], parser.AllErrors); err != nil {
			t.Errorf("the Go program: %v", err)
		}
		if rest := strings.TrimSuffix(code["curl"], "'"); strings.Count(rest, "'") != 1 {
			t.Errorf("the URL is not quoted for the shell: %s", code["curl"])
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"/api", 200)
	got := words(one(t, doc, tag("main", "")))
	for _, want := range []string{"What it costs", "Price in €", "Plant 1 of the fern kind", "search filter sort",
		"per_page", "prefix"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for query, want := range map[string]string{
		"":                           "It returns the first 25 of the 60 rows of the current view. per_page=100 returns up to 100",
		"?category=moss":             "It returns all 19 rows of the current view, which has some of all 60. The response",
		"?category=moss&per_page=10": "It returns the first 10 of the 19 rows of the current view, which has some of all 60. per_page",
		"?page=3&per_page=25":        "It returns rows 51 to 60 of the 60 of the current view. per_page=100",
	} {
		if got := words(one(t, s.page(t, catalog+"/api"+query, 200), has("id", "call"))); !strings.Contains(got, want) {
			t.Errorf("%s: the page says %q, want %q", query, got, want)
		}
	}
	for path, want := range map[string]int{catalog + "/api": 1, catalog + "/about": 1, "/datasets/wide/many/api": 0,
		"/datasets/wide/many/about": 0} {
		heading := func(n *html.Node) bool { return n.Data == "th" && words(n) == "Description" }
		if n := len(all(s.page(t, path, 200), heading)); n != want {
			t.Errorf("%s has %d columns for descriptions, want %d", path, n, want)
		}
	}
	viewer := one(t, one(t, doc, tag("main", "")), tag("a", "primary"))
	if attr(viewer, "href") != "/docs?dataset=garden%2fcatalog" {
		t.Errorf("the viewer is at %q", attr(viewer, "href"))
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		d, _ := garden()
		d.Version, d.Records = "20260320T083000Z-new", 60
		old := d
		old.Version, old.Records = "20260101T000000Z-old", 40
		l.Histories[d.Ref] = []versions.Version{
			{Dataset: d, Live: true, Changes: []versions.Change{{Message: `field "x" is removed`, Breaking: true},
				{Message: "there are 60 records instead of 40"}}},
			{Dataset: old, State: versions.StateRolledBack, First: true},
		}
	})
	items := all(one(t, s.page(t, catalog+"/versions", 200), tag("ol", "versions")), tag("h2", ""))
	if len(items) != 2 {
		t.Fatalf("%d versions are shown", len(items))
	}
	newest, oldest := words(items[0].Parent), words(items[1].Parent)
	for _, want := range []string{"live", "20260320T083000Z-new", `field "x" is removed breaking`,
		"there are 60 records instead of 40", "Rows60", "category", "seen"} {
		if !strings.Contains(newest, want) {
			t.Errorf("the newest version lacks %q: %s", want, newest)
		}
	}
	if !strings.Contains(oldest, "Earliest") || !strings.Contains(oldest, "rolled back") ||
		strings.Contains(oldest, "live") {
		t.Errorf("the oldest version: %s", oldest)
	}
}
