package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// pageData is the listing for pages: the same response as that of the API, at a path for which the
// browser sends its stored key. Exports for pages are at the same path with an extension; they
// ignore pagination parameters. pageGrid and pageAggregate are the same for grids and for the
// values of charts; pageChanges with an extension is an export of changes.
const (
	pageData      = "/datasets/{namespace}/{dataset}/data"
	pageGrid      = "/datasets/{namespace}/{dataset}/grid"
	pageAggregate = "/datasets/{namespace}/{dataset}/aggregate.csv"
	pageChanges   = "/datasets/{namespace}/{dataset}/changes"
)

// pageRoutes returns the routes of the pages, ordered by pattern.
func (a *API) pageRoutes() []route {
	if a.opts.Pages == nil {
		return nil
	}
	routes := append(a.dataFiles(pageData),
		route{Route: get(pageData), Parameters: query.KindListing, Records: a.reading.List},
		route{Route: get(pageGrid), Parameters: query.KindGrid, Records: a.reading.Grid},
		route{Route: get(pageAggregate), Parameters: query.KindAggregate, Records: a.reading.AggregateCSV})
	routes = append(routes, a.changesFiles(pageChanges)...)
	for i := range routes {
		routes[i].Page = true
	}
	for pattern, handler := range a.opts.Pages.Handlers() {
		method, path, _ := strings.Cut(pattern, " ")
		routes = append(routes, a.pageRoute(method, path, handler))
	}
	slices.SortFunc(routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Method, b.Method))
	})
	return routes
}

// pageRoute returns the route of a page.
func (a *API) pageRoute(method, pattern string, handler PageHandler) route {
	rt := route{Route: response.Route{Method: method, Pattern: pattern, Page: true}}
	switch {
	case handler.Upload:
		rt.Cost, rt.receive = response.CostUpload, a.beginUpload
	case method == http.MethodPost:
		rt.Cost = response.CostWrite
		rt.receive = func(w *response.Writer, r *http.Request) (*http.Request, func(), error) {
			free, err := a.readForm(w, r, handler)
			return r, free, err
		}
	}
	if handler.ServeDataset == nil {
		rt.Nothing = func(w *response.Writer, r *http.Request) error {
			return a.sendPage(w, r, herb.AccessOpen, func(p *Page) error { return handler.Serve(p, r) })
		}
		return rt
	}
	rt.Description = func(w *response.Writer, r *http.Request, v gate.DatasetView) error {
		return a.sendPage(w, r, v.Access, func(p *Page) error { return handler.ServeDataset(p, r, v) })
	}
	return rt
}

// sendPage sends a page, which is buffered, or the page about its error.
func (a *API) sendPage(w *response.Writer, r *http.Request, access herb.Access, serve func(*Page) error) error {
	buf := w.NewBuffer(r.Context())
	defer buf.Free()
	p := a.newPage(w, r, buf)
	err := serve(p)
	if err == nil || herb.CodeOf(err) == herb.CodeInvalid && p.Len() > 0 { // rows without invalid parameters
		p.setCaching(access)
	}
	if err != nil {
		a.failWithPage(w, r, err, p)
		return nil
	}
	p.sendTo(w, r)
	return nil
}

// beginUpload prepares a request whose handler receives files: its context has no deadline.
func (a *API) beginUpload(w *response.Writer, r *http.Request) (_ *http.Request, done func(), err error) {
	w.Set("Connection", "close") // unless ReceiveFiles reads the whole body
	err = a.checkOrigin(r)
	if err != nil {
		return r, nil, err
	}
	ctx, cancel := w.WithoutDeadline(r)
	return r.WithContext(ctx), cancel, nil
}

// maxForm is the maximum size of a form in bytes unless its page has another one: a key, and the
// query of the page to return to.
const maxForm = 32 << 10

// checkOrigin rejects a form that another site has sent.
func (a *API) checkOrigin(r *http.Request) error {
	if err := a.origins.Check(r); err != nil {
		return herb.Wrap(herb.CodeForbidden, err,
			"the form was submitted from another site; open the page here and submit it again")
	}
	return nil
}

// readForm reads and parses the form of a request before its handler runs, which finds it in
// PostForm. It rejects forms of other sites, and keys in fields that are not for one. Without an
// error, the caller must call free at the end of the request.
func (a *API) readForm(w *response.Writer, r *http.Request, handler PageHandler) (free func(), err error) {
	body, err := body.Read(w, r, cmp.Or(handler.MaxForm, maxForm))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			body.Free()
		}
	}()
	if err := w.AdmitBody(r); err != nil {
		return nil, err
	}
	if err := a.checkOrigin(r); err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body.Bytes()))
	if err := r.ParseForm(); err != nil {
		return nil, herb.Wrap(herb.CodeInvalid, err, "malformed form; open the page and submit it again")
	}
	fields := maps.Clone(r.PostForm)
	if handler.TakesKey {
		delete(fields, "key")
	}
	return body.Free, response.RejectFormKeys(fields)
}

