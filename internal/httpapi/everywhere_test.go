package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// versionRequest is a GET request that reads a version, for which keptVersion stands.
type versionRequest struct {
	target string
	tag    string // entity tag of the response
}

// TestVersion_everywhere reads a version by its name and by its label on every route that reads
// versions, and then withdraws it: no route returns anything of it any more.
func TestVersion_everywhere(t *testing.T) {
	t.Parallel()
	s := newCanarySite(t, false)
	ref, key := canaryRef("free"), s.key(t, string(herb.ScopePublish))
	const label, unknown = canaryMark + "labelkeptfree", "20200101T000000Z-aaaaaaaaaa"
	name := s.kept[ref]
	get := func(target, version string, headers ...string) checkedResponse {
		return s.do(t, key, request(http.MethodGet, strings.ReplaceAll(target, keptVersion, version), "", headers...))
	}
	call := func(tool, version string) string {
		return s.do(t, key, request(http.MethodPost, "/mcp",
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":`+
				`{"dataset":"vault/free","version":%q%s}}}`, tool, version,
				map[string]string{"aggregate": `,"by":["name"]`, "get_record": `,"key":["1"]`}[tool]),
			"Content-Type: application/json")).body
	}
	tools := []string{"describe_dataset", "query_records", "aggregate", "get_record"}
	for _, tool := range tools {
		if byName, byLabel := call(tool, name), call(tool, label); byLabel != byName ||
			!strings.Contains(byName, name) || strings.Contains(byName, `"isError":true`) {
			t.Errorf("%s returns\n%s\nby the name and\n%s\nby the label", tool, byName, byLabel)
		}
	}
	var all []string // targets
	var reading []versionRequest
	rejecting := map[string]bool{}
	for op, examples := range canaryRequests() {
		method, path, _ := strings.Cut(op, " ")
		if method != http.MethodGet || !strings.Contains(path, "{dataset}") {
			continue
		}
		path = strings.NewReplacer("{namespace}", ref.Namespace, "{dataset}", ref.Name, "{key}", "1", "{path}",
			"photos/alice.svg").Replace(path)
		for _, example := range examples {
			target := path + "?" + example.query
			all = append(all, target)
			if !strings.Contains(target, keptVersion) {
				target += "&_version=" + keptVersion
			}
			if a := get(target, unknown); a.status != http.StatusGone {
				rejecting[fmt.Sprintf("%s %d", op, a.status)] = true
				continue
			}
			if strings.Contains(target, unknown) { // compares with it
				continue
			}
			byName, byLabel := get(target, name), get(target, label)
			if byName.status == http.StatusGone || byLabel.status != byName.status ||
				byLabel.header.Get("X-Dataset-Version") != byName.header.Get("X-Dataset-Version") {
				t.Errorf("%s: %d by the name and %d by the label", target, byName.status, byLabel.status)
			}
			if strings.ReplaceAll(plainBody(t, byLabel), label, name) != strings.ReplaceAll(plainBody(t, byName),
				label, name) {
				t.Errorf("%s returns\n%.2000s\nby the name and\n%.2000s\nby the label", target, byName.body,
					byLabel.body)
			}
			reading = append(reading, versionRequest{target, byName.header.Get("Etag")})
		}
	}
	const dataset = "GET /api/v1/{namespace}/{dataset}"
	if len(rejecting) != 3 || !rejecting[dataset+" 400"] || !rejecting[dataset+"/descriptor 400"] ||
		!rejecting[dataset+"/versions 400"] {
		t.Errorf("routes that read no versions: %v", rejecting)
	}

	must.NoError(t, s.library.Withdraw(t.Context(), ref, name))
	for _, r := range reading {
		for _, header := range []string{"", "If-None-Match: " + r.tag, "If-None-Match: *", "Range: bytes=0-9"} {
			for version, want := range map[string]string{name: "was withdrawn on", label: "no version or label"} {
				if a := get(r.target, version, header); a.status != http.StatusGone || !strings.Contains(a.body, want) {
					t.Errorf("%s of %s with %q: %d %.300s", r.target, version, header, a.status, a.body)
				}
			}
		}
		if a := s.do(t, key, request(http.MethodHead, strings.ReplaceAll(r.target, keptVersion, name),
			"")); a.status != http.StatusGone {
			t.Errorf("HEAD %s: %d", r.target, a.status)
		}
	}
	for _, tool := range tools {
		if a := call(tool, name); !strings.Contains(a, "was withdrawn on") || !strings.Contains(a, `"isError":true`) {
			t.Errorf("%s returns %s", tool, a)
		}
	}
	all = append(all, "/", "/api/v1", "/openapi.json", "/feed.atom", "/api/v1/search?search="+canaryMark+"cellkeptfree",
		"/?search="+canaryMark+"cellkeptfree")
	for _, target := range all {
		a := get(target, name)
		content := plainBody(t, a)
		if i := slices.IndexFunc(s.canaries, func(c canary) bool {
			return strings.HasSuffix(c.word, "keptfree") && !strings.Contains(target, c.word) &&
				strings.Contains(content, c.word)
		}); i >= 0 {
			t.Errorf("%s: %d with %q", target, a.status, s.canaries[i].word)
		}
	}
}
