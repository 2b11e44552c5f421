package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// route is one operation: its method and path, authentication, handler and OpenAPI description.
type route struct {
	method  string
	pattern string // http.ServeMux pattern
	id      string // operationId
	tag     string
	summary string
	auth    auth
	page    bool // HTML page, not part of the OpenAPI document
	probe   bool // health probe: served under overload, too, and logged at debug level
	handle  func(*response, *http.Request) error
	doc     operation
}

// path returns the pattern in OpenAPI syntax.
func (rt *route) path() string { return strings.TrimSuffix(rt.pattern, "{$}") }

// routeTable returns all operations.
func (a *API) routeTable() []route {
	routes := []route{
		{
			method: http.MethodPost, pattern: "/plants", id: "createPlant", tag: tagPlants,
			summary: "Create a plant", auth: authBearer, handle: a.createPlant, doc: createPlantDoc(),
		},
		{
			method: http.MethodGet, pattern: listPattern, id: "listRecords", tag: tagData,
			summary: "List the records of a dataset", auth: authOptional, handle: a.list, doc: listDoc(),
		},
		{
			method: http.MethodGet, pattern: facetsPattern, id: "countValues", tag: tagData,
			summary: "Count the values of fields", auth: authOptional, handle: a.facets, doc: facetsDoc(),
		},
		{
			method: http.MethodGet, pattern: "/api/v1", id: "listDatasets", tag: tagData,
			summary: "List the datasets", handle: a.catalogue, doc: catalogueDoc(),
		},
		{
			method: http.MethodGet, pattern: "/api/v1/{namespace}/{dataset}", id: "describeDataset", tag: tagData,
			summary: "Describe a dataset", auth: authOptional, handle: a.describe, doc: describeDoc(),
		},
		{
			method: http.MethodGet, pattern: "/openapi.json", id: "getOpenAPI", tag: tagService,
			summary: "Get the OpenAPI document", handle: a.openAPI, doc: openAPIDoc(),
		},
		{
			method: http.MethodGet, pattern: "/schemas/datapackage.json", id: "getDescriptorSchema", tag: tagService,
			summary: "Get the schema of descriptor members", handle: a.descriptorSchema, doc: descriptorSchemaDoc(),
		},
		{
			method: http.MethodGet, pattern: "/healthz", id: "getHealth", tag: tagService,
			summary: "Check liveness", probe: true, handle: a.health, doc: healthDoc(),
		},
		{
			method: http.MethodGet, pattern: "/readyz", id: "getReadiness", tag: tagService,
			summary: "Check readiness", probe: true, handle: a.ready, doc: readyDoc(),
		},
	}
	return append(routes, a.pageRoutes()...)
}

// Paths of the listing and the facets of a dataset.
const (
	listPattern   = "/api/v1/{namespace}/{dataset}/data"
	facetsPattern = "/api/v1/{namespace}/{dataset}/facets"
)

// allMethods is the methods of all resources.
const allMethods = "GET, HEAD, POST, OPTIONS"

// newMux returns a mux for the routes whose errors are all our own: each path also handles OPTIONS and rejects other
// methods, and all other paths are not found.
func (a *API) newMux(routes []route) *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	page := map[string]bool{}
	for i := range routes {
		rt := &routes[i]
		mux.Handle(rt.method+" "+rt.pattern, a.serve(rt))
		methods[rt.pattern] = append(methods[rt.pattern], rt.method)
		page[rt.pattern] = rt.page
		if rt.method == http.MethodGet {
			methods[rt.pattern] = append(methods[rt.pattern], http.MethodHead)
		}
	}
	for pattern, allowed := range methods {
		allow := strings.Join(append(allowed, http.MethodOptions), ", ")
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				preflight(w.Header(), r)
				w.(*response).options(allow)
				return
			}
			w.Header().Set("Allow", allow)
			w.(*response).apiPath = !page[pattern]
			a.fail(w.(*response), r, herb.Errorf(herb.CodeMethod, "%s is not allowed on %s; allowed: %s",
				knownMethod(r.Method), clip(redactText(r.URL.Path)), allow))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w.(*response), r, a.noSuchPath(r))
	})
	return mux
}

// serve returns the handler of a route. Probes run immediately. Other requests have a deadline and wait for a slot.
// Requests with a body take it after reading the body, so that slow senders occupy none.
func (a *API) serve(rt *route) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*response)
		w.route = rt
		var err error
		if !rt.probe {
			w.client, w.ticket = r.Context(), a.opts.Admission.NewTicket()
			defer w.ticket.Release()
			ctx, cancel := context.WithTimeout(r.Context(), a.opts.RequestTimeout)
			defer cancel()
			r = r.WithContext(admission.NewContext(ctx, w.ticket))
			if rt.method == http.MethodGet {
				err = w.ticket.Enter(ctx, admission.Cheap)
			}
		}
		if err == nil {
			err = rt.handle(w, r)
		}
		if err != nil {
			a.fail(w, r, err)
		}
	})
}

// isCanonical reports whether the mux would serve a path without redirecting to its cleaned form.
func isCanonical(u *url.URL) bool {
	p := u.EscapedPath()
	c := path.Clean(p)
	if strings.HasSuffix(p, "/") && c != "/" {
		return p[:len(p)-1] == c
	}
	return p == c && c[0] == '/'
}

// noSuchPath returns the error for a path without a route. It suggests the cleaned path if that has a route.
func (a *API) noSuchPath(r *http.Request) error {
	shown := clip(redactText(r.URL.Path))
	clean := path.Clean("/" + r.URL.Path)
	if clean != r.URL.Path && a.hasRoute(clean) {
		return herb.Errorf(herb.CodeNotFound, "no such path %q; did you mean %q?", shown, clip(redactText(clean)))
	}
	var known []string
	for _, rt := range a.routes {
		if !rt.page || rt.path() == "/" {
			known = append(known, rt.method+" "+rt.path())
		}
	}
	slices.SortFunc(known, strings.Compare)
	return herb.Errorf(herb.CodeNotFound, "no such path %q; valid paths: %s", shown, strings.Join(known, ", "))
}

// hasRoute reports whether a path has a route for any method.
func (a *API) hasRoute(p string) bool {
	_, pattern := a.mux.Handler(&http.Request{Method: http.MethodOptions, URL: &url.URL{Path: p}})
	return pattern != "/"
}

// clip truncates client input for use in a message.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