// wantsPage reports whether an error is sent as a page: on page routes and unknown paths, if Accept
// names HTML. Everything under /api/ responds with JSON.
func (a *API) wantsPage(w *response.Writer, r *http.Request) bool {
	if a.opts.Pages == nil || w.APIPath || strings.HasPrefix(r.URL.Path, "/api/") || w.Route != nil && !w.Route.Page {
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

// Page is the response to a request for a page, and what its handler may know of the visitor. It
// buffers the body, so that a page that fails half-way is not sent.
type Page struct {
	*response.Buffer
	header   http.Header
	status   int
	shared   []byte // the body, if it is not in the buffer
	response *response.Writer
	request  *http.Request
	gate     *gate.Gate
}

func (a *API) newPage(w *response.Writer, r *http.Request, body *response.Buffer) *Page {
	return &Page{Buffer: body, header: http.Header{}, status: http.StatusOK, response: w, request: r, gate: a.gate}
}

// Header implements http.ResponseWriter.
func (p *Page) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter. The status of a page that fails is that of its error.
func (p *Page) WriteHeader(status int) { p.status = status }

// WriteShared sets a body that never changes and is not copied, so that it costs nothing to hold it
// for slow clients.
func (p *Page) WriteShared(body []byte) { p.shared = body }

// CachedBody returns the body with an entity tag from the cache of bodies, which is bounded, or
// makes and adds it: a body that takes long to make, such as an image. Bodies with the same entity
// tag never differ. A body with an empty tag is not cached.
func (p *Page) CachedBody(tag string, make func() ([]byte, error)) ([]byte, error) {
	if tag == "" {
		return make()
	}
	if body := p.response.CachedBody(tag); body != nil {
		return body, nil
	}
	body, err := make()
	if err == nil {
		p.response.CacheBody(tag, body)
	}
	return body, err
}

// WriteDocument writes a document that is the same for all visitors and takes long to create. It is
// created once for each entity tag, which determines it.
func (p *Page) WriteDocument(ctx context.Context, tag string, create func() ([]byte, error)) error {
	document, err := p.response.SharedDocument(ctx, tag, create)
	if err != nil {
		return err
	}
	if response.AcceptsGzip(p.request) {
		p.header.Set("Content-Encoding", "gzip")
		p.WriteShared(document)
		return nil
	}
	return response.Decompress(p.Buffer, document)
}

// QueryString returns the query string of the request.
func (p *Page) QueryString() query.String { return p.response.QueryString(p.request) }

// Visitor returns the owner of the key that the browser sends, or the zero one if there is no valid
// key.
func (p *Page) Visitor() herb.Principal { return p.gate.OptionalPrincipal(p.response, p.request) }

// MayPublish returns who sends the request, for the audit log. It fails, as the API does, unless
// the key that the browser sends may publish the dataset. A zero Ref means any dataset.
func (p *Page) MayPublish(ref herb.Ref) (herb.Actor, error) {
	return p.gate.MayPublish(p.response, p.request, ref)
}

// Reauthorize returns a function that fails if the key of the request, which MayPublish has
// accepted, must not publish a dataset anymore.
func (p *Page) Reauthorize(ref herb.Ref) func(context.Context) error {
	return p.gate.Reauthorize(p.response, p.response.Key(p.request), ref)
}

// VerifyKey verifies a key that the visitor sends, once per request and logged, as those of other
// routes.
func (p *Page) VerifyKey(secret string) (herb.Principal, error) {
	return p.response.Verify(p.request.Context(), secret)
}

// ReceiveFiles receives the files of a form for a page whose handler has Upload; see
// body.ReceiveFiles.
func (p *Page) ReceiveFiles(receive func(fields url.Values, name string, content io.Reader) error) (url.Values, error) {
	return body.ReceiveFiles(p.response, p.request, receive)
}

// OpenLive opens the live version of a dataset for a page that is not about this dataset. Without
// an error, the caller must release the view.
func (p *Page) OpenLive(ref herb.Ref) (gate.DatasetView, error) {
	return p.gate.OpenLive(p.response, p.request, ref, gate.DenyVisitor)
}

// OpenOther opens another version of the dataset of an open view, which stays open. Its Denied says
// why the visitor may not read it. Without an error, the caller must release both.
func (p *Page) OpenOther(v gate.DatasetView, version string) (gate.DatasetView, error) {
	return p.gate.OpenOther(p.response, p.request, v, version, gate.DenyVisitor)
}

func (p *Page) sendTo(w *response.Writer, r *http.Request) {
	maps.Copy(w.Header(), p.header)
	if p.status == http.StatusNotModified {
		w.SetVary(response.VaryEncoding)
		w.WriteHeader(p.status)
		return
	}
	body := p.shared
	if body == nil {
		body = p.Bytes()
	}
	w.Send(r, p.status, cmp.Or(p.header.Get("Content-Type"), response.ContentHTML), body)
}

// setCaching sets Cache-Control of a page unless its handler has: caches must revalidate it. Pages
// that required a key are cached only by the browser.
func (p *Page) setCaching(access herb.Access) {
	switch {
	case p.header.Get("Cache-Control") != "":
	case access.NeedsKey():
		p.SetPrivate()
	default:
		p.header.Set("Cache-Control", "no-cache")
	}
}

// SetPrivate restricts the caching of a page to the browser, because it depends on the key of the
// visitor.
func (p *Page) SetPrivate() {
	p.header.Set("Cache-Control", response.PrivateCaching)
	p.header.Set("Vary", response.VaryCookie)
}

// fail responds with an error, as a page to clients that accept HTML.
func (a *API) fail(w *response.Writer, r *http.Request, err error) {
	a.failWithPage(w, r, err, a.newPage(w, r, response.NewErrorBuffer()))
}

// failWithPage is fail with a page about the error. An empty page is replaced by the error page.
func (a *API) failWithPage(w *response.Writer, r *http.Request, err error, p *Page) {
	w.Fail(r, err, func(status int, message string) bool {
		if status == http.StatusInternalServerError {
			p.Reset() // it may be incomplete
		}
		if !a.wantsPage(w, r) || p.Len() == 0 && a.opts.Pages.Failure(p, r, status, message) != nil {
			return false
		}
		p.status = status
		delete(p.header, "Cache-Control")
		p.sendTo(w, r)
		return true
	})
}

// pageKey returns the key that the browser stores for a page.
func (a *API) pageKey(r *http.Request) string { return a.opts.Pages.Key(r) }
