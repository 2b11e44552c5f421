package webtest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDocs tries an operation in the API viewer.
func TestDocs(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit("/docs")
	b.Until("document.querySelectorAll('#swagger .opblock').length > 5")
	b.Click("#operations-Service-getHealth .opblock-summary-control")
	b.Click("#swagger .try-out__btn")
	b.Click("#swagger .btn.execute")
	b.Until(`document.querySelector("#swagger .live-responses-table .response")?.textContent.includes("ok")`)
	if light := b.lightnessOf("#swagger"); light < 200 {
		t.Errorf("the background of the viewer has lightness %d", light)
	}
	b.Click("[data-theme-toggle]")
	if light := b.lightnessOf("#swagger"); light > 60 {
		t.Errorf("in the dark theme, the background of the viewer has lightness %d", light)
	}
	b.Click("[data-theme-toggle]")
	b.Visit(catalog + "/api")
	b.Click(b.Pick("main a.button", "viewer"))
	b.Until("location.search === '?dataset=garden%2fcatalog' && " +
		"document.querySelector('#operations-Data-list_garden_catalog')")
	b.Visit(catalog + "/versions")
	if got := b.Text("main"); !strings.Contains(got, "513") || !strings.Contains(got, "live") {
		t.Errorf("the versions are %q", got)
	}
}

// TestLargeDocs checks that the viewer shows the operations of one selected dataset if the document
// is large.
func TestLargeDocs(t *testing.T) {
	onlyInSoakRuns(t)
	t.Parallel()
	b := open(t, newSite(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/openapi.json" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(multiplied(t, next, 20, r.URL.Query().Get("dataset"))) // fails only if the browser is gone
		})
	}), tabOptions{})
	b.Visit("/docs")
	b.Until("document.querySelector('#swagger .opblock') && document.getElementById('pick').checkVisibility()")
	if got := b.Text("#swagger"); !strings.Contains(got, "/{namespace}/{dataset}/data") ||
		strings.Contains(got, "garden") {
		t.Errorf("without a selected dataset, the viewer shows %q", got)
	}
	if got := b.Text("#pick p"); !strings.Contains(got, "Select a dataset") {
		t.Errorf("the form says %q", got)
	}
	b.Do(chromedp.SetValue(chromedp.CSS("#pick-dataset"), "copy7/catalog"))
	b.Click("#pick button")
	b.Until("location.search === '?dataset=copy7%2Fcatalog' && " +
		"document.querySelector('#operations-Data-list_copy7_catalog')")
	got := b.Texts("#swagger .opblock-summary-path")
	if own := strings.Count(strings.Join(got, " "), "/catalog/"); own != 2 {
		t.Errorf("the selected dataset has %d operations: %q", own, got)
	}
	if got := eval[string](b, "document.getElementById('pick-dataset').value"); got != "copy7/catalog" {
		t.Errorf("the choice is shown as %q", got)
	}
	b.Click("#operations-Data-list_copy7_catalog .opblock-summary-control")
	// the schemas are included
	b.Until(`document.querySelector(".opblock.is-open .responses-table")?.textContent.includes("per_page")`)
}

// multiplied returns the OpenAPI document of a handler with copies of one dataset, or that of one
// copy.
func multiplied(t *testing.T, from http.Handler, copies int, only string) []byte {
	w := httptest.NewRecorder()
	from.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var d map[string]any
	decode(t, w.Body.String(), &d)
	paths := d["paths"].(map[string]any)
	schemas := d["components"].(map[string]any)["schemas"].(map[string]any)
	renamed := func(v any, name string) (out any) {
		text, _ := json.Marshal(v) // decoded from JSON, so this cannot fail
		decode(t, strings.ReplaceAll(string(text), "garden_catalog", name+"_catalog"), &out)
		return out
	}
	for i := range copies {
		name := fmt.Sprint("copy", i)
		schemas["Record_"+name+"_catalog"] = schemas["Record_garden_catalog"]
		for _, kind := range []string{"/data", "/facets"} {
			paths["/api/v1/"+name+"/catalog"+kind] = renamed(paths["/api/v1/garden/catalog"+kind], name)
		}
	}
	if only != "" {
		maps.DeleteFunc(paths, func(path string, _ any) bool {
			return !strings.Contains(path, "{") && strings.HasPrefix(path, "/api/v1/") &&
				!strings.Contains(path, "/"+only+"/")
		})
	}
	out, _ := json.Marshal(d) // as above
	return out
}
