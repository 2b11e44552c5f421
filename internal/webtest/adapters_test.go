package webtest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestInterop_adapters runs the example of each adapter in examples/clients/browser on a page of
// another origin, sorts and filters with the functions of its library, and compares the rows on the
// page with the listing.
func TestInterop_adapters(t *testing.T) {
	t.Parallel()
	files := serveAdapters(t)
	s := newSite(t, nil)
	for _, tt := range []struct {
		name  string
		act   string // script that runs after the first rows are shown; empty: none
		rows  string // selector of the titles
		query string // listing whose first titles are shown in the end
	}{
		{"tabulator", `new Promise((loaded) => { table.on("dataProcessed", loaded); table.setSort([{ column: "category", dir: "asc" }, { column: "price", dir: "desc" }]) })
			.then(() => table.setHeaderFilterValue("title", "ro"))`,
			".tabulator-cell[tabulator-field=title]", "sort=category,-price&title[contains]=ro"},
		{"ag-grid", `(table.applyColumnState({ state: [{ colId: "category", sort: "asc", sortIndex: 0 }, { colId: "price", sort: "desc", sortIndex: 1 }] }),
			table.setFilterModel({ title: { filterType: "text", type: "contains", filter: "ro" }, price: { filterType: "number", type: "inRange", filter: 5, filterTo: 50 } }))`,
			".ag-cell[col-id=title]",
			"sort=category,-price&title[contains]=ro&price[gte]=5&price[lte]=50&per_page=100"},
		{"tanstack-query", `show({ page: 2, perPage: 5, sort: ["-price"], search: "rose" })`, "#rows li",
			"page=2&per_page=5&sort=-price&search=rose"},
		{"react-admin", `document.querySelector("button").click()`, "#rows li",
			"search=ros*&category=climber&sort=-price&per_page=10"},
		{"datatables", `(table.order([[2, "asc"], [3, "desc"]]), table.column(1).search("ro"), table.search("a").draw())`,
			"#table tbody td:nth-child(2)", "sort=category,-price&search=a*&title[match]=ro*&per_page=10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, s, tabOptions{Also: files})
			b.VisitAddress(files + "/" + tt.name + ".html?server=" + url.QueryEscape(s.url))
			b.Wait("rows are shown", func() bool { return b.Count(tt.rows) > 0 })
			eval[any](b, "Promise.resolve("+tt.act+").then(() => null)")
			want := s.titles(t, tt.query)
			var got []string
			b.Wait("the rows of "+tt.query, func() bool {
				got = b.Texts(tt.rows)
				return len(got) > 0 && len(got) <= len(want) && slices.Equal(got, want[:len(got)])
			})
			if tt.name == "react-admin" && b.Text("#record") != "Rose 'Madame Alfred Carrière'" {
				t.Errorf("the record is %q", b.Text("#record"))
			}
		})
	}
}

// titles returns the titles of a listing of the garden.
func (s *site) titles(t *testing.T, query string) (titles []string) {
	t.Helper()
	for _, record := range get(t, s.url+"/api/v1/garden/catalog/data?"+query).Data {
		titles = append(titles, record["title"])
	}
	if len(titles) == 0 {
		t.Fatalf("%s: no records", query)
	}
	return titles
}

// serveAdapters serves the examples with the libraries they are tested with, and returns the URL.
func serveAdapters(t *testing.T) string {
	t.Helper()
	libraries := programtest.NodeModules(t, "tabulator-tables")
	examples := filepath.Join("..", "..", "examples", "clients", "browser")
	bundles := t.TempDir()
	for _, app := range []string{"react-admin", "tanstack-query"} {
		bundle(t, libraries, filepath.Join(examples, app+"-app.js"), filepath.Join(bundles, app+"-bundle.js"))
	}
	mux := http.NewServeMux()
	mux.Handle("/node_modules/", http.StripPrefix("/node_modules/", http.FileServer(http.Dir(libraries))))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		folder := examples
		if strings.HasSuffix(r.URL.Path, "-bundle.js") {
			folder = bundles
		}
		http.FileServer(http.Dir(folder)).ServeHTTP(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// bundle resolves the imports of a script.
func bundle(t *testing.T, libraries, script, out string) {
	t.Helper()
	modules, err := filepath.Abs(libraries)
	must.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "esbuild"),
		"--bundle", "--log-level=warning", `--define:process.env.NODE_ENV="production"`, "--outfile="+out, script)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("esbuild: %v\n%s", err, output)
	}
}
