package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestProtectedVersion reads everything about a dataset without a key, of which a version between
// two open ones requires a key: no response has its values, its label, its message, or counts of
// what changed in it.
func TestProtectedVersion(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	publish := func(file, access, message string) string {
		t.Helper()
		body, contentType := form(t, "prices.csv", file, "descriptor", withKey)
		if a := p.put(t, "?_allow_breaking=true&_allow_exposure=true&_access="+access+"&_message="+message, body,
			contentType); a.status/100 != 2 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return p.liveVersion(t)
	}
	first := publish("id,name\n1,Rose\n2,Fern\n", "open", "first")
	secret := publish("id,name\n1,hidden-value\n2,Fern\n3,Oak\n4,Moss\n5,Ivy\n6,Elm\n", "key", "hidden-message")
	last := publish("id,name\n1,Rose\n2,Fern\n3,Oak\n", "open", "last")
	if a := p.send(t, http.MethodPut, "/versions/"+secret+"/labels/hidden-label", ""); a.status/100 != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	check := func(target string, statuses ...int) checkedResponse {
		t.Helper()
		a := p.get(t, target)
		for _, word := range []string{"hidden-value", "hidden-message", "hidden-label", `"removed":3`, "3 removed",
			"4 added"} {
			if strings.Contains(a.body, word) && !strings.Contains(target, word) {
				t.Errorf("%s shows %s: %s", target, word, a.body)
			}
		}
		for _, status := range statuses {
			if a.status == status {
				return a
			}
		}
		t.Errorf("%s gives %d %s", target, a.status, a.body)
		return a
	}
	for _, version := range []string{secret, "hidden-label"} {
		for _, path := range []string{
			"/data?", "/data.csv?", "/data.ndjson?", "/data.xlsx?", "/data.parquet?", "/data/1?", "/facets?field=name&",
			"/aggregate?_measure=count&", "/report?", "/source?",
		} {
			check(pricesPath+path+"_version="+version, 401)
		}
		for _, form := range []string{"", ".ndjson", ".csv"} {
			for _, pair := range []string{"_from=" + version, "_from=" + first + "&_to=" + version, "_from=" + version +
				"&_to=" + first, "_from=" + version + "&_to=" + version} {
				check(pricesPath+"/changes"+form+"?"+pair, 401)
			}
		}
	}
	for _, path := range []string{"", "/versions", "/data", "/report", "/changes?_from=" + first} {
		check(pricesPath+path, 200)
	}
	for _, path := range []string{"/api/v1", "/api/v1/search?search=hidden", "/openapi.json",
		"/openapi.json?dataset=shop/prices", pricesFeed, "/feed.atom"} {
		check(path, 200)
	}
	for _, path := range []string{"/data?_version=", "/changes?_from=", "/changes?_to=" + first + "&_from="} {
		for _, unknown := range []string{"20010101T133000Z-abcdefghij", "unknown-label"} {
			if a := check(pricesPath+path+unknown, 410); strings.Contains(a.body, secret) ||
				!strings.Contains(a.body, last) {
				t.Errorf("an unknown version gives %s", a.body)
			}
		}
	}
	if a := p.get(t, pricesPath+"/changes?_from="+secret, "X-API-Key: "+reader); a.status != 200 ||
		!strings.Contains(a.body, "hidden-value") || !strings.Contains(a.body, `"removed":3`) {
		t.Errorf("with a key, changes are %d %s", a.status, a.body)
	}
	if a := p.get(t, pricesPath+"/versions", "X-API-Key: "+reader); !strings.Contains(a.body, "hidden-label") ||
		!strings.Contains(a.body, "hidden-message") || !strings.Contains(a.body, `"removed":3`) {
		t.Errorf("with a key, versions are %s", a.body)
	}
}
