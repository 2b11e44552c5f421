package httpapi_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// canaryRequest is an example of a request for a route.
type canaryRequest struct {
	query  string
	body   string
	header string
	values bool // it succeeds only for clients that may read the records
	sends  bool // it changes something, so it is sent only with keys that may not
}

// keptVersion stands for the version of a dataset that is not live, in the path and the query of an
// example.
const keptVersion = "{kept}"

// canaryRequests returns examples of requests for every route. A new route needs one: add it here.
func canaryRequests() map[string][]canaryRequest {
	values := func(queries ...string) (all []canaryRequest) {
		for _, q := range append(queries, "") {
			all = append(all, canaryRequest{query: q, values: true})
		}
		return all
	}
	plain := []canaryRequest{{}}
	post := []canaryRequest{{body: "key=x&back=", header: "Content-Type: application/x-www-form-urlencoded",
		sends: true}}
	file := []canaryRequest{{body: "id\n1\n", sends: true}}
	const fromKept = "_from=" + keptVersion
	const api, page, draft = "/api/v1/{namespace}/{dataset}", "/datasets/{namespace}/{dataset}", "/publish/{id}"
	const embed = "/embed/{namespace}/{dataset}"
	all := map[string][]canaryRequest{
		"GET /api/v1": {{}, {query: "search=vault"}, {query: "search=" + canaryMark + "keyword"}},
		"GET /api/v1/search": {{query: "search=Fern"}, {query: "search=" + canaryMark + "cell*"},
			{query: "search=" + canaryMark + "category*"}},
		"GET /openapi.json":             {{}, {query: "dataset=vault/locked"}, {query: "dataset=vault/lockex"}},
		"GET /schemas/datapackage.json": plain,
		"GET /healthz":                  plain, "GET /readyz": plain,
		"POST /plants":               {{body: `{"id":1,"name":"x"}`, header: "Content-Type: application/json"}},
		"GET /api/v1/publishes/{id}": plain,
		"GET " + api:                 plain, "DELETE " + api: file, "PUT " + api + "/source": file,
		"POST " + api + "/source":    file,
		"PATCH " + api + "/source":   {{query: "_mode=append", body: "id\n1\n", sends: true}},
		"PUT " + api + "/descriptor": file, "POST " + api + "/rollback": file,
		"DELETE " + api + "/versions/{version}": file, "PUT " + api + "/versions/{version}/labels/{label}": file,
		"DELETE " + api + "/versions/{version}/labels/{label}": file,
		"GET " + api + "/source":                               values(), "GET " + api + "/descriptor": values(),
		"GET " + api + "/versions": values(), "GET " + api + "/report": values(),
		"GET " + api + "/data":       values("search=Fern", "nosuch=1", "sort=pric", "_labels=true"),
		"GET " + api + "/data/{key}": values(),
		"GET " + api + "/facets":     values("_field=name", "field=kind"),
		"GET " + api + "/grid":       values("_x=longitude&_y=latitude"),
		"GET " + api + "/aggregate":  values("_by=name"), "GET " + api + "/aggregate.csv": values("_by=name"),
		"GET /feed.atom": plain, "GET " + page + "/feed.atom": values("search=Fern", "nosuch=1"),
		"GET " + api + "/changes":        values("_from=20200101T000000Z-aaaaaaaaaa", fromKept),
		"GET " + api + "/changes.ndjson": values(fromKept), "GET " + api + "/changes.csv": values(fromKept),
		"GET " + page + "/changes": values("_from=20200101T000000Z-aaaaaaaaaa", fromKept,
			fromKept+"&_op=removed&search=Fern", fromKept+"&nosuch=1"),
		"GET " + page + "/changes.ndjson": values(fromKept), "GET " + page + "/changes.csv": values(fromKept),
		"GET " + page + "/changes/facets": values(fromKept + "&_facet=name"),
		"GET " + page + "/changes/fields": values(fromKept),
		"GET " + page + "/history":        values("id=1", "id=2", "id=nosuch"),
		"GET /": {{}, {query: "search=Fern"}, {query: "search=" + canaryMark + "cell"},
			{query: "search=vault&sort=rows"}, {query: "keyword=keyword"}},
		"GET /key": plain, "POST /key": post, "POST /key/forget": post, "GET /docs": plain,
		"GET /catalog.jsonld": plain, "GET /assets/{fingerprint}/{file}": plain,
		"GET /sitemap.xml": plain, "GET /robots.txt": plain, "GET /data.json": plain,
		"GET " + page + "/croissant.json": values(),
		"GET /datasets":                   plain, "GET /datasets/{namespace}": plain,
		"GET /datasets/{namespace}/":    plain,
		"GET " + page:                   values("record=1", "search=Fern", "distributions=1", "nosuch=1"),
		"GET " + page + "/files/{path}": values(), "GET " + page + "/map": values(),
		"GET " + page + "/chart": values("_by=name", "_by=kind"),
		"GET " + embed:           values("search=Fern", "nosuch=1"), "GET " + embed + "/map": values(),
		"GET " + embed + "/chart":      values("_by=name"),
		"GET " + page + "/preview.png": values(), "GET " + page + "/map/preview.png": values(),
		"GET " + page + "/chart/preview.png": values("_by=name"),
		"GET " + page + "/chart.svg":         values("_by=name"),
		"GET " + page + "/facets":            values("_facet=name", "_facet=kind"),
		"GET " + page + "/distributions":     values("_count=name", "_count=kind"),
		"GET " + page + "/fields":            values(), "GET " + page + "/rows": values("page=1", "search=Fern"),
		"GET " + page + "/spark.svg": values(),
		"GET " + page + "/about":     plain, "GET " + page + "/api": plain, "GET " + page + "/versions": plain,
		"POST " + page + "/key": post, "POST " + page + "/key/forget": post, "POST " + page + "/rollback": post,
		"POST " + page + "/labels": post,
		"GET " + page + "/data":    values(), "GET " + page + "/grid": values("_x=longitude&_y=latitude"),
		"GET " + page + "/aggregate.csv": values("_by=name"),
		"POST /publish":                  post,
		"GET /publish":                   {{}, {query: "namespace=vault&dataset=locked"}},
		"POST /publish-table":            post,
		"GET /publish-all":               plain, "POST /publish-all": post, "POST " + draft + "/tables": post,
		"POST /publish-all/discard": post, "POST /publish-all/join": post,
		"POST " + api + "/fetch":     file,
		"POST " + page + "/fetch":    post,
		"POST " + page + "/settings": post, "POST " + page + "/withdraw": post, "POST " + page + "/remove": post,
		"GET " + draft: plain, "POST " + draft: post, "GET " + draft + "/descriptor": plain,
		"POST " + draft + "/discard": post, "POST " + draft + "/publish": post,
		"GET " + draft + "/live/{publish}": plain,
	}
	for _, format := range []string{"csv", "ndjson", "xlsx", "geojson", "parquet"} {
		all["GET "+api+"/data."+format], all["GET "+page+"/data."+format] = values(), values()
	}
	tool := func(name, arguments string) canaryRequest {
		return canaryRequest{header: "Content-Type: application/json",
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` +
				arguments + `}}`}
	}
	messages := []canaryRequest{tool("search_datasets", "{}"), tool("search_datasets", `{"query":"vault"}`),
		tool("search_datasets", `{"query":"Fern"}`), tool("search_datasets", `{"query":"`+canaryMark+`cell*"}`)}
	for _, name := range []string{"locked", "lockex", "free", "notes"} {
		dataset := `{"dataset":"vault/` + name + `"`
		messages = append(messages, tool("describe_dataset", dataset+"}"), tool("query_records", dataset+"}"),
			tool("query_records", dataset+`,"filters":["nosuch=1"]}`),
			tool("query_records", dataset+`,"version":"20200101T000000Z-aaaaaaaaaa"}`),
			tool("aggregate", dataset+`,"by":["name"]}`), tool("get_record", dataset+`,"key":["1"]}`))
	}
	all["POST /mcp"] = messages
	return all
}

// TestCanaries sends requests for every route with every kind of key. No response may contain what
// the key may not see: in its body, its headers or as a status that depends on it.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]bool{"public catalogue": false, "private catalogue": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCanarySite(t, private)
			examples := canaryRequests()
			for _, op := range slices.Concat(s.api.Operations(), s.api.PagePatterns(),
				[]string{"POST /mcp", "GET /feed.atom", "GET /datasets/{namespace}/{dataset}/feed.atom"}) {
				requests, ok := examples[op]
				if !ok {
					t.Errorf("%s has no example; add a request for it to canaryRequests", op)
				}
				delete(examples, op)
				for _, r := range requests {
					s.checkRoute(t, op, r)
				}
			}
			if len(examples) > 0 {
				t.Errorf("examples of routes that do not exist: %q", slices.Sorted(maps.Keys(examples)))
			}
			for _, path := range []string{"/vault/locked", "/vault/lockex", "/vault", "/locked",
				"/api/v1/vault/lockex/data", "/datasets/vault/lockex", "/datasets/vault/lockex/x", "/sitemap.xml"} {
				s.checkRoute(t, "GET "+path, canaryRequest{})
			}
			s.checkMetrics(t)
			for _, c := range s.canaries { // otherwise, the test shows nothing
				if !s.found[c.word] {
					t.Errorf("%s, which is in %s, was not found with any key", c.word, c.ref)
				}
			}
		})
	}
}

// checkRoute sends an example for each dataset, in the live and the kept version.
func (s *canarySite) checkRoute(t *testing.T, op string, example canaryRequest) {
	t.Helper()
	method, path, _ := strings.Cut(op, " ")
	path = strings.NewReplacer("{version}", keptVersion, "{label}", "x", "{key}", "1", "{path}", "photos/alice.svg",
		"{publish}", s.publish, "{fingerprint}", "x", "{file}", "x.css").Replace(path)
	if strings.HasPrefix(path, "/api/v1/publishes") {
		path = strings.Replace(path, "{id}", s.publish, 1)
	}
	path = strings.Replace(path, "{id}", s.draft, 1)
	refs := []herb.Ref{{}}
	if strings.Contains(path, "{dataset}") {
		refs = slices.SortedFunc(maps.Keys(s.access), herb.Ref.Compare)
	}
	for _, ref := range refs {
		target := strings.NewReplacer("{namespace}", "vault", "{dataset}", ref.Name, keptVersion,
			cmp.Or(s.kept[ref], "20200101T000000Z-aaaaaaaaaa")).Replace(path + "?" + example.query)
		access := s.access[ref]
		if strings.Contains(example.query, keptVersion) && s.keptAccess[ref] == herb.AccessKey {
			access = herb.AccessKey
		}
		s.checkTarget(t, method, target, example, ref, access)
		if kept := s.kept[ref]; kept != "" && method == http.MethodGet {
			if s.keptAccess[ref] == herb.AccessKey {
				access = herb.AccessKey
			}
			s.checkTarget(t, method, target+"&_version="+kept, example, ref, access)
		}
	}
	if s.private && refs[0] != (herb.Ref{}) {
		s.checkHidden(t, method, path, example)
	}
}

// checkTarget sends a request with each key, and with some of them also HEAD and a conditional one.
func (s *canarySite) checkTarget(t *testing.T, method, target string, example canaryRequest, ref herb.Ref,
	access herb.Access) {
	t.Helper()
	tag := "" // which the first key has received, that of the reader of everything
	for i, key := range s.keys {
		if example.sends && slices.ContainsFunc(key.scopes,
			func(scope herb.Scope) bool { return strings.HasPrefix(string(scope), "publish") }) {
			continue
		}
		a := s.do(t, key, request(method, target, example.body, example.header))
		if i == 0 {
			tag = a.header.Get("Etag")
		}
		what := fmt.Sprintf("%s %s with the key %s", method, target, key.name)
		s.checkCanaries(t, what, target+example.body, key, a)
		reads := access != herb.AccessKey || key.has(herb.ScopeDataRead, ref) || key.has(herb.ScopePublish, ref)
		if example.values && !reads && a.status < 300 {
			t.Errorf("%s gives %d", what, a.status)
		}
		if method != http.MethodGet || tag == "" ||
			!slices.Contains([]string{"none", "data:read:vault/free", "publish:vault/free"}, key.name) {
			continue
		}
		known := s.do(t, key, request(method, target, "", "If-None-Match: "+tag))
		s.checkCanaries(t, what+" and an entity tag", target, key, known)
		if known.status == http.StatusNotModified && a.status != http.StatusOK {
			t.Errorf("%s confirms an entity tag; without it, it gives %d", what, a.status)
		}
		head := s.do(t, key, request(http.MethodHead, target, ""))
		s.checkCanaries(t, "HEAD: "+what, target, key, head)
		if head.status != a.status {
			t.Errorf("HEAD: %s gives %d instead of %d", what, head.status, a.status)
		}
	}
}

// checkMetrics checks that metrics name datasets and nothing that is in them. Programs for
// monitoring keep metrics for long, and show them to more people than those who publish.
func (s *canarySite) checkMetrics(t *testing.T) {
	t.Helper()
	w := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(w, request(http.MethodGet, "/metrics", ""))
	content := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(content, "vault/free") ||
		!strings.Contains(content, "query_records") {
		t.Errorf("metrics: %d %.300s", w.Code, content)
	}
	for _, c := range s.canaries {
		if c.word != c.ref.String() && strings.Contains(content, c.word) {
			t.Errorf("metrics have %q", c.word)
		}
	}
}

// checkCanaries checks that a response has no canary that the key may not see and that is not part
// of the request.
func (s *canarySite) checkCanaries(t *testing.T, what, target string, key canaryKey, a checkedResponse) {
	t.Helper()
	var b strings.Builder
	must.NoError(t, a.header.Write(&b))
	content := b.String() + plainBody(t, a)
	for _, c := range s.canariesIn(content) {
		if strings.Contains(target, c.word) {
			continue
		}
		s.found[c.word] = true
		if !key.sees(c, s.private) {
			at := strings.Index(content, c.word)
			t.Errorf("%s: %d with %q: …%s…", what, a.status, c.word, content[max(0, at-100):min(len(content), at+100)])
		}
	}
}

// canariesIn returns the canaries in a text. Searching it for each of them would take longer than
// all responses.
func (s *canarySite) canariesIn(content string) (found []canary) {
	for _, c := range s.canaries {
		if !strings.HasPrefix(c.word, canaryMark) && strings.Contains(content, c.word) {
			found = append(found, c)
		}
	}
	for {
		at := strings.Index(content, canaryMark)
		if at < 0 {
			return found
		}
		content = content[at:]
		for _, c := range s.canaries {
			if strings.HasPrefix(content, c.word) {
				found = append(found, c)
			}
		}
		content = content[len(canaryMark):]
	}
}

// plainBody returns the body of a response, without the compression of workbooks.
func plainBody(t *testing.T, a checkedResponse) string {
	t.Helper()
	if !strings.HasPrefix(a.body, "PK\x03\x04") {
		return a.body
	}
	archive, err := zip.NewReader(bytes.NewReader([]byte(a.body)), int64(len(a.body)))
	must.NoError(t, err)
	var b strings.Builder
	for _, f := range archive.File {
		r, err := f.Open()
		must.NoError(t, err)
		_, err = io.Copy(&b, r)
		must.NoError(t, err)
	}
	return b.String()
}

// checkHidden compares the responses for a dataset that does not exist and one that does not exist
// for the client: they differ in nothing but the name.
func (s *canarySite) checkHidden(t *testing.T, method, path string, example canaryRequest) {
	t.Helper()
	const hidden, missing = "locked", "lockex"
	for _, key := range s.keys {
		if key.has(herb.ScopeDataRead, canaryRef(hidden)) || key.has(herb.ScopePublish, canaryRef(hidden)) {
			continue
		}
		for _, version := range []string{"", "&_version=" + s.kept[canaryRef(hidden)]} {
			var responses []string
			for _, name := range []string{hidden, missing} {
				target := strings.NewReplacer("{namespace}", "vault", "{dataset}", name, keptVersion,
					s.kept[canaryRef(hidden)]).Replace(path+"?"+example.query) + version
				a := s.do(t, key, request(method, target, example.body, example.header))
				a.header.Del("X-Request-Id")
				responses = append(responses, strings.ReplaceAll(fmt.Sprint(a.status, a.header, a.body),
					missing, hidden))
			}
			if responses[0] != responses[1] {
				t.Errorf("%s %s?%s with the key %s tells whether a dataset exists:\n%.600s\n%.600s", method, path,
					example.query, key.name, responses[0], responses[1])
			}
		}
	}
}
