package browse

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/versions"
	"herbarium/internal/web/drafts"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
)

// Options are what the pages of datasets need besides the site. All are required.
type Options struct {
	History func(context.Context, herb.Ref) ([]versions.Version, error) // the kept versions of a dataset, newest first
	Folder  func(herb.Ref) string                                       // of the file that a dataset was published from, whose images pages show; "" if there is none
}

// Pages serves the catalogue and the pages of datasets. It is safe for concurrent use.
type Pages struct {
	*site.Site
	drafts  *drafts.Pages // what visitors may publish, and what they have just published
	history func(context.Context, herb.Ref) ([]versions.Version, error)
	folder  func(herb.Ref) string
	columns columns.Cache
	// The first map reads them.
	coasts func() coasts
	places func() []maps.Place
}

func New(s *site.Site, p *drafts.Pages, opts Options) *Pages {
	return &Pages{
		Site: s, drafts: p, history: opts.History, folder: opts.Folder,
		coasts: sync.OnceValue(func() coasts { return readCoasts(s.Files) }), places: sync.OnceValue(func() []maps.Place { return readPlaces(s.Files) }),
	}
}

// dataset is the path of the pages of a dataset, embed that of those in frames of other sites.
const (
	dataset = "/datasets/{namespace}/{dataset}"
	embed   = site.PathEmbed + "{namespace}/{dataset}"
)

// Handlers returns the handlers of the pages by their pattern for http.ServeMux, method
// included. The caller buffers what they write: after an error, it may be incomplete.
func (p *Pages) Handlers() map[string]httpapi.PageHandler {
	page := func(serve func(*httpapi.Page, *http.Request) error) httpapi.PageHandler {
		return httpapi.PageHandler{Serve: serve}
	}
	saveKey := p.dataset(func(w *httpapi.Page, r *http.Request, v datasetView) error { return p.SaveKey(w, r, &v.DatasetView) })
	saveKey.TakesKey = true
	handlers := map[string]httpapi.PageHandler{
		"GET /{$}":                                         page(p.catalogue),
		"GET " + dataset:                                   p.view(p.browse),
		"GET " + dataset + "/map":                          p.view(p.browseMap),
		"GET " + dataset + "/chart":                        p.view(p.chart),
		"GET " + embed:                                     p.view(p.browse),
		"GET " + embed + "/map":                            p.view(p.browseMap),
		"GET " + embed + "/chart":                          p.view(p.chart),
		"GET " + dataset + "/files/{path...}":              p.dataset(p.file),
		"GET " + dataset + previewFile:                     p.dataset(p.preview("table")),
		"GET " + dataset + "/map" + previewFile:            p.dataset(p.preview("map")),
		"GET " + dataset + "/chart" + previewFile:          p.dataset(p.preview("chart")),
		"GET " + dataset + "/chart.svg":                    p.dataset(p.chartSVG),
		"GET " + dataset + "/facets":                       p.fragment("browser", "facets", buildFacets),
		"GET " + dataset + "/distributions":                p.fragment("browser", "distributions", buildDistributions),
		"GET " + dataset + "/fields":                       p.fragment("browser", "fieldlists", buildFields),
		"GET " + dataset + "/rows":                         p.dataset(p.moreRows),
		"GET " + dataset + "/spark.svg":                    p.dataset(p.spark),
		"GET " + dataset + "/about":                        p.dataset(p.about),
		"GET " + dataset + "/api":                          p.dataset(p.api),
		"GET " + dataset + "/versions":                     p.dataset(p.versions),
		"GET " + dataset + "/changes":                      p.dataset(p.changes),
		"GET " + dataset + "/changes/facets":               p.changesFragment("facets", buildFacets),
		"GET " + dataset + "/changes/fields":               p.changesFragment("fieldlists", buildFields),
		"GET " + dataset + "/history":                      p.dataset(p.recordHistory),
		"POST " + dataset + "/key":                         saveKey,
		"POST " + dataset + "/key/forget":                  page(p.DeleteKey),
		"GET " + site.PathDocs:                             page(p.docs),
		"GET " + site.PathDCAT:                             page(p.dcat),
		"GET " + pathSitemap:                               page(p.sitemap),
		"GET " + pathRobots:                                page(p.robots),
		"GET " + pathPOD:                                   page(p.pod),
		"GET " + dataset + croissantFile:                   p.dataset(p.croissant),
		"GET /datasets/{namespace}/{$}":                    page(p.redirectToCatalogue),
		"GET /datasets/{namespace}":                        page(p.redirectToCatalogue),
		"GET " + strings.TrimRight(site.PathDatasets, "/"): page(p.redirectToCatalogue),
	}
	return handlers
}

// redirectToCatalogue redirects paths that users get by shortening the URL of a dataset.
func (p *Pages) redirectToCatalogue(w *httpapi.Page, r *http.Request) error {
	to := p.Base + site.PathCatalogue
	if ns := r.PathValue("namespace"); herb.ValidName(ns) { // anything else may be a secret that must not be repeated
		to = p.CatalogueHref(site.ParamNamespace, ns)
	}
	return site.Redirect(w, to)
}
