package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
	"herbarium/internal/web/view/datasets"
)

// everyPage returns a URL of each kind of page with its status.
func everyPage() map[string]int {
	return map[string]int{
		"/": 200, "/?search=garden": 200, "/?search=zzz": 200, "/docs": 200, "/nothing": 404,
		"/datasets/garden/catalog": 200,
		"/datasets/garden/catalog?category=fern&sort=price&order=desc&_record=2&_facet=category&_distributions=1": 200,
		"/datasets/garden/catalog?sort=prize": 400, "/datasets/garden/catalog?search=zzz": 200,
		"/datasets/garden/catalog?page=9": 200,
		"/datasets/garden/catalog?%zz":    400, "/datasets/garden/catalog/api": 200,
		"/datasets/garden/catalog/about":    200,
		"/key":                              200,
		"/datasets/garden/catalog/versions": 200, "/datasets/garden/nothing": 404, "/datasets/locked/staff": 401,
		"/datasets/locked/staff/about": 200, "/datasets/evil/nasty/about": 200, "/datasets/empty/none/about": 200,
		"/datasets/wide/many/about":  200,
		"/datasets/locked/staff/api": 200, "/datasets/locked/staff/versions": 200, "/datasets/evil/nasty": 200,
		"/datasets/evil/nasty?_record=1&_facet=image&_facet=tags&_distributions=1": 200,
		"/datasets/evil/nasty/api":       200,
		"/datasets/garden/catalog/chart": 200, "/datasets/garden/catalog/chart?_by=category&_by=tags": 200,
		"/datasets/garden/catalog/chart?_by=nothing": 400,
		"/datasets/evil/nasty/chart":                 200, "/datasets/locked/staff/chart": 401,
		"/datasets/empty/none/chart":    200,
		"/datasets/wide/many/chart":     200,
		"/datasets/evil/nasty/versions": 200, "/datasets/empty/none": 200, "/datasets/wide/many": 200,
		"/datasets/wide/many/api": 200,
	}
}

// TestEveryPage checks the security headers and the safety of the HTML of all pages.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, status := range everyPage() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, path)
			if a.status != status || a.header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("got %d %s, want %d", a.status, a.header.Get("Content-Type"), status)
			}
			checkHeaders(t, path, a)
			doc := parse(t, a.body)
			checkSafe(t, doc)
			if n := len(all(doc, tag("h1", ""))); n != 1 {
				t.Errorf("the page has %d main headings", n)
			}
			if root := one(t, doc, tag("html", "")); attr(root, "lang") != "en" {
				t.Error("the page does not say its language")
			}
			title := textOf(one(t, one(t, doc, tag("head", "")), tag("title", "")))
			if title == "" || strings.ContainsAny(title, "\u202E\n") {
				t.Errorf("the title is %q", title)
			}
		})
	}
}

func checkHeaders(t *testing.T, path string, a reply) {
	t.Helper()
	policy := a.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
		"base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the content policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") != (path == "/docs") || strings.Contains(policy, "unsafe-eval") ||
		strings.Contains(policy, "http:") {
		t.Errorf("the content policy is %s", policy)
	}
	images := strings.Contains(path, "/garden/catalog") || strings.Contains(path, "/evil/nasty")
	isBrowser := images && !strings.Contains(path, "/about") && !strings.Contains(path, "/api") &&
		!strings.Contains(path, "/versions") && !strings.Contains(path, "/chart")
	if strings.Contains(policy, "img-src 'self' https:") != isBrowser {
		t.Errorf("images: the content policy is %s", policy)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin",
	} {
		if got := a.header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if link := a.header.Get("Link"); !strings.Contains(link, `</openapi.json>; rel="service-desc"`) {
		t.Errorf("Link is %s", link)
	}
}

// checkSafe checks that a page contains no inline script or style, no embedded content and no
// unsafe link.
func checkSafe(t *testing.T, doc *html.Node) {
	t.Helper()
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && attr(n, "type") != "application/ld+json" {
			if src := attr(n, "src"); !strings.HasPrefix(src, "/assets/") || textOf(n) != "" {
				t.Errorf("a script from %q with the text %q", src, textOf(n))
			}
		}
		if n.Data == "style" || n.Data == "iframe" || n.Data == "object" || n.Data == "base" {
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "formaction":
				checkAddress(t, n, a.Val)
			}
		}
	}
}

func checkAddress(t *testing.T, n *html.Node, address string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Errorf("%s leads to %q: %v", n.Data, address, err)
		return
	}
	outside := u.Scheme != "" || u.Host != ""
	switch {
	case !outside:
	case u.Scheme != "http" && u.Scheme != "https", u.User != nil:
		t.Errorf("%s leads to %q", n.Data, address)
	case n.Data == "img" && (u.Scheme != "https" || attr(n, "referrerpolicy") != "no-referrer" ||
		attr(n, "loading") != "lazy"):
		t.Errorf("an image comes as %v", n.Attr)
	case n.Data == "a" && !strings.Contains(attr(n, "rel"), "noreferrer"):
		t.Errorf("a link to %q sends a referrer", address)
	case n.Data != "a" && n.Data != "img" && n.Data != "link":
		t.Errorf("%s comes from %q", n.Data, address)
	}
}

