package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/herb"
)

// TestMisplacedKey sends a key where none is expected. No response and no line of the log repeats
// it.
func TestMisplacedKey(t *testing.T) {
	t.Parallel()
	secret, _ := access.Mint("test", nil, published(), time.Time{})
	random := secret[16:] // without the prefix and the ID, which are public
	encoded := strings.ReplaceAll(secret, "_", "%5F")
	hex := ""
	for _, c := range []byte(secret) {
		hex += fmt.Sprintf("%%%02x", c)
	}
	mistyped := secret[:20] + "0" + secret[21:]
	const listing = "/api/v1/garden/catalog/data"
	for _, path := range []string{
		listing + "?title=" + secret, listing + "?title=" + encoded, listing + "?title=" + hex,
		listing + "?title=" + mistyped,
		listing + "?title=Bearer+" + secret, listing + "?title[contains]=" + secret, listing + "?" + secret + "=1",
		listing + "?" + secret,
		listing + "?search=a&search=" + secret, listing + "?sort=" + secret, listing + "?apikey=" + secret,
		listing + "?_filter=title%3D" + secret,
		listing + "?api_key=" + secret + "&title=" + secret, listing + ".csv?title=" + secret,
		"/api/v1/locked/staff/data?name=" + secret, "/api/v1/garden/catalog/facets?field=title&_values=" + secret,
		"/api/v1?search=" + secret,
		"/api/v1/search?search=" + secret, "/api/v1/garden/catalog?x=" + secret, "/openapi.json?dataset=" + secret,
		"/schemas/datapackage.json?x=" + secret,
	} {
		s := newService(t, nil)
		a := s.get(t, path)
		if a.status != 400 || !strings.Contains(a.body, "a parameter other than api_key contains a key") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		for _, echo := range []string{a.body, fmt.Sprint(a.header), s.log.String()} {
			if decoded, err := url.QueryUnescape(echo); strings.Contains(echo, random) || err == nil &&
				strings.Contains(decoded, random) || strings.Contains(echo, mistyped[16:]) {
				t.Errorf("%s repeats the key: %s", path, echo)
			}
		}
		if n := s.library.listed.Load(); n > 0 {
			t.Errorf("%s: %d listings", path, n)
		}
	}
	for _, path := range []string{listing + "/" + secret, "/" + secret, "/" + hex + "/", "/api/v1/" + secret +
		"/x/data"} {
		s := newService(t, nil)
		if a := s.get(t, path); a.status != 404 ||
			strings.Contains(a.body+fmt.Sprint(a.header)+s.log.String(), random) {
			t.Errorf("%s: %d %s %v", path, a.status, a.body, a.header)
		}
	}
	s := newService(t, nil)
	for _, path := range []string{
		listing + "?title=herb_garden", listing + "?title=herb_and_spice_garden_of_2024_in_spring",
		listing + "?title=herb_medicine_chamomileofficinalis",
		listing + "?title=100%25+herb_", listing + "?api_key=" + secret, listing + "?api%5Fkey=" + hex,
	} {
		if a := s.get(t, path); a.status != 200 || strings.Contains(fmt.Sprint(a.header), random) {
			t.Errorf("%s: %d %s %v", path, a.status, a.body, a.header)
		}
	}
	if w := s.do(t, request("OPTIONS", listing+"?title="+secret, "", "Origin: https://x.example",
		"Access-Control-Request-Method: GET")); w.status != 204 {
		t.Errorf("a preflight gives %d", w.status)
	}
}

// TestUnknownParameters_everywhere sends an unknown parameter to every route that succeeds and
// returns something other than a page for people.
func TestUnknownParameters_everywhere(t *testing.T) {
	t.Parallel()
	s := newCanarySite(t, false)
	publisher, checked := s.key(t, string(herb.ScopePublish)), 0
	names := strings.NewReplacer("{namespace}", "vault", "{dataset}", "free", keptVersion, s.kept[canaryRef("free")],
		"{key}", "1", "{id}", s.draft, "{path}", "photos/alice.svg")
	for op, examples := range canaryRequests() {
		method, pattern, _ := strings.Cut(op, " ")
		if method != http.MethodGet || strings.HasSuffix(pattern, "z") { // probes
			continue
		}
		for _, example := range examples {
			target := names.Replace(pattern + "?" + example.query)
			a := s.do(t, publisher, request(method, target, ""))
			if a.status != http.StatusOK || strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
				continue
			}
			checked++
			if a := s.do(t, publisher, request(method, target+"&_nosuch=1", "")); a.status != http.StatusBadRequest {
				t.Errorf("%s with an unknown parameter: %d %.200s", target, a.status, a.body)
			}
		}
	}
	if checked < 40 {
		t.Errorf("%d requests", checked)
	}
}

