package httpapi

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/reading"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/export"
	"herbarium/internal/herb"
)

func (a *API) routeTable() []response.Route {
	routes := []response.Route{
		{Method: http.MethodGet, Pattern: "/api/v1/{namespace}/{dataset}/data", Handle: a.reading.List},
		{Method: http.MethodGet, Pattern: reading.RecordPattern, Handle: a.record},
		{Method: http.MethodGet, Pattern: "/api/v1/{namespace}/{dataset}/facets", Handle: a.reading.Facets},
		{Method: http.MethodGet, Pattern: "/api/v1/{namespace}/{dataset}/grid", Handle: a.reading.Grid},
		{Method: http.MethodGet, Pattern: "/api/v1/{namespace}/{dataset}/aggregate", Handle: a.reading.Aggregate},
		{Method: http.MethodGet, Pattern: "/api/v1/{namespace}/{dataset}/aggregate.csv", Handle: a.reading.AggregateCSV},
		{Method: http.MethodGet, Pattern: "/api/v1", Handle: a.reading.Catalogue},
		{Method: http.MethodGet, Pattern: "/api/v1/search", Handle: a.reading.Search},
		{Method: http.MethodGet, Pattern: "/api/v1/{namespace}/{dataset}", Handle: a.reading.Describe},
		{Method: http.MethodGet, Pattern: datasetPattern + "/versions", Handle: a.versions},
		{Method: http.MethodGet, Pattern: "/openapi.json", Handle: a.reading.OpenAPI},
		{Method: http.MethodGet, Pattern: "/schemas/datapackage.json", Handle: a.reading.DescriptorSchema},
		{Method: http.MethodGet, Pattern: "/healthz", Probe: true, Handle: a.health},
		{Method: http.MethodGet, Pattern: "/readyz", Probe: true, Handle: a.ready},
	}
	if a.opts.Plants != nil {
		routes = append(routes, response.Route{Method: http.MethodPost, Pattern: "/plants", BearerOnly: true, Handle: a.createPlant})
	}
	if a.opts.Agents {
		routes = append(routes, response.Route{Method: http.MethodPost, Pattern: "/mcp", Protocol: true, Handle: a.agents.Post})
	}
	if a.opts.Publishing != nil {
		routes = append(routes, a.publishRoutes()...)
	}
	routes = append(routes, a.changesRoutes()...)
	if a.opts.History != nil {
		routes = append(routes,
			response.Route{Method: http.MethodGet, Pattern: "/feed.atom", Protocol: true, Handle: a.reading.CatalogueFeed},
			response.Route{Method: http.MethodGet, Pattern: "/datasets/{namespace}/{dataset}/feed.atom", Protocol: true, Handle: a.reading.Feed})
	}
	routes = append(routes, a.exportRoutes("/api/v1/{namespace}/{dataset}/data", false)...)
	return append(routes, a.pageRoutes()...)
}

const (
	datasetPattern    = "/api/v1/{namespace}/{dataset}"
	sourcePattern     = datasetPattern + "/source"
	descriptorPattern = datasetPattern + "/descriptor"
	versionPattern    = datasetPattern + "/versions/{version}"
	labelPattern      = versionPattern + "/labels/{label}"
	publishPattern    = "/api/v1/" + herb.PublishesNamespace + "/{id}"
)

func (a *API) publishRoutes() []response.Route {
	return []response.Route{
		{Method: http.MethodPut, Pattern: sourcePattern, Handle: a.publishing.PutSource},
		{Method: http.MethodPost, Pattern: sourcePattern, Handle: a.publishing.PostSource},
		{Method: http.MethodPatch, Pattern: sourcePattern, Handle: a.publishing.PatchSource},
		{Method: http.MethodGet, Pattern: sourcePattern, Handle: a.publishing.Source},
		{Method: http.MethodPut, Pattern: descriptorPattern, Handle: a.publishing.PutDescriptor},
		{Method: http.MethodGet, Pattern: descriptorPattern, Handle: a.publishing.Descriptor},
		{Method: http.MethodGet, Pattern: datasetPattern + "/report", Handle: a.publishing.Report},
		{Method: http.MethodPost, Pattern: datasetPattern + "/rollback", Handle: a.publishing.Rollback},
		{Method: http.MethodDelete, Pattern: datasetPattern, Handle: a.publishing.RemoveDataset},
		{Method: http.MethodDelete, Pattern: versionPattern, Handle: a.publishing.WithdrawVersion},
		{Method: http.MethodPut, Pattern: labelPattern, Handle: a.publishing.PutLabel},
		{Method: http.MethodDelete, Pattern: labelPattern, Handle: a.publishing.RemoveLabel},
		{Method: http.MethodGet, Pattern: publishPattern, Handle: a.publishing.State},
	}
}

func (a *API) changesRoutes() []response.Route {
	const pattern = datasetPattern + "/changes"
	return append(a.changesExports(pattern, false), response.Route{Method: http.MethodGet, Pattern: pattern, Handle: a.reading.Changes})
}

// changesExports returns the routes of the exports of changes: their pattern with the extension of
// each format.
func (a *API) changesExports(changes string, page bool) (routes []response.Route) {
	for _, format := range reading.ChangesFormats() {
		routes = append(routes, response.Route{
			Method: http.MethodGet, Pattern: changes + "." + string(format), Page: page,
			Handle: func(w *response.Writer, r *http.Request) error { return a.reading.ExportChanges(w, r, format) },
		})
	}
	return routes
}

