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
	"herbarium/internal/query"
)

// route declares an operation: what it needs, and what the server checks before its handler runs.
type route struct {
	response.Route
	// Parameters is the kind of its requests, which determines the parameters that they take; zero
	// if the handler checks them.
	Parameters query.Kind

	// receive reads what the handler needs of the body before anything is opened; nil: nothing.
	// Without an error, done is called at the end of the request.
	receive func(*response.Writer, *http.Request) (_ *http.Request, done func(), err error)

	// The handler, by what it needs. One of these is set.
	Nothing func(*response.Writer, *http.Request) error
	// the dataset of the path, see gate.Gate.Open
	Description func(*response.Writer, *http.Request, gate.DatasetView) error
	Records     func(*response.Writer, *http.Request, gate.DatasetView) error // see gate.Gate.OpenDataset
	Versions    func(w *response.Writer, r *http.Request, from, to gate.DatasetView) error
}

// get returns the declaration of a route for GET.
func get(pattern string) response.Route {
	return response.Route{Method: http.MethodGet, Pattern: pattern}
}

// protocol is get for messages or documents of another protocol.
func protocol(pattern string) response.Route {
	return response.Route{Method: http.MethodGet, Pattern: pattern, Protocol: true}
}

func (a *API) routeTable() []route {
	h := a.reading
	const data = datasetPattern + "/data"
	routes := []route{
		{Route: get(data), Parameters: query.KindListing, Records: h.List},
		{Route: get(reading.RecordPattern), Parameters: query.KindRecord, Records: h.Record},
		{Route: get(datasetPattern + "/facets"), Parameters: query.KindFacets, Records: h.Facets},
		{Route: get(datasetPattern + "/grid"), Parameters: query.KindGrid, Records: h.Grid},
		{Route: get(datasetPattern + "/aggregate"), Parameters: query.KindAggregate, Records: h.Aggregate},
		{Route: get(datasetPattern + "/aggregate.csv"), Parameters: query.KindAggregate, Records: h.AggregateCSV},
		{Route: get(datasetPattern + "/changes"), Parameters: query.KindChanges, Versions: h.Changes},
		{Route: get(datasetPattern), Parameters: query.KindNone, Description: h.Describe},
		{Route: get(datasetPattern + "/versions"), Parameters: query.KindNone, Nothing: a.versions},
		{Route: get("/api/v1"), Parameters: query.KindCatalogue, Nothing: h.Catalogue},
		{Route: get("/api/v1/search"), Parameters: query.KindSearch, Nothing: h.Search},
		{Route: get("/openapi.json"), Parameters: query.KindOpenAPI, Nothing: h.OpenAPI},
		{Route: get("/schemas/datapackage.json"), Parameters: query.KindNone, Nothing: h.DescriptorSchema},
		{Route: response.Route{Method: http.MethodGet, Pattern: "/healthz", Cost: response.CostProbe},
			Nothing: a.health},
		{Route: response.Route{Method: http.MethodGet, Pattern: "/readyz", Cost: response.CostProbe}, Nothing: a.ready},
	}
	if a.opts.Plants != nil {
		plants := response.Route{Method: http.MethodPost, Pattern: "/plants", Cost: response.CostWrite,
			BearerOnly: true}
		routes = append(routes, route{Route: plants, Nothing: a.createPlant})
	}
	if a.opts.Agents {
		tools := response.Route{Method: http.MethodPost, Pattern: "/mcp", Protocol: true}
		routes = append(routes, route{Route: tools, Parameters: query.KindTools, Nothing: a.agents.Post})
	}
	if a.opts.Publishing != nil {
		routes = append(routes, a.publishRoutes()...)
	}
	if a.opts.History != nil {
		routes = append(routes,
			route{Route: protocol("/feed.atom"), Parameters: query.KindNone, Nothing: h.CatalogueFeed},
			route{Route: protocol("/datasets/{namespace}/{dataset}/feed.atom"), Parameters: query.KindFeed,
				Records: h.Feed})
	}
	routes = append(routes, a.changesFiles(datasetPattern+"/changes")...)
	routes = append(routes, a.dataFiles(data)...)
	return append(routes, a.pageRoutes()...)
}

const (
	datasetPattern    = "/api/v1/{namespace}/{dataset}"
	sourcePattern     = datasetPattern + "/source"
	descriptorPattern = datasetPattern + "/descriptor"
	fetchPattern      = datasetPattern + "/fetch"
	versionPattern    = datasetPattern + "/versions/{version}"
	labelPattern      = versionPattern + "/labels/{label}"
	publishPattern    = "/api/v1/" + herb.PublishesNamespace + "/{id}"
)

