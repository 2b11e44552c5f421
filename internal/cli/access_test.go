package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// tree writes files, given as path=content, and returns their folder.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path, content, _ := strings.Cut(f, "=")
		path = filepath.Join(dir, filepath.FromSlash(path))
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		put(t, path, content)
	}
	return dir
}

// statuses returns the status of each path.
func (s *server) statuses(t *testing.T, paths []string, headers ...string) (all []int) {
	t.Helper()
	for _, path := range paths {
		status, _ := s.get(t, path, headers...)
		all = append(all, status)
	}
	return all
}

// TestServe_access serves files with and without descriptors from a server that requires a key by
// default.
func TestServe_access(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := tree(t, "shop/prices.csv=a\n1\n", "free/datapackage.yaml=herbarium: {access: open}\n", "free/x.csv=a\n1\n",
		`open/datapackage.json={"name":"open","resources":[{"name":"y","path":"y.csv","herbarium":{"access":"open"}}]}`,
		"open/y.csv=a\n1\n")
	s := e.serve(t, "--access", "key", "--watch", dir)
	paths := []string{
		"/api/v1/shop/prices/data", "/api/v1/free/x/data", "/api/v1/open/y/data", "/api/v1/store/plants/data",
		"/datasets/shop/prices",
		"/datasets/shop/prices/data.csv", "/api/v1/shop/prices",
	}
	if got := fmt.Sprint(s.statuses(t, paths)); got != "[401 200 200 401 401 401 200]" {
		t.Errorf("without a key: %s", got)
	}
	key := strings.TrimSpace(e.must(t, "keys", "create", "--name", "all", "--scope", "data:read"))
	if got := fmt.Sprint(s.statuses(t, paths[:4], "X-API-Key", key)); got != "[200 200 200 200]" {
		t.Errorf("with a key: %s", got)
	}
	// A file that is dropped into the folder is never readable without a key.
	put(t, filepath.Join(dir, "shop", "new.csv"), "a\n1\n")
	until(t, "the new file is published", func() bool {
		if status, _ := s.get(t, "/api/v1/shop/new/data"); status == http.StatusOK {
			t.Fatal("the new file is public")
		}
		status, _ := s.get(t, "/api/v1/shop/new/data", "X-API-Key", key)
		return status == http.StatusOK
	})
	s.stop()
	// Without the setting, the datasets stay protected, because nothing states that they are open.
	s = e.serve(t, dir)
	if got := fmt.Sprint(s.statuses(t, paths[:4])); got != "[401 200 200 200]" {
		t.Errorf("without the setting: %s", got)
	}
}

// TestPublish_accessSetting publishes with the setting in the environment, which the flag
// overrides.
func TestPublish_accessSetting(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_ACCESS"] = "key"
	e.must(t, "publish", write(t, "shop/a.csv", "a\n1\n"))
	e.must(t, "publish", write(t, "shop/b.csv", "a\n2\n"), "--access", "open")
	code, _, errOut := e.feed(t.Context(), strings.NewReader("a\n3\n"), "publish", "-", "--as", "shop/c",
		"--format", "csv")
	if code != 0 {
		t.Fatal(errOut)
	}
	s := e.serve(t)
	if got := fmt.Sprint(s.statuses(t, []string{"/api/v1/shop/a/data", "/api/v1/shop/b/data",
		"/api/v1/shop/c/data"})); got != "[401 200 401]" {
		t.Errorf("got %s", got)
	}
	e["HERBARIUM_ACCESS"] = "public"
	e.fails(t, 2, `access is "public": choose open or key`, "publish", write(t, "shop/d.csv", "a\n1\n"))
}