// exportRoutes returns the routes of the exports of a listing, and of the Parquet file of its
// version: its pattern with the extension of each format.
func (a *API) exportRoutes(listing string, page bool) (routes []response.Route) {
	for _, format := range export.Formats() {
		routes = append(routes, response.Route{
			Method: http.MethodGet, Pattern: listing + "." + string(format), Page: page,
			Handle: func(w *response.Writer, r *http.Request) error { return a.reading.Export(w, r, format) },
		})
	}
	return append(routes, response.Route{Method: http.MethodGet, Pattern: listing + ".parquet", Page: page, Handle: a.reading.Parquet})
}

// newMux returns a mux for the routes. Each path also handles OPTIONS and rejects other methods,
// and all other paths are not found, so that every error has an Error body instead of the plain
// text of http.ServeMux.
func (a *API) newMux(routes []response.Route) *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	page := map[string]bool{}
	for i := range routes {
		rt := &routes[i]
		rt.Path = strings.Replace(strings.TrimSuffix(rt.Pattern, "{$}"), "...}", "}", 1)
		mux.Handle(rt.Method+" "+rt.Pattern, a.serve(rt))
		methods[rt.Pattern] = append(methods[rt.Pattern], rt.Method)
		page[rt.Pattern] = rt.Page
		if rt.Method == http.MethodGet {
			methods[rt.Pattern] = append(methods[rt.Pattern], http.MethodHead)
		}
	}
	for pattern, allowed := range methods {
		allow := strings.Join(append(allowed, http.MethodOptions), ", ")
		reject := func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				w.(*response.Writer).Options(r, allow)
				return
			}
			w.Header().Set("Allow", allow)
			w.(*response.Writer).APIPath = !page[pattern]
			a.fail(w.(*response.Writer), r, herb.Errorf(herb.CodeMethod, "%s is not allowed on %s; allowed: %s",
				response.Shown(r.Method), response.Shown(r.URL.Path), allow))
		}
		if pattern == publishPattern { // a mux accepts no pattern for all methods beside that of datasets
			for _, method := range strings.Split(response.AllMethods, ", ") {
				if !slices.Contains(allowed, method) {
					mux.HandleFunc(method+" "+pattern, reject)
				}
			}
			continue
		}
		mux.HandleFunc(pattern, reject)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.rejectPath(w.(*response.Writer), r) })
	return mux
}

// serve returns the handler of a route. Probes run immediately. Other requests have a deadline and
// wait for a slot. Handlers of requests with a body wait for the slot after they have read the
// body, so that slow senders occupy none.
func (a *API) serve(rt *response.Route) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response.Writer)
		w.Route = rt
		var err error
		if !rt.Probe {
			ctx, cancel, rejected := w.Admit(r)
			defer cancel()
			defer w.Release()
			if a.opts.PrivateCatalog {
				ctx = a.gate.WithReader(ctx, w, r)
			}
			r, err = r.WithContext(ctx), rejected
		}
		if err == nil && !rt.Probe {
			err = response.RejectKeys(w.QueryString(r), !rt.Page)
		}
		if err == nil {
			err = rt.Handle(w, r)
		}
		if err != nil {
			a.fail(w, r, err)
		}
	})
}

// record handles a record. A path that ends before the key is none of a record.
func (a *API) record(w *response.Writer, r *http.Request) error {
	if r.PathValue("key") == "" {
		return a.noSuchPath(r)
	}
	return a.reading.Record(w, r)
}

// versions handles the versions of a dataset. Clients that may publish it see more of them.
func (a *API) versions(w *response.Writer, r *http.Request) error {
	if a.publishing != nil && a.gate.OptionalPrincipal(w, r).MayPublish(gate.RefOf(r)) {
		return a.publishing.Versions(w, r)
	}
	return a.reading.Versions(w, r)
}

// isCanonical reports whether the mux would serve an escaped path without redirecting to its
// cleaned form.
func isCanonical(p string) bool {
	c := path.Clean(p)
	if strings.HasSuffix(p, "/") && c != "/" {
		return p[:len(p)-1] == c
	}
	return p == c && c[0] == '/'
}

// rejectPath responds to a request for a path without a route. It allows preflights, so that
// scripts can read the error of the request itself. Browsers get a page that knows the datasets.
func (a *API) rejectPath(w *response.Writer, r *http.Request) {
	if response.IsPreflight(r) {
		w.Options(r, response.AllMethods)
		return
	}
	if _, meant := a.cleanPath(r); !meant && (r.Method == http.MethodGet || r.Method == http.MethodHead) && a.wantsPage(w, r) {
		rt := a.pageRoute(http.MethodGet, "", PageHandler{Serve: a.opts.Pages.Missing})
		a.serve(&rt).ServeHTTP(w, r)
		return
	}
	a.fail(w, r, a.noSuchPath(r))
}

// noSuchPath returns the error for a path without a route. It suggests the cleaned path if that has
// a route.
func (a *API) noSuchPath(r *http.Request) error {
	path := response.Shown(r.URL.Path)
	if clean, ok := a.cleanPath(r); ok {
		return herb.Errorf(herb.CodeNotFound, "no such path %q; did you mean %q?", path, response.Shown(clean))
	}
	var known []string
	for _, rt := range a.routes {
		if !rt.Page || rt.Path == "/" {
			known = append(known, rt.Method+" "+rt.Path)
		}
	}
	slices.SortFunc(known, strings.Compare)
	return herb.Errorf(herb.CodeNotFound, "no such path %q; valid paths: %s", path, strings.Join(known, ", "))
}

// cleanPath returns the cleaned path of a request, and whether it is another one and has a route.
func (a *API) cleanPath(r *http.Request) (clean string, ok bool) {
	clean = path.Clean("/" + r.URL.Path)
	return clean, clean != r.URL.Path && a.serves(clean)
}

// serves reports whether a path has a route, with any method.
func (a *API) serves(path string) bool {
	_, pattern := a.mux.Handler(&http.Request{Method: http.MethodOptions, URL: &url.URL{Path: path}})
	return pattern != "/"
}
