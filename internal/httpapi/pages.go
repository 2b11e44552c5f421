package httpapi

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// pageData is the listing for pages: the same response as that of the API, at a path for which the
// browser sends its stored key. Exports for pages are at the same path with an extension; they
// ignore pagination parameters. pageGrid and pageAggregate are the same for grids and for the
// values of charts.
const (
	pageData      = "/datasets/{namespace}/{dataset}/data"
	pageGrid      = "/datasets/{namespace}/{dataset}/grid"
	pageAggregate = "/datasets/{namespace}/{dataset}/aggregate.csv"
)

// pageRoutes returns the routes of the pages, ordered by pattern.
func (a *API) pageRoutes() []route {
	if a.opts.Pages == nil {
		return nil
	}
	routes := append(a.exportRoutes(pageData, true),
		route{method: http.MethodGet, pattern: pageData, page: true, handle: a.list},
		route{method: http.MethodGet, pattern: pageGrid, page: true, handle: a.grid},
		route{method: http.MethodGet, pattern: pageAggregate, page: true, handle: a.aggregateCSV})
	for pattern, handler := range a.opts.Pages.Handlers() {
		method, path, _ := strings.Cut(pattern, " ")
		routes = append(routes, a.pageRoute(method, path, handler))
	}
	slices.SortFunc(routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.method, b.method))
	})
	return routes
}

// pageRoute returns the route of a page, which is buffered.
func (a *API) pageRoute(method, pattern string, handler PageHandler) route {
	rt := route{method: method, pattern: pattern, page: true, handle: func(w *response, r *http.Request) error {
		if handler.Upload {
			w.set("Connection", "close") // unless ReceiveFiles reads the whole body
			ctx, cancel := w.withoutDeadline(r)
			defer cancel()
			r = r.WithContext(ctx)
		}
		buf := w.newBuffer(r.Context())
		defer buf.free()
		p := &page{header: http.Header{}, status: http.StatusOK, buffer: buf, bodies: a.bodies}
		if err := a.servePage(w, r, handler, p); err != nil {
			a.failWithPage(w, r, err, p)
		} else {
			p.sendTo(w, r)
		}
		return nil
	}}
	if method == http.MethodPost && !handler.Upload {
		rt.handle = readForm(cmp.Or(handler.MaxForm, maxForm), rt.handle)
	}
	return rt
}

// maxForm is the maximum size of a form in bytes unless its page has another one: a key, and the
// query of the page to return to.
const maxForm = 32 << 10

// readForm reads the form of a request before its handler runs.
func readForm(limit int64, next func(*response, *http.Request) error) func(*response, *http.Request) error {
	return func(w *response, r *http.Request) error {
		body, err := readBody(w, r, limit)
		if err != nil {
			return err
		}
		defer body.free()
		if err := w.admitBody(r); err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body.Bytes()))
		return next(w, r)
	}
}

// wantsPage reports whether an error is sent as a page: on page routes and unknown paths, if Accept
// names HTML. Everything under /api/ responds with JSON.
func (a *API) wantsPage(w *response, r *http.Request) bool {
	if a.opts.Pages == nil || w.apiPath || strings.HasPrefix(r.URL.Path, "/api/") || w.route != nil && !w.route.page {
		return false
	}
	return slices.ContainsFunc(r.Header["Accept"], func(s string) bool { return strings.Contains(s, "text/html") })
}

// withoutBase removes the path of the public URL from a request if a proxy has not.
func (a *API) withoutBase(r *http.Request) *http.Request {
	path, ok := strings.CutPrefix(r.URL.Path, a.base)
	if !ok || path != "" && path[0] != '/' {
		return r
	}
	u, shorter := *r.URL, *r
	u.Path, u.RawPath = cmp.Or(path, "/"), strings.TrimPrefix(u.RawPath, a.base) // another RawPath has no effect
	shorter.URL = &u
	return &shorter
}

// page buffers an HTML page, so that a page that fails half-way is not sent. It is the
// http.ResponseWriter of page handlers.
type page struct {
	*buffer
	header http.Header
	status int
	shared []byte // the body, if it is not in the buffer
	bodies *bodyCache
}

func (p *page) Header() http.Header    { return p.header }
func (p *page) WriteHeader(status int) { p.status = status }

// WriteShared sets a body that never changes and is not copied, so that it costs nothing to hold it
// for slow clients.
func (p *page) WriteShared(body []byte) { p.shared = body }

// CachedBody returns the body with an entity tag that CacheBody added; nil if there is none.
func (p *page) CachedBody(tag string) []byte { return p.bodies.get(bodyKey{tag, identity}) }

// CacheBody adds a body that takes long to make, such as an image, to the cache of bodies, which is
// bounded. A body with the same entity tag never differs.
func (p *page) CacheBody(tag string, body []byte) { p.bodies.add(bodyKey{tag, identity}, body) }

func (p *page) sendTo(w *response, r *http.Request) {
	maps.Copy(w.Header(), p.header)
	if p.status == http.StatusNotModified {
		w.setVary(varyEncoding)
		w.WriteHeader(p.status)
		return
	}
	body := p.shared
	if body == nil {
		body = p.Bytes()
	}
	w.send(r, p.status, cmp.Or(p.header.Get("Content-Type"), contentHTML), body)
}