// TestServe_folderAccess serves a folder whose descriptor has no resources, and subfolders that
// state their own access.
func TestServe_folderAccess(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := tree(t, "open/o.csv=a\n1\n", "vault/datapackage.yaml=herbarium:\n  access: key\n", "vault/a.csv=a\n1\n",
		"vault/sub/b.csv=a\n1\n",
		`vault/listed/datapackage.json={"name":"listed","resources":[{"name":"c","path":"c.csv"}]}`,
		"vault/listed/c.csv=a\n1\n",
		`vault/pub/datapackage.json={"herbarium":{"access":"open"},"resources":[]}`, "vault/pub/d.csv=a\n1\n",
		"wrong/datapackage.yaml=herbarium: {access: kee}\n", "wrong/e.csv=a\n1\n",
		"typo/datapackage.yaml=herbarium: {access: key}\nresorces: [{path: f.csv}]\n", "typo/f.csv=a\n1\n")
	s := e.serve(t, dir)
	paths := []string{
		"/api/v1/open/o/data", "/api/v1/vault/a/data", "/api/v1/sub/b/data", "/api/v1/listed/c/data",
		"/api/v1/pub/d/data", "/api/v1/wrong/e/data", "/api/v1/typo/f/data",
	}
	if got := fmt.Sprint(s.statuses(t, paths)); got != "[200 401 401 401 200 404 404]" {
		t.Errorf("without a key: %s\n%s", got, s.log)
	}
	// Paths in the folder that are named themselves.
	for _, path := range []string{"vault/a.csv", "vault/sub", "vault/sub/b.csv", "vault/listed/datapackage.json",
		"vault/pub/d.csv"} {
		named := newEnvironment(t)
		out := named.must(t, "publish", filepath.Join(dir, filepath.FromSlash(path)), "--json")
		want := "key"
		if strings.Contains(path, "pub") {
			want = "open"
		}
		if list := named.must(t, "datasets", "list"); !strings.Contains(list, " "+want+" ") {
			t.Errorf("%s is not %s: %s\n%s", path, want, list, out)
		}
	}
	// Without its descriptor, the folder stays protected.
	must.NoError(t, os.Remove(filepath.Join(dir, "vault", "datapackage.yaml")))
	put(t, filepath.Join(dir, "vault", "a.csv"), "a\n1\n2\n")
	e.must(t, "publish", filepath.Join(dir, "vault", "a.csv"))
	if got := fmt.Sprint(s.statuses(t, paths[1:2])); got != "[401]" {
		t.Errorf("without its descriptor: %s", got)
	}
	e.fails(t, 1, "it sets the access of its folder", "publish", filepath.Join(dir, "vault", "pub", "datapackage.json"))
}

