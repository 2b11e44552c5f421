package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"herbarium/internal/export"
	"herbarium/internal/herb"
)

// route is one operation. The OpenAPI document describes it, unless it is a page.
type route struct {
	method  string
	pattern string // http.ServeMux pattern
	path    string // the pattern in OpenAPI syntax
	page    bool   // HTML page
	probe   bool   // health probe: served under overload, too, and logged at debug level
	handle  func(*response, *http.Request) error
}

func (a *API) routeTable() []route {
	routes := []route{
		{method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}/data", handle: a.list},
		{method: http.MethodGet, pattern: recordPattern, handle: a.record},
		{method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}/facets", handle: a.facets},
		{method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}/grid", handle: a.grid},
		{method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}/aggregate", handle: a.aggregate},
		{method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}/aggregate.csv", handle: a.aggregateCSV},
		{method: http.MethodGet, pattern: "/api/v1", handle: a.catalogue},
		{method: http.MethodGet, pattern: searchPattern, handle: a.search},
		{method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}", handle: a.describe},
		{method: http.MethodGet, pattern: "/openapi.json", handle: a.openAPI},
		{method: http.MethodGet, pattern: "/schemas/datapackage.json", handle: a.descriptorSchema},
		{method: http.MethodGet, pattern: "/healthz", probe: true, handle: a.health},
		{method: http.MethodGet, pattern: "/readyz", probe: true, handle: a.ready},
	}
	if a.opts.Plants != nil {
		routes = append(routes, route{method: http.MethodPost, pattern: "/plants", handle: a.createPlant})
	}
	if a.opts.Publishing != nil {
		routes = append(routes, a.publishRoutes()...)
	}
	routes = append(routes, a.exportRoutes("/api/v1/{namespace}/{dataset}/data", false)...)
	return append(routes, a.pageRoutes()...)
}

// exportRoutes returns the routes of the exports of a listing: its pattern with the extension of
// each format.
func (a *API) exportRoutes(listing string, page bool) (routes []route) {
	for _, format := range export.Formats() {
		routes = append(routes, route{
			method: http.MethodGet, pattern: listing + "." + string(format), page: page,
			handle: func(w *response, r *http.Request) error { return a.export(w, r, format) },
		})
	}
	return routes
}

// allMethods lists the methods of all resources.
const allMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// newMux returns a mux for the routes. Each path also handles OPTIONS and rejects other methods,
// and all other paths are not found, so that every error has an Error body instead of the plain
// text of http.ServeMux.
func (a *API) newMux(routes []route) *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	page := map[string]bool{}
	for i := range routes {
		rt := &routes[i]
		rt.path = strings.Replace(strings.TrimSuffix(rt.pattern, "{$}"), "...}", "}", 1)
		mux.Handle(rt.method+" "+rt.pattern, a.serve(rt))
		methods[rt.pattern] = append(methods[rt.pattern], rt.method)
		page[rt.pattern] = rt.page
		if rt.method == http.MethodGet {
			methods[rt.pattern] = append(methods[rt.pattern], http.MethodHead)
		}
	}
	for pattern, allowed := range methods {
		allow := strings.Join(append(allowed, http.MethodOptions), ", ")
		reject := func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				w.(*response).options(r, allow)
				return
			}
			w.Header().Set("Allow", allow)
			w.(*response).apiPath = !page[pattern]
			a.fail(w.(*response), r, herb.Errorf(herb.CodeMethod, "%s is not allowed on %s; allowed: %s",
				herb.Clip(redactText(r.Method), maxShown), herb.Clip(redactText(r.URL.Path), maxShown), allow))
		}
		if pattern == publishPattern { // a mux accepts no pattern for all methods beside that of datasets
			for _, method := range strings.Split(allMethods, ", ") {
				if !slices.Contains(allowed, method) {
					mux.HandleFunc(method+" "+pattern, reject)
				}
			}
			continue
		}
		mux.HandleFunc(pattern, reject)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.rejectPath(w.(*response), r) })
	return mux
}

// serve returns the handler of a route. Probes run immediately. Other requests have a deadline and
// wait for a slot. Handlers of requests with a body wait for the slot after they have read the
// body, so that slow senders occupy none.
func (a *API) serve(rt *route) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response)
		w.route = rt
		var err error
		if !rt.probe {
			ctx, cancel, rejected := w.admit(r)
			defer cancel()
			defer w.ticket.Release()
			if a.opts.PrivateCatalog {
				ctx = a.withReader(ctx, w, r)
			}
			if rt.page {
				ctx = context.WithValue(ctx, responseKey{}, w)
			}
			r, err = r.WithContext(ctx), rejected
		}
		if err == nil && !rt.probe && misplacesKey(w.queryString(r)) {
			err = errMisplacedKey()
		}
		if err == nil {
			err = rt.handle(w, r)
		}
		if err != nil {
			a.fail(w, r, err)
		}
	})
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
func (a *API) rejectPath(w *response, r *http.Request) {
	if isPreflight(r) {
		w.options(r, allMethods)
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
	shown := herb.Clip(redactText(r.URL.Path), maxShown)
	if clean, ok := a.cleanPath(r); ok {
		return herb.Errorf(herb.CodeNotFound, "no such path %q; did you mean %q?", shown, herb.Clip(redactText(clean), maxShown))
	}
	var known []string
	for _, rt := range a.routes {
		if !rt.page || rt.path == "/" {
			known = append(known, rt.method+" "+rt.path)
		}
	}
	slices.SortFunc(known, strings.Compare)
	return herb.Errorf(herb.CodeNotFound, "no such path %q; valid paths: %s", shown, strings.Join(known, ", "))
}

// cleanPath returns the cleaned path of a request, and whether it is another one and has a route.
func (a *API) cleanPath(r *http.Request) (clean string, ok bool) {
	clean = path.Clean("/" + r.URL.Path)
	_, pattern := a.mux.Handler(&http.Request{Method: http.MethodOptions, URL: &url.URL{Path: clean}}) // of a route with any method
	return clean, clean != r.URL.Path && pattern != "/"
}

// Headers that scripts of other origins may send and read.
const (
	corsRequestHeaders = "Authorization, X-API-Key, Content-Type, Content-Digest, Content-Disposition, If-Match, If-None-Match, " +
		"Idempotency-Key, Prefer, X-Requested-With, X-Request-Id"
	corsExposedHeaders = "ETag, Link, Location, Retry-After, X-Total-Count, X-Dataset-Version, X-Request-Id"
)

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