// TestKeys_everywhere sends a key to every route, with the key of a publisher, in a parameter, as
// api_key, in the path and in a form. No response repeats it; parameters and forms are rejected.
func TestKeys_everywhere(t *testing.T) {
	t.Parallel()
	s := newCanarySite(t, false)
	secret, _ := access.Mint("test", nil, published(), time.Time{})
	publisher, random := s.key(t, string(herb.ScopePublish)), secret[16:]
	check := func(want int, r *http.Request) {
		t.Helper()
		what := strings.ReplaceAll(fmt.Sprint(r.Method, " ", r.URL, " ", r.Header), secret, "KEY")
		a := s.do(t, publisher, r)
		if echo := fmt.Sprint(a.header, plainBody(t, a)); strings.Contains(echo, random) {
			t.Errorf("%s: %d repeats the key: %.3000s", what, a.status, echo)
		}
		if want != 0 && a.status != want {
			t.Errorf("%s: %d instead of %d: %.300s", what, a.status, want, a.body)
		}
	}
	pages := s.api.PagePatterns()
	for op, examples := range canaryRequests() {
		method, pattern, _ := strings.Cut(op, " ")
		names := []string{"{namespace}", "vault", "{dataset}", "free", "{version}", s.kept[canaryRef("free")],
			keptVersion, s.kept[canaryRef("free")], "{label}", "x",
			"{key}", "1", "{path}", "photos/alice.svg", "{publish}", s.publish, "{fingerprint}", "x", "{file}", "x.css",
			"{id}", s.draft}
		path := strings.NewReplacer(names...).Replace(pattern)
		invalid := http.StatusBadRequest
		if strings.HasSuffix(pattern, "z") { // probes have no parameters
			invalid = 0
		}
		const form = "Content-Type: application/x-www-form-urlencoded"
		for _, example := range examples {
			query := strings.NewReplacer(names...).Replace(example.query)
			check(invalid, request(method, path+"?"+query+"&_x="+secret, example.body, example.header))
			check(invalid, request(method, path+"?"+query+"&"+secret, example.body, example.header))
			switch {
			case slices.Contains(pages, op):
				check(http.StatusBadRequest, request(method, path+"?"+query+"&api_key="+secret, example.body,
					example.header))
				check(http.StatusBadRequest, request(method, path+"?"+query+"&api_key=a-token-of-another-format",
					example.body, example.header))
			case method == http.MethodGet:
				check(0, request(method, path+"?"+query+"&api_key="+secret, example.body, example.header))
			}
			check(0, request(method, path+"?"+query, strings.ReplaceAll(example.body, "vault/", "vault/"+secret),
				example.header))
			if example.header == form {
				for _, field := range []string{"x", "label", "back", "namespace", "dataset", "message", secret} {
					content := url.Values{field: {secret}, "version": {s.kept[canaryRef("free")]}, "table": {"id\n1"}}
					if method == http.MethodPost && op != "POST /publish" {
						check(http.StatusBadRequest, request(method, path, content.Encode(), form))
					}
				}
			}
		}
		for i := 0; i < len(names); i += 2 {
			if strings.Contains(pattern, names[i]) {
				path := strings.NewReplacer(names...).Replace(strings.Replace(pattern, names[i], secret, 1))
				check(0, request(method, path, "", form))
				check(0, request(method, path, ""))
			}
		}
	}
	const parts = "Content-Type: multipart/form-data; boundary=x"
	multipart := func(name, value string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n" +
			"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nid\n1\r\n--x--\r\n"
	}
	check(http.StatusBadRequest, request("POST", "/publish", multipart("dataset", secret), parts))
	for _, name := range []string{"_message", secret, "_sheet"} {
		check(http.StatusBadRequest, request("POST", "/api/v1/vault/free/source", multipart(name, secret), parts))
	}
	check(http.StatusBadRequest, request("PUT", "/api/v1/vault/free/versions/"+s.kept[canaryRef("free")]+"/labels/"+
		secret, ""))
	for _, tool := range []string{"search_datasets", "describe_dataset", "query_records", "aggregate", "get_record",
		secret, "\\u0068" + secret[1:]} {
		for _, arguments := range []string{`{"query":"KEY"}`, `{"dataset":"KEY"}`,
			`{"dataset":"vault/free","version":"KEY","key":["1"]}`, `{"dataset":"vault/free","key":["KEY"]}`,
			`{"dataset":"vault/free","KEY":"KEY"}`, `{"dataset":"vault/free","filters":["name=KEY"],"fields":["KEY"]}`,
			`{"dataset":"vault/free","by":["KEY"]}`} {
			check(http.StatusBadRequest,
				request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+
					`","arguments":`+strings.ReplaceAll(arguments, "KEY", secret)+`}}`,
					"Content-Type: application/json"))
		}
	}
}