// TestServe_privateCatalog searches everything that a server shows to clients without a key for
// what it must not tell them.
func TestServe_privateCatalog(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := tree(t, "open/garden.csv=tree\noak\n",
		`vault/datapackage.json={"name":"vault","title":"Undisclosed","resources":[{"name":"salaries","path":"s.csv","title":"Undisclosed title","description":"Undisclosed text",
			"schema":{"fields":[{"name":"wage","type":"number","description":"Undisclosed field"}]},"herbarium":{"access":"key"}}]}`,
		"vault/s.csv=wage\n1234\n5678\n", "vault/photo.svg=<svg/>", "broken/b.csv=")
	s := e.serve(t, "--catalog", "key", dir)
	all := strings.TrimSpace(e.must(t, "keys", "create", "--name", "all", "--scope", "data:read"))
	one := strings.TrimSpace(e.must(t, "keys", "create", "--name", "one", "--scope", "data:read:vault/*"))
	other := strings.TrimSpace(e.must(t, "keys", "create", "--name", "other", "--scope", "data:read:other/*"))
	const secret = "/api/v1/vault/salaries"
	hidden := []string{
		secret, secret + "/data", secret + "/data.csv", secret + "/data/1", secret + "/facets?field=wage",
		secret + "/facets?field=nothing", secret + "/grid", secret + "/data?_version=x",
		"/openapi.json?dataset=vault/salaries", "/datasets/vault/salaries", "/datasets/vault/salaries/about",
		"/datasets/vault/salaries/api", "/datasets/vault/salaries/versions",
		"/datasets/vault/salaries/map", "/datasets/vault/salaries/data", "/datasets/vault/salaries/spark.svg",
		"/datasets/vault/salaries/files/photo.svg",
	}
	// For clients without a key that may read it, the dataset is like one that does not exist.
	for _, path := range hidden {
		for _, header := range [][]string{nil, {"X-API-Key", other, "Cookie", "herbarium_key=" + other},
			{"X-API-Key", all[:len(all)-1], "Cookie", "herbarium_key=" + all[:len(all)-1]}} {
			for _, accept := range []string{"*/*", "text/html"} {
				got := s.do(t, http.MethodGet, path, "", append(slices.Clone(header), "Accept", accept)...)
				unknown := s.do(t, http.MethodGet, strings.ReplaceAll(path, "vault/salaries", "vault/salariex"), "",
					append(slices.Clone(header), "Accept", accept)...)
				if got.Status != http.StatusNotFound || got.Status != unknown.Status ||
					strings.ReplaceAll(got.Body, "salaries", "salariex") != unknown.Body {
					t.Errorf("%s %q: %d %.300s; an unknown dataset gives %d %.300s", path, header, got.Status, got.Body,
						unknown.Status, unknown.Body)
				}
				for _, name := range []string{"Vary", "Cache-Control", "Www-Authenticate", "Etag", "X-Dataset-Version",
					"Content-Type"} {
					if got.Header.Get(name) != unknown.Header.Get(name) {
						t.Errorf("%s %q: %s is %q; of an unknown dataset %q", path, header, name, got.Header.Get(name),
							unknown.Header.Get(name))
					}
				}
			}
		}
	}
	shown := []string{
		"/", "/?search=undisclosed", "/?search=1234", "/?namespace=vault", "/?keyword=x", "/docs", "/api/v1",
		"/api/v1?search=undisclosed", "/api/v1/search?search=1234", "/api/v1/search?search=oak",
		"/openapi.json", "/catalog.jsonld", "/readyz", "/healthz", "/api/v1/vault/salarie/data",
		"/api/v1/valt/salaries/data", "/datasets/vault/salary", "/datasets/vault", "/robots.txt", "/sitemap.xml",
		"/datasets/open/garden/about",
	}
	for _, path := range shown {
		for _, header := range [][]string{nil, {"X-API-Key", other, "Cookie", "herbarium_key=" + other}} {
			resp := s.do(t, http.MethodGet, path, "", header...)
			body := strings.ToLower(resp.Body)
			asked := strings.ToLower(strings.NewReplacer("/datasets/", "", "/api/v1/", "", "/data", "", "/?search=", "",
				"/?namespace=", "").Replace(path))
			for _, word := range []string{"undisclosed", "salaries", "wage", "vault"} {
				if strings.Contains(strings.ReplaceAll(body, asked, ""), word) {
					t.Errorf("%s %q contains %q: %.600s", path, header, word, resp.Body)
				}
			}
			if path == "/api/v1" && !strings.Contains(resp.Body, `"total":2,`) { // garden and plants
				t.Errorf("the catalogue counts hidden datasets: %s", resp.Body)
			}
		}
	}
	until(t, "/readyz reports that a source failed, without numbers", func() bool {
		_, body := s.get(t, "/readyz")
		return strings.Contains(body, "some sources could not be published") && !strings.ContainsAny(body, "0123456789")
	})
	// Holders of a key see what it may read.
	for _, key := range []string{all, one} {
		for _, path := range []string{secret, secret + "/data", "/openapi.json", "/api/v1",
			"/api/v1?search=undisclosed"} {
			resp := s.do(t, http.MethodGet, path, "", "X-API-Key", key)
			if resp.Status != http.StatusOK || !strings.Contains(resp.Body, "wage") ||
				!strings.Contains(resp.Header.Get("Cache-Control"), "private") ||
				!strings.Contains(resp.Header.Get("Vary"), "X-API-Key") {
				t.Errorf("%s with a key: %d %v %.300s", path, resp.Status, resp.Header, resp.Body)
			}
		}
		for _, path := range []string{"/", "/?search=undisclosed", "/datasets/vault/salaries", "/catalog.jsonld"} {
			resp := s.do(t, http.MethodGet, path, "", "Cookie", "herbarium_key="+key)
			if resp.Status != http.StatusOK || !strings.Contains(resp.Body, "Undisclosed") ||
				!strings.Contains(resp.Header.Get("Cache-Control"), "private") {
				t.Errorf("%s with a cookie: %d %v %.300s", path, resp.Status, resp.Header, resp.Body)
			}
		}
	}
}