// TestLinks follows every link of the site, with and without a path prefix.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"", "https://example.org/open/data"} {
		t.Run(public, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(o *web.Options, l *apitest.Library) { o.PublicURL = public; l.Views = l.Views[:3] })
			const most = 600
			start := s.base + "/"
			queue, seen := []string{start}, map[string]bool{start: true}
			for len(queue) > 0 && len(seen) < most {
				at := queue[0]
				queue = queue[1:]
				a := s.get(t, at)
				hasFeed := !strings.HasSuffix(at, "/feed.atom") // the library in memory has no versions
				if a.status != 200 && a.status != 303 && hasFeed &&
					!(a.status == 401 && strings.Contains(at, "/locked/")) {
					t.Errorf("%s gives %d: %.200s", at, a.status, a.body)
				}
				here, err := url.Parse(at)
				if err != nil || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
					continue
				}
				for _, next := range linksOf(parse(t, a.body), here) {
					if !strings.HasPrefix(next, s.base+"/") {
						t.Errorf("%s links to %s, outside of the site", at, next)
					} else if !seen[next] && !strings.Contains(next, datasets.FeedFile) { // this server has none
						seen[next] = true
						queue = append(queue, next)
					}
				}
			}
			if len(seen) < 200 {
				t.Errorf("only %d URLs were found", len(seen))
			}
		})
	}
}

// linksOf returns the links of a page within the site.
func linksOf(doc *html.Node, here *url.URL) (links []string) {
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "form" || a.Key != "href" && a.Key != "src" && a.Key != "data-facets" &&
				a.Key != "data-distributions" {
				continue
			}
			u, err := here.Parse(a.Val)
			if err != nil || u.Host != "" {
				continue
			}
			u.Fragment = ""
			if a.Key == "data-facets" {
				u.RawQuery = "_facet=category"
			}
			if a.Key == "data-distributions" {
				u.RawQuery = "_columns=category&_columns=price"
			}
			links = append(links, u.String())
		}
	}
	return links
}

func TestCanonicalAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct{ public, want string }{
		{"", "http://herbarium.test"},
		{"https://example.org", "https://example.org"},
		{"https://example.org/open/data/", "https://example.org/open/data"},
	}
	for _, tt := range tests {
		s := newSite(t, func(o *web.Options, _ *apitest.Library) { o.PublicURL = tt.public })
		for _, path := range []string{"/", "/datasets/garden/catalog", "/datasets/garden/catalog/about",
			"/datasets/garden/catalog/api", "/datasets/garden/catalog/versions"} {
			doc := s.page(t, path, 200)
			want := tt.want + path
			link := one(t, doc, func(n *html.Node) bool { return n.Data == "link" && attr(n, "rel") == "canonical" })
			og := one(t, doc, func(n *html.Node) bool { return n.Data == "meta" && attr(n, "property") == "og:url" })
			if attr(link, "href") != want || attr(og, "content") != want {
				t.Errorf("%s of %q: canonical %q, og:url %q; want %q", path, tt.public, attr(link, "href"),
					attr(og, "content"), want)
			}
		}
		// All views of a dataset have the same canonical URL.
		doc := s.page(t, "/datasets/garden/catalog?category=fern", 200)
		link := one(t, doc, func(n *html.Node) bool { return n.Data == "link" && attr(n, "rel") == "canonical" })
		if attr(link, "href") != tt.want+"/datasets/garden/catalog" {
			t.Errorf("a view names %s as canonical", attr(link, "href"))
		}
	}
}

func TestOrigin_invalidHost(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	r := s.get(t, "/datasets/garden/catalog")
	if !strings.Contains(r.body, "curl &#39;http://herbarium.test/api/v1/garden/catalog/data?per_page=50&#39;") {
		t.Error("the call does not name the host")
	}
	a := s.get(t, "/", "X-Forwarded-Host", "evil.example")
	if strings.Contains(a.body, "evil.example") {
		t.Error("the X-Forwarded-Host header changes links")
	}
}

// TestFailures checks that errors of the library give an error page without internals.
func TestFailures(t *testing.T) {
	t.Parallel()
	for code, status := range map[herb.Code]int{herb.CodeUnavailable: 503, herb.CodeInternal: 500} {
		s := newSite(t, func(_ *web.Options, l *apitest.Library) {
			l.Err = herb.Wrap(code, context.DeadlineExceeded, "the disk at /var is gone")
		})
		for _, path := range []string{"/", "/datasets/garden/catalog", "/datasets/garden/catalog/about",
			"/datasets/garden/catalog/api", "/catalog.jsonld"} {
			a := s.get(t, path)
			if a.status != status && status == 503 || a.status < 500 || !strings.Contains(a.body, "<h1>") {
				t.Errorf("%s: %s gives %d %.100s", code, path, a.status, a.body)
			}
			if code == herb.CodeInternal && strings.Contains(a.body, "/var") {
				t.Errorf("%s shows internals", path)
			}
		}
	}
}

