package browse

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"herbarium/internal/fetch"
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
	// of the file that a dataset was published from, whose images pages show; "" if there is none
	Folder  func(herb.Ref) string
	Fetches Fetches // nil: nothing is fetched
}

// Fetches knows the states of datasets that are fetched.
type Fetches interface {
	States(ctx context.Context, ref herb.Ref) (map[herb.Ref]fetch.State, error)
}

// Pages serves the catalogue and the pages of datasets. It is safe for concurrent use.
type Pages struct {
	*datasetPages
	catalogue cataloguePages
	rows      rowsPages
	versions  versionPages
	documents documents
	pictures  pictures
	portals   portals
}

// The pages by their subject. They have in common what all pages of a dataset share.
type (
	cataloguePages struct{ *datasetPages } // all datasets
	rowsPages      struct{ *datasetPages } // the table, the map and the chart
	versionPages   struct{ *datasetPages } // what changed between versions
	documents      struct{ *datasetPages } // what is read like a document
	pictures       struct{ *datasetPages } // images of rows
	portals        struct{ *datasetPages } // metadata for machines
)

// datasetPages is what the pages of a dataset share: the state of the view, the head, and the
// versions that a visitor sees.
type datasetPages struct {
	*site.Site
	drafts  *drafts.Pages // what visitors may publish, and what they have just published
	history func(context.Context, herb.Ref) ([]versions.Version, error)
	folder  func(herb.Ref) string
	fetches Fetches // nil: nothing is fetched
	columns columns.Cache
	// The first map reads them.
	coasts func() coasts
	places func() []maps.Place
}

func New(s *site.Site, p *drafts.Pages, opts Options) *Pages {
	shared := &datasetPages{
		Site: s, drafts: p, history: opts.History, folder: opts.Folder, fetches: opts.Fetches,
		coasts: sync.OnceValue(func() coasts { return readCoasts(s.Files) }),
		places: sync.OnceValue(func() []maps.Place { return readPlaces(s.Files) }),
	}
	return &Pages{
		datasetPages: shared, catalogue: cataloguePages{shared}, rows: rowsPages{shared},
		versions:  versionPages{shared},
		documents: documents{shared}, pictures: pictures{shared}, portals: portals{shared},
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
	saveKey := p.dataset(func(w *httpapi.Page, r *http.Request, v datasetView) error {
		return p.SaveKey(w, r, &v.DatasetView)
	})
	saveKey.TakesKey = true
	handlers := map[string]httpapi.PageHandler{
		"GET /{$}":                                         page(p.catalogue.catalogue),
		"GET " + dataset:                                   p.rows.view(p.rows.browse),
		"GET " + dataset + "/map":                          p.rows.view(p.rows.browseMap),
		"GET " + dataset + "/chart":                        p.rows.view(p.rows.chart),
		"GET " + embed:                                     p.rows.view(p.rows.browse),
		"GET " + embed + "/map":                            p.rows.view(p.rows.browseMap),
		"GET " + embed + "/chart":                          p.rows.view(p.rows.chart),
		"GET " + dataset + "/files/{path...}":              p.dataset(p.pictures.file),
		"GET " + dataset + previewFile:                     p.dataset(p.pictures.preview("table")),
		"GET " + dataset + "/map" + previewFile:            p.dataset(p.pictures.preview("map")),
		"GET " + dataset + "/chart" + previewFile:          p.dataset(p.pictures.preview("chart")),
		"GET " + dataset + "/chart.svg":                    p.dataset(p.pictures.chartSVG),
		"GET " + dataset + "/facets":                       p.fragment("browser", "facets", buildFacets),
		"GET " + dataset + "/distributions":                p.fragment("browser", "distributions", buildDistributions),
		"GET " + dataset + "/fields":                       p.fragment("browser", "fieldlists", buildFields),
		"GET " + dataset + "/rows":                         p.dataset(p.rows.moreRows),
		"GET " + dataset + "/spark.svg":                    p.dataset(p.pictures.spark),
		"GET " + dataset + "/about":                        p.dataset(p.documents.about),
		"GET " + dataset + "/api":                          p.dataset(p.documents.api),
		"GET " + dataset + "/versions":                     p.dataset(p.versions.versions),
		"GET " + dataset + "/changes":                      p.dataset(p.versions.changes),
		"GET " + dataset + "/changes/facets":               p.versions.changesFragment("facets", buildFacets),
		"GET " + dataset + "/changes/fields":               p.versions.changesFragment("fieldlists", buildFields),
		"GET " + dataset + "/history":                      p.dataset(p.versions.recordHistory),
		"POST " + dataset + "/key":                         saveKey,
		"POST " + dataset + "/key/forget":                  page(p.DeleteKey),
		"GET " + site.PathDocs:                             page(p.catalogue.docs),
		"GET " + site.PathDCAT:                             page(p.portals.dcat),
		"GET " + pathSitemap:                               page(p.portals.sitemap),
		"GET " + pathRobots:                                page(p.portals.robots),
		"GET " + pathPOD:                                   page(p.portals.pod),
		"GET " + dataset + croissantFile:                   p.dataset(p.portals.croissant),
		"GET /datasets/{namespace}/{$}":                    page(p.catalogue.redirectToCatalogue),
		"GET /datasets/{namespace}":                        page(p.catalogue.redirectToCatalogue),
		"GET " + strings.TrimRight(site.PathDatasets, "/"): page(p.catalogue.redirectToCatalogue),
	}
	return handlers
}

// redirectToCatalogue redirects paths that users get by shortening the URL of a dataset.
func (p *cataloguePages) redirectToCatalogue(w *httpapi.Page, r *http.Request) error {
	to := p.Base + site.PathCatalogue
	if ns := r.PathValue("namespace"); herb.ValidName(ns) { // anything else may be a secret that must not be repeated
		to = p.CatalogueHref(site.ParamNamespace, ns)
	}
	return site.Redirect(w, to)
}