// TestServe_withoutPlants switches the plant store off. Plants that were created before are kept.
func TestServe_withoutPlants(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := tree(t, "shop/prices.csv=a\n1\n")
	s := e.serve(t, dir)
	key := strings.TrimSpace(e.must(t, "keys", "create", "--name", "w", "--scope", "plants:write"))
	if status, body := s.create(t, key, `{"id":1,"name":"Rose"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	s.stop()
	e["HERBARIUM_PLANTS"] = "off"
	s = e.serve(t, dir)
	if status, body := s.create(t, key, `{"id":2,"name":"Rose"}`); status != http.StatusNotFound ||
		!strings.Contains(body, `no such path \"/plants\"`) {
		t.Errorf("a creation: %d %s", status, body)
	}
	if got := fmt.Sprint(s.statuses(t, []string{"/api/v1/store/plants", "/api/v1/store/plants/data",
		"/datasets/store/plants", "/openapi.json?dataset=store/plants"})); got != "[404 404 404 404]" {
		t.Errorf("got %s", got)
	}
	for _, path := range []string{"/", "/api/v1", "/openapi.json", "/docs", "/catalog.jsonld", "/readyz", "/api/v1/x/y",
		"/nothing", "/?search=rose"} {
		if _, body := s.get(t, path); strings.Contains(strings.ToLower(body), "plant") {
			t.Errorf("%s mentions plants: %.300s", path,
				body[max(0, strings.Index(strings.ToLower(body), "plant")-100):])
		}
	}
	if strings.Contains(s.out.String(), "plant") {
		t.Errorf("the banner mentions plants: %s", s.out)
	}
	e.fails(t, 1, "no such dataset", "export", "store/plants")
	e.fails(t, 1, "reserved for created plants", "publish", write(t, "x.csv", "a\n1\n"), "--as", "store/plants")
	s.stop()
	e["HERBARIUM_PLANTS"] = "on"
	s = e.serve(t)
	if n := s.total(t, "/api/v1/store/plants/data"); n != 1 {
		t.Errorf("%d plants after the store was switched on again", n)
	}
}

// TestServe_images requests images beside datasets of one folder: an open one, whose column cannot
// be filtered, and one that requires a key.
func TestServe_images(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := tree(t, `vault/datapackage.json={"name":"vault","resources":[
		{"name":"pub","path":"pub.csv","schema":{"fields":[{"name":"photo","herbarium":{"filterable":false,"searchable":false,"sortable":false}}]}},
		{"name":"staff","path":"staff.csv","herbarium":{"access":"key"}}]}`,
		"vault/pub.csv=photo\nphotos/rose.svg\nphotos/tulip.svg\n", "vault/staff.csv=photo\nphotos/alice.svg\n",
		"vault/photos/rose.svg=<svg/>", "vault/photos/alice.svg=<svg/>", "vault/photos/unnamed.svg=<svg/>")
	s := e.serve(t, dir)
	var paths []string
	for _, path := range []string{"pub/files/photos/rose.svg", "pub/files/photos/alice.svg",
		"pub/files/photos/unnamed.svg", "staff/files/photos/alice.svg"} {
		paths = append(paths, "/datasets/vault/"+path)
	}
	if got := fmt.Sprint(s.statuses(t, paths)); got != "[200 404 404 401]" {
		t.Errorf("without a key: %s", got)
	}
	key := strings.TrimSpace(e.must(t, "keys", "create", "--name", "all", "--scope", "data:read"))
	if got := fmt.Sprint(s.statuses(t, paths, "Cookie", "herbarium_key="+key)); got != "[200 404 404 200]" {
		t.Errorf("with a key: %s", got)
	}
}
