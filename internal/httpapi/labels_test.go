package httpapi_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
)

// TestLabels labels versions and withdraws them, in a sequence of requests.
func TestLabels(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	v1 := decode[publishedBody](t, p.put(t, "", prices)).Version
	state := p.do(t, request("PUT", pricesPath+"/source", prices+"3,Moss,4\n", "X-API-Key: "+publisher,
		"Prefer: respond-async")).header.Get("Location")
	var v2 string
	for v2 == "" {
		v2 = decode[struct{ Result publishedBody }](t, p.get(t, state, "X-API-Key: "+publisher)).Result.Version
	}
	const unknownVersion = "/versions/20200101T000000Z-aaaaaaaaaa"
	one, two := "/versions/"+v1, "/versions/"+v2
	live, other := `If-Match: "`+v2+`"`, `If-Match: "`+v1+`"`
	for _, step := range []struct {
		method, path, key, header string
		status                    int
		want                      string // part of the body
	}{
		{"PUT", one + "/labels/2026-Q1", "", "", 401, "publishing requires a key"},
		{"PUT", one + "/labels/2026-Q1", reader, "", 403, "lacks the scope"},
		{"DELETE", one + "/labels/2026-Q1", "", "", 401, "publishing requires a key"},
		{"DELETE", one, reader, live, 403, "lacks the scope"},
		{"PUT", one + "/labels/2026-Q1?x=1", publisher, "", 400, "unknown parameter"},
		{"PUT", one + "/labels/2026%20Q1", publisher, "", 400, "is not a label"},
		{"PUT", one + "/labels/-x", publisher, "", 400, "is not a label"},
		{"PUT", one + "/labels/20260101T000000Z", publisher, "", 400, "is not a label"},
		{"PUT", one + "/labels/2026-Q1", publisher, other, 412, "If-Match does not hold"},
		{"PUT", one + "/labels/2026-Q1", publisher, live, 200, `{"dataset":"shop/prices","version":"` + v1 +
			`","label":"2026-Q1"}`},
		{"PUT", one + "/labels/2026-Q1", onePub, "", 200, `"label":"2026-Q1"`},
		{"PUT", "/versions/2026-Q1/labels/final", publisher, "", 200, `"version":"` + v1 + `","label":"final"`},
		{"PUT", two + "/labels/final", publisher, "", 409, `version ` + v1 + ` of shop/prices has the label \"final\"`},
		{"PUT", unknownVersion + "/labels/x", publisher, "", 410, "versions: " + v2 + ", " + v1 +
			"; labels: 2026-Q1, final"},
		{"PUT", "/versions/nosuch/labels/x", publisher, "", 410, `no version or label \"nosuch\"`},
		{"GET", "/data?_version=final", "", "", 200, `"total":2`},
		{"DELETE", "/versions/final/labels/final", publisher, "", 204, ""},
		{"DELETE", one + "/labels/final", publisher, "", 204, ""},
		{"GET", "/data?_version=final", "", "", 410, "labels: 2026-Q1"},
		{"DELETE", "/versions/2026-Q1", publisher, live, 400, "a label cannot be withdrawn"},
		{"DELETE", one, publisher, "", 400, "If-Match is required"},
		{"DELETE", one, publisher, other, 412, "If-Match does not hold"},
		{"DELETE", two, publisher, live, 409, "is live"},
		{"DELETE", unknownVersion, publisher, live, 410, "versions: " + v2},
		{"DELETE", one, publisher, live, 204, ""},
		{"DELETE", one, publisher, "If-Match: *", 204, ""},
		{"GET", "/data?_version=" + v1, "", "", 410, "was withdrawn on"},
		{"GET", "/data?_version=2026-Q1", "", "", 410, `no version or label \"2026-Q1\"`},
		{"PUT", one + "/labels/again", publisher, "", 410, "was withdrawn on"},
		{"POST", "/rollback", publisher, "", 400, "no version before the live one"},
		{"GET", "/versions", "", "", 200, `"withdrawn":[{"version":"` + v1 + `"`},
		{"GET", "/versions", publisher, "", 200, `"withdrawn":[{"version":"` + v1 + `"`},
	} {
		a := p.do(t, request(step.method, pricesPath+step.path, "", "X-API-Key: "+step.key, step.header))
		if a.status != step.status || !strings.Contains(a.body, step.want) {
			t.Errorf("%s %s with %q and %q: %d %s, want %d %s", step.method, step.path, step.key, step.header, a.status,
				a.body, step.status, step.want)
		}
		if step.method != "GET" && a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s can be cached: %v", step.method, step.path, a.header)
		}
	}
	for _, path := range []string{"/versions/x/labels/y", "/versions/x"} {
		if a := p.do(t, request("DELETE", "/api/v1/shop/nothing"+path, "", "X-API-Key: "+publisher,
			"If-Match: *")); a.status != 412 {
			t.Errorf("%s of an unknown dataset: %d %s", path, a.status, a.body)
		}
	}
	if a := p.do(t, request("PUT", "/api/v1/shop/nothing/versions/x/labels/y", "",
		"X-API-Key: "+publisher)); a.status != 404 {
		t.Errorf("a label for an unknown dataset: %d %s", a.status, a.body)
	}
	if a := p.get(t, state, "X-API-Key: "+publisher); a.status != 404 ||
		!strings.Contains(a.body, "unless a version that it names is withdrawn") {
		t.Errorf("a publish that has replaced the withdrawn version: %d %s", a.status, a.body)
	}
	entries, err := p.store.AuditEntries(t.Context(), herb.AuditQuery{})
	must.NoError(t, err)
	var log []string
	for _, e := range entries {
		if strings.HasPrefix(string(e.Action), "version.") && e.Result == herb.AuditOK {
			log = append(log, string(e.Action)+" "+e.Actor+" "+e.Detail)
		}
	}
	if want := []string{
		"version.label " + publisher[5:15] + " version " + v1 + ", label 2026-Q1", "version.label " + publisher[5:15] +
			" version " + v1 + ", label final",
		"version.unlabel " + publisher[5:15] + " version " + v1 + ", label final", "version.withdraw " +
			publisher[5:15] + " version " + v1,
	}; !slices.Equal(log, want) {
		t.Errorf("the audit log has %q, want %q", log, want)
	}
}

