package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestPinnedWalk follows the links of pages through a version, by its name and by its label, while
// 20 others are published: the pages have the records of exactly that version, and the links name
// it.
func TestPinnedWalk(t *testing.T) {
	t.Parallel()
	const pages, publishes = 1000, 20
	p := newPublishing(t, nil)
	edition := func(n, records int) string {
		var b strings.Builder
		b.WriteString("id,edition\n")
		for id := range records {
			fmt.Fprintf(&b, "%d,e%d\n", id, n)
		}
		return b.String()
	}
	pinned := p.publish(t, edition(0, 2*pages), withKey)
	if a := p.send(t, http.MethodPut, "/versions/"+pinned+"/labels/2026-Q1", ""); a.status/100 != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	published := make(chan struct{}, 1)
	published <- struct{}{}
	next := map[string]string{}
	for _, version := range []string{pinned, "2026-Q1"} {
		next[version] = pricesPath + "/data?per_page=2&sort=-id&_version=" + version
	}
	link := regexp.MustCompile(`<([^>]*)>; rel="next"`)
	for n := 1; n <= pages; n++ {
		if n%(pages/publishes) == 0 { // it runs while pages are read
			<-published
			go func() {
				defer func() { published <- struct{}{} }()
				if a := p.put(t, "?_allow_breaking=true", edition(n, 3)); a.status != http.StatusOK {
					t.Errorf("%d %s", a.status, a.body)
				}
			}()
		}
		for version, page := range next {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, request("GET", page, ""))
			id := 2 * (pages - n)
			want := fmt.Sprintf(`{"data":[{"id":"%d","edition":"e0"},{"id":"%d","edition":"e0"}],"meta":{"total":%d,"page":%d,`, id+1, id, 2*pages, n)
			if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), want) ||
				w.Header().Get("X-Dataset-Version") != pinned {
				t.Fatalf("%s: %d %s, want %s", page, w.Code, w.Body, want)
			}
			next[version] = ""
			if found := link.FindStringSubmatch(w.Header().Get("Link")); found != nil {
				next[version] = found[1]
			}
			if strings.Contains(next[version], "_version="+version) != (n < pages) {
				t.Fatalf("page %d has the links %s", n, w.Header().Get("Link"))
			}
		}
	}
	<-published
	if kept := p.send(t, http.MethodGet, "/versions", ""); strings.Count(kept.body, `"published_at"`) < 20 ||
		p.liveVersion(t) == pinned {
		t.Errorf("versions are %s", kept.body)
	}
}
