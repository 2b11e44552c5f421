package httpapi_test

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
)

// atomFeed is what the tests read of a feed.
type atomFeed struct {
	XMLName xml.Name   `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated time.Time  `xml:"updated"`
	Author  []string   `xml:"author>name"`
	Links   []atomLink `xml:"link"`
	Entries []struct {
		ID      string     `xml:"id"`
		Title   string     `xml:"title"`
		Updated time.Time  `xml:"updated"`
		Links   []atomLink `xml:"link"`
		Summary string     `xml:"summary"`
	} `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

// parseFeed parses a feed, and checks what RFC 4287 requires.
func parseFeed(t *testing.T, a checkedResponse) (f atomFeed) {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/atom+xml; charset=utf-8" {
		t.Fatalf("%d %s\n%s", a.status, a.header, a.body)
	}
	must.NoError(t, xml.Unmarshal([]byte(a.body), &f))
	ids := []string{f.ID}
	for _, e := range f.Entries {
		if e.Title == "" || e.Updated.IsZero() || len(e.Links) != 1 || e.Links[0].Rel != "alternate" {
			t.Errorf("entry %+v", e)
		}
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	if f.Title == "" || f.Updated.IsZero() || len(f.Author) != 1 ||
		len(slices.Compact(slices.Clone(ids))) != len(ids) || !strings.HasPrefix(ids[0], "urn:uuid:") {
		t.Errorf("%s", a.body)
	}
	return f
}

const pricesFeed = "/datasets/shop/prices/feed.atom"

// TestFeed follows views of a dataset.
func TestFeed(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	const hostile = "{\"resources\": [{\"path\": \"prices.csv\", \"title\": \"<b>&\\u0007 \\\"x\\\"\\n\", " +
		"\"schema\": {\"primaryKey\": \"id\"}}]}"
	versions := []string{
		p.publish(t, "id,name,price\n1,Rose,2\n2,Fern,3\n", withKey),
		p.publish(t, "id,name,price\n1,Rose,2\n2,Fern,4\n", withKey),
		p.publish(t, "id,name,price\n2,Fern,4\n3,Rose,2\n", withKey),
		p.publish(t, "id,name,price,kind\n2,Fern,4,\n3,Rose,2,\n", hostile),
	}
	entries := func(f atomFeed) (all []string) {
		for _, e := range f.Entries {
			all = append(all, strings.Join([]string{e.Title, e.Summary, e.Links[0].Href}, "\n"))
		}
		return all
	}
	const title = "<b>&\uFFFD \"x\": "
	page := "http://example.com/datasets/shop/prices"
	entry := func(counts, summary string, to int, query string) string {
		return title + counts + "\nRecords: " + summary + "\n" + page + "/changes?_from=" + versions[to-1] + "&_to=" +
			versions[to] + query
	}
	a := p.get(t, pricesFeed)
	f := parseFeed(t, a)
	if f.Title != title+"changes" ||
		!slices.Equal(f.Links, []atomLink{{"self", page + "/feed.atom"}, {"alternate", page}}) {
		t.Errorf("%q %v", f.Title, f.Links)
	}
	if d := gocmp.Diff([]string{
		entry("other fields", "0 added, 0 removed, 0 changed.\nFields added: kind.", 3, ""),
		entry("1 added, 1 removed", "1 added, 1 removed, 0 changed.", 2, ""),
		entry("1 changed", "0 added, 0 removed, 1 changed.", 1, ""),
	}, entries(f)); d != "" {
		t.Error(d)
	}
	filtered := p.get(t, pricesFeed+"?price%5Blt%5D=4&search=fern&api_key=")
	g := parseFeed(t, filtered)
	const query = "price%5Blt%5D=4&search=fern"
	if d := gocmp.Diff([]string{entry("1 changed", "0 added, 0 removed, 1 changed.", 1, "&"+query)},
		entries(g)); d != "" {
		t.Error(d)
	}
	if !slices.Equal(g.Links, []atomLink{{"self", page + "/feed.atom?" + query}, {"alternate", page + "?" + query}}) ||
		g.ID == f.ID || g.Entries[0].ID == f.Entries[2].ID {
		t.Errorf("%s", filtered.body)
	}
	if f := parseFeed(t, p.get(t, pricesFeed+"?_op=added&name=Rose")); len(f.Entries) != 1 {
		t.Errorf("only added records: %+v", f.Entries)
	}
	if f := parseFeed(t, p.get(t, pricesFeed+"?name=Oak")); f.Entries != nil {
		t.Errorf("nothing changed, but %+v", f.Entries)
	}
	// Pollers are served without a comparison, and see the same entries in the next version's feed.
	tag := a.header.Get("Etag")
	if again := p.get(t, pricesFeed, "If-None-Match: "+tag); again.status != http.StatusNotModified {
		t.Errorf("the same feed is %d", again.status)
	}
	p.publish(t, "id,name,price\n2,Fern,4\n3,Rose,5\n", withKey)
	next := parseFeed(t, p.get(t, pricesFeed, "If-None-Match: "+tag))
	if len(next.Entries) != 4 || next.ID != f.ID || next.Entries[1].ID != f.Entries[0].ID ||
		!next.Updated.After(f.Updated) {
		t.Errorf("after a publish: %+v", next)
	}
	// The feed ends with the live version, whichever it is.
	if a := p.send(t, http.MethodPost, "/rollback", `{"to": "`+versions[2]+`"}`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	back := parseFeed(t, p.get(t, pricesFeed))
	if len(back.Entries) != 2 || back.Entries[0].ID != f.Entries[1].ID {
		t.Errorf("after a rollback: %+v", back)
	}
	for path, want := range map[string]string{
		pricesFeed + "?_version=" + versions[0]: `remove "_version"`,
		pricesFeed + "?prise=1":                 `did you mean "price"?`,
		pricesFeed + "?sort=price":              "a feed of changes",
		"/datasets/store/plants/feed.atom":      "no such dataset",
		"/feed.atom?search=x":                   "unknown parameter",
	} {
		if a := p.get(t, path); a.status != 400 && a.status != 404 || !strings.Contains(a.message(t), want) {
			t.Errorf("%s is %d %s", path, a.status, a.body)
		}
	}
	all := parseFeed(t, p.get(t, "/feed.atom"))
	if len(all.Entries) != 1 || all.Entries[0].Links[0].Href != page ||
		!strings.Contains(all.Entries[0].Summary, "2 records, 3 fields") {
		t.Errorf("%+v", all)
	}
}

// TestFeed_access reads feeds of a dataset that was protected before, and is again.
func TestFeed_access(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	access := func(file, access string) {
		t.Helper()
		body, contentType := form(t, "prices.csv", file, "descriptor", withKey)
		if a := p.put(t, "?_allow_breaking=true&_allow_exposure=true&_access="+access, body,
			contentType); a.status/100 != 2 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	access("id,price\n1,1\n", "open")
	access("id,price\n1,2\n2,2\n", "key")
	access("id,price\n1,2\n2,2\n3,3\n", "open")
	key := "X-API-Key: " + reader
	if f := parseFeed(t, p.get(t, pricesFeed)); len(f.Entries) != 1 ||
		!strings.HasSuffix(f.Entries[0].Title, ": 2 added, 1 changed") {
		t.Errorf("without a key: %+v", f.Entries)
	}
	a := p.get(t, pricesFeed, key)
	if f := parseFeed(t, a); len(f.Entries) != 2 || !strings.HasPrefix(a.header.Get("Cache-Control"), "private") {
		t.Errorf("with a key: %+v %s", f.Entries, a.header)
	}
	access("id,price\n1,2\n", "key")
	a = p.get(t, pricesFeed)
	if a.status != http.StatusUnauthorized || !strings.Contains(strings.Join(a.header.Values("Www-Authenticate"), ","),
		"Basic") || strings.Contains(a.body, "entry") {
		t.Errorf("%d %s %s", a.status, a.header, a.body)
	}
	if f := parseFeed(t, p.get(t, pricesFeed, key)); len(f.Entries) != 3 {
		t.Errorf("with a key: %+v", f.Entries)
	}
	if f := parseFeed(t, p.get(t, "/feed.atom", key)); f.Entries != nil {
		t.Errorf("the feed of all datasets has %+v", f.Entries)
	}
}