// TestMessage sends messages with every way of publishing.
func TestMessage(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	longest := strings.Repeat("€", herb.MaxMessage)
	parts := func(message string) (string, string) {
		return form(t, "prices.csv", prices+"9,Oak,9\n", "_message", message)
	}
	longForm, longType := parts(longest)
	tooLong, tooLongType := parts(longest + "€")
	for _, step := range []struct {
		method, path, message, body, header string
		status                              int
		want                                string // the message of the live version
	}{
		{"PUT", "/source", "Autumn prices", prices, "", 201, "Autumn prices"},
		{"PUT", "/source", "", prices + "3,Moss,4\n", "", 200, ""},
		{"PATCH", "/source?_mode=append", " One  more ", "id,name,price\n4,Ivy,5\n", "", 200, "One  more"},
		// the merged file was another one
		{"PUT", "/source", "Unchanged", "id,name,price\n1,Rose,2.50\n2,Fern,3\n3,Moss,4\n4,Ivy,5\n", "", 200,
			"Unchanged"},
		{"PUT", "/source", "Ignored", "id,name,price\n1,Rose,2.50\n2,Fern,3\n3,Moss,4\n4,Ivy,5\n", "", 200,
			"Unchanged"},
		{"PUT", "/descriptor", "<b>Titles</b> & €", `{"resources": [{"path": "prices.csv", "title": "Prices"}]}`, "",
			200, "<b>Titles</b> & €"},
		{"PUT", "/source?_check=true", "Checked", prices, "", 200, "<b>Titles</b> & €"},
		{"PUT", "/source", "two\nlines", prices, "", 400, "<b>Titles</b> & €"},
		{"PUT", "/source", "\xff", prices, "", 400, "<b>Titles</b> & €"},
		{"PUT", "/source", longest + "x", prices, "", 400, "<b>Titles</b> & €"},
		{"PUT", "/source", "", longForm, longType, 200, longest},
		{"PUT", "/source", "", tooLong, tooLongType, 400, longest},
	} {
		target := pricesPath + step.path
		if step.message != "" {
			separator := "?"
			if strings.Contains(target, "?") {
				separator = "&"
			}
			target += separator + "_message=" + url.QueryEscape(step.message)
		}
		headers := []string{"X-API-Key: " + publisher}
		if step.header != "" {
			headers = append(headers, step.header)
		}
		if a := p.do(t, request(step.method, target, step.body, headers...)); a.status != step.status {
			t.Errorf("%s with %.20q: %d %s", step.path, step.message, a.status, a.body)
		}
		list := decode[library.VersionList](t, p.send(t, "GET", "/versions", ""))
		if list.Versions[0].Message != step.want {
			t.Errorf("after %s with %.20q: %q", step.path, step.message, list.Versions[0].Message)
		}
	}
}