// TestMissing checks what unknown paths lead to.
func TestMissing(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, want := range map[string]string{
		// has a route: suggested as before
		"/garden/catalog": catalog, "/garden//catalog": catalog, "/datasets//garden/catalog": "",
		"/garden": "/?namespace=garden", "/nothing": "", "/garden/catalogue": "", "/garden/catalog/tables": "",
		"/locked/staff": locked,
	} {
		a := s.get(t, path)
		if got := a.header.Get("Location"); got != want || (a.status == 303) != (want != "") || want == "" &&
			a.status != 404 {
			t.Errorf("%s: %d, to %q, want %q", path, a.status, got, want)
		}
		if got := s.get(t, path, "Accept", "application/json"); got.status != 404 ||
			!strings.Contains(got.body, `{"error":404,"message":"no such path`) {
			t.Errorf("%s: JSON clients get %d %s", path, got.status, got.body)
		}
	}
	for _, tt := range []struct{ path, heading, message, near string }{
		{"/datasets/garden/catalogue", "Dataset not found", "There is no dataset garden/catalogue.", catalog},
		{"/datasets/graden/catalog/map", "Dataset not found", "There is no dataset graden/catalog.", catalog},
		{"/datasets/zoo/animals", "Dataset not found", "There is no dataset zoo/animals.", ""},
		{"/garden/catalogue", "Page not found", `there is no page "/garden/catalogue"`, catalog},
		{"/catalog", "Page not found", `there is no page "/catalog"`, catalog},
		{"/zebra", "Page not found", `there is no page "/zebra"`, ""},
		{"/herb_staff00000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "Page not found", "there is no page", ""},
	} {
		doc := s.page(t, tt.path, 404)
		state := one(t, doc, tag("div", "empty-state"))
		var near []string
		for _, list := range all(state, tag("ul", "near")) {
			for _, a := range all(list, tag("a", "")) {
				near = append(near, attr(a, "href"))
			}
		}
		if got := words(one(t, state, tag("h1", ""))); got != tt.heading {
			t.Errorf("%s: the heading is %q", tt.path, got)
		}
		if got := words(state); !strings.Contains(got, tt.message) || strings.Contains(got, "/api/v1") ||
			strings.Contains(got, "ABCDEFGH") {
			t.Errorf("%s: the page says %q", tt.path, got)
		}
		if strings.Join(near, " ") != tt.near {
			t.Errorf("%s: the page suggests %q, want %q", tt.path, near, tt.near)
		}
	}
	if got := words(one(t, s.page(t, catalog+"/map", 404), tag("div", "empty-state"))); !strings.Contains(got,
		"has no map") || !strings.Contains(got, "Show the dataset") {
		t.Errorf("a dataset without a map: %q", got)
	}
}

func TestNew_missingOptions(t *testing.T) {
	t.Parallel()
	if _, err := web.New(web.Options{}); err == nil {
		t.Error("New accepts options without a library")
	}
	if _, err := web.New(web.Options{
		Site: httpapi.Site{Library: &apitest.Library{}, History: (&apitest.Library{}).History,
			PublicURL: "example.org"},
		Folder:       func(herb.Ref) string { return "" },
		SourceErrors: func(context.Context) ([]herb.SourceError, error) { return nil, nil },
	}); err == nil || !strings.Contains(err.Error(), "example.org") {
		t.Error("New accepts a public URL without a host")
	}
}

// TestBrowser_etag checks that each page has its own entity tag, and that a client with that page
// gets 304.
func TestBrowser_etag(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	seen := map[string]string{}
	for _, query := range []string{"", "?page=2", "?category=fern", "?category=fern&_record=1", "?_fields=title"} {
		for _, theme := range []string{"", "dark"} {
			cookie := "herbarium_theme=" + theme
			a := s.get(t, catalog+query, "Cookie", cookie)
			tag := a.header.Get("Etag")
			if other, ok := seen[tag]; ok || tag == "" {
				t.Errorf("%s %s has the tag %q, as %s", query, theme, tag, other)
			}
			seen[tag] = query + theme
			again := s.get(t, catalog+query, "Cookie", cookie, "If-None-Match", `"x", `+tag)
			if again.status != http.StatusNotModified || again.body != "" || again.header.Get("Etag") != tag ||
				again.header.Get("Content-Type") != "" || again.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s %s: %d %q %v", query, theme, again.status, again.body, again.header)
			}
		}
	}
	setVersions(s.library, "v2")
	for tag, query := range seen {
		if a := s.get(t, catalog+strings.TrimSuffix(query, "dark"), "If-None-Match", tag); a.status != http.StatusOK {
			t.Errorf("%s: %d for a tag of the previous version", query, a.status)
		}
	}
	for _, path := range []string{catalog + "?sort=nope", "/datasets/locked/staff"} {
		if tag := s.get(t, path, "Cookie", "herbarium_key="+staffKey).header.Get("Etag"); tag != "" {
			t.Errorf("%s has the tag %q", path, tag)
		}
	}
}