func (a *API) publishRoutes() []route {
	h := a.publishing
	upload := func(method, pattern string) response.Route {
		return response.Route{Method: method, Pattern: pattern, Cost: response.CostUpload}
	}
	write := func(method, pattern string) response.Route {
		return response.Route{Method: method, Pattern: pattern, Cost: response.CostWrite}
	}
	return []route{
		{Route: upload(http.MethodPut, sourcePattern), Nothing: h.PutSource},
		{Route: upload(http.MethodPost, sourcePattern), Nothing: h.PostSource},
		{Route: upload(http.MethodPatch, sourcePattern), Nothing: h.PatchSource},
		{Route: get(sourcePattern), Parameters: query.KindVersion, Nothing: h.Source},
		{Route: upload(http.MethodPut, descriptorPattern), Nothing: h.PutDescriptor},
		{Route: get(descriptorPattern), Parameters: query.KindNone, Nothing: h.Descriptor},
		{Route: upload(http.MethodPost, fetchPattern), Nothing: h.PostFetch},
		{Route: get(datasetPattern + "/report"), Parameters: query.KindVersion, Nothing: h.Report},
		{Route: write(http.MethodPost, datasetPattern+"/rollback"), Nothing: h.Rollback},
		{Route: write(http.MethodDelete, datasetPattern), Nothing: h.RemoveDataset},
		{Route: write(http.MethodDelete, versionPattern), Nothing: h.WithdrawVersion},
		{Route: write(http.MethodPut, labelPattern), Nothing: h.PutLabel},
		{Route: write(http.MethodDelete, labelPattern), Nothing: h.RemoveLabel},
		{Route: get(publishPattern), Parameters: query.KindNone, Nothing: h.State},
	}
}

// changesFiles returns the routes of the files of changes: their pattern with the extension of each
// format.
func (a *API) changesFiles(changes string) (routes []route) {
	for _, format := range reading.ChangesFormats() {
		routes = append(routes, route{
			Route: get(changes + "." + string(format)), Parameters: query.KindChangesFile,
			Versions: func(w *response.Writer, r *http.Request, from, to gate.DatasetView) error {
				return a.reading.ExportChanges(w, r, from, to, format)
			},
		})
	}
	return routes
}

// dataFiles returns the routes of the files of a listing, and of the Parquet file of its version:
// its pattern with the extension of each format.
func (a *API) dataFiles(listing string) (routes []route) {
	for _, format := range export.Formats() {
		routes = append(routes, route{
			Route: get(listing + "." + string(format)), Parameters: query.KindExport,
			Records: func(w *response.Writer, r *http.Request, v gate.DatasetView) error {
				return a.reading.Export(w, r, v, format)
			},
		})
	}
	return append(routes, route{
		Route: get(listing + ".parquet"), Parameters: query.KindParquet, Records: a.reading.Parquet,
	})
}

// newMux returns a mux for the routes. Each path also handles OPTIONS and rejects other methods,
// and all other paths are not found, so that every error has an Error body instead of the plain
// text of http.ServeMux.
func (a *API) newMux(routes []route) *http.ServeMux {
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
	rejectPath := func(w http.ResponseWriter, r *http.Request) { a.rejectPath(w.(*response.Writer), r) }
	mux.HandleFunc("GET "+datasetPattern+"/data/{$}", rejectPath) // a path that ends before the key of a record
	mux.HandleFunc("/", rejectPath)
	return mux
}

// serve returns the handler of a route. Probes run immediately. Other requests have a deadline and
// wait for a slot. Handlers of requests with a body wait for the slot after they have read the
// body, so that slow senders occupy none.
func (a *API) serve(rt *route) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response.Writer)
		w.Route = &rt.Route
		if rt.Cost == response.CostProbe {
			a.failIf(w, r, rt.Nothing(w, r))
			return
		}
		ctx, cancel, err := w.Admit(r)
		defer cancel()
		defer w.Release()
		if a.opts.PrivateCatalog {
			ctx = a.gate.WithReader(ctx, w, r)
		}
		r = r.WithContext(ctx)
		if err == nil {
			err = response.RejectKeys(w.QueryString(r), !rt.Page)
		}
		if err == nil {
			err = a.handle(rt, w, r)
		}
		a.failIf(w, r, err)
	})
}

// handle checks the parameters, opens what a route needs and calls the handler. Filters, which name
// fields, are parsed by the handler: a client that may not read the dataset must not learn them.
func (a *API) handle(rt *route, w *response.Writer, r *http.Request) error {
	if rt.Parameters != 0 {
		if err := w.QueryString(r).Check(rt.Parameters); err != nil {
			return err
		}
	}
	if rt.receive != nil {
		received, done, err := rt.receive(w, r)
		if err != nil {
			return err
		}
		defer done()
		r = received
	}
	switch {
	case rt.Records != nil:
		view, err := a.gate.OpenDataset(w, r)
		if err != nil {
			return err
		}
		defer view.Release()
		return rt.Records(w, r, view)
	case rt.Versions != nil:
		from, to, err := a.gate.OpenVersions(w, r)
		if err != nil {
			return err
		}
		defer to.Release()
		defer from.Release()
		return rt.Versions(w, r, from, to)
	case rt.Description != nil:
		view, err := a.openDescription(rt, w, r)
		if err != nil {
			return err
		}
		defer view.Release()
		return rt.Description(w, r, view)
	}
	return rt.Nothing(w, r)
}

// openDescription opens the dataset of the path. Visitors of a page who may not read its records
// are told so by the page.
func (a *API) openDescription(rt *route, w *response.Writer, r *http.Request) (gate.DatasetView, error) {
	ref := gate.RefOf(r)
	if !rt.Page {
		return a.gate.Open(w, r, ref, gate.DenyRequest)
	}
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return gate.DatasetView{}, herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
	}
	return a.gate.Open(w, r, ref, gate.DenyVisitor)
}

// failIf responds with an error unless it is nil.
func (a *API) failIf(w *response.Writer, r *http.Request, err error) {
	if err != nil {
		a.fail(w, r, err)
	}
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
	if _, meant := a.cleanPath(r); !meant && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		a.wantsPage(w, r) {
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
