package httpapi

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/admission"
	"herbarium/internal/export"
	"herbarium/internal/query"
)

// Pages are what people see in a browser. They are routes like the others, but no part of the OpenAPI document.
type Pages interface {
	// Handlers returns what answers each page, by its pattern of http.ServeMux with the method.
	Handlers() map[string]func(http.ResponseWriter, *http.Request) error
	// Failure writes an error as a page.
	Failure(w http.ResponseWriter, r *http.Request, status int, message string) error
	// Key returns the key that a browser keeps for the dataset of a page; empty: none.
	Key(r *http.Request) string
}

// The records of a dataset as pages need them: the very answers of the listing, under an address at which a browser sends
// the key it keeps.
const (
	pageData = "/datasets/{namespace}/{dataset}/data"
	pageCSV  = "/datasets/{namespace}/{dataset}/data.csv"
)

// pageRoutes are the routes of the pages, in the order of their patterns.
func (a *API) pageRoutes() []route {
	if a.opts.Pages == nil {
		return nil
	}
	routes := []route{
		{method: http.MethodGet, pattern: pageData, page: true, handle: a.list},
		{method: http.MethodGet, pattern: pageCSV, page: true, handle: a.listCSV},
	}
	for pattern, handle := range a.opts.Pages.Handlers() {
		method, path, _ := strings.Cut(pattern, " ")
		rt := route{method: method, pattern: path, page: true, handle: servePage(handle)}
		if method == http.MethodPost {
			rt.handle = readForm(rt.handle)
		}
		routes = append(routes, rt)
	}
	slices.SortFunc(routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.method, b.method))
	})
	return routes
}

// servePage makes a handler of a page.
func servePage(handle func(http.ResponseWriter, *http.Request) error) func(*response, *http.Request) error {
	return func(w *response, r *http.Request) error {
		buf := w.buffers.get()
		p := &page{header: http.Header{}, status: http.StatusOK, body: *buf}
		defer func() {
			*buf = p.body
			w.buffers.put(buf)
		}()
		if err := handle(p, r); err != nil {
			return err
		}
		p.sendTo(w, r)
		return nil
	}
}

// readForm reads the form of a request before its handler runs.
func readForm(next func(*response, *http.Request) error) func(*response, *http.Request) error {
	return func(w *response, r *http.Request) error {
		body, err := readBody(w, r, maxForm+1) // the handler rejects a form that is too large
		if err != nil {
			return err
		}
		if len(body) > maxForm {
			w.Header().Set("Connection", "close") // the rest is not read
		}
		if err := w.ticket.Enter(r.Context(), admission.Write); err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return next(w, r)
	}
}

// listCSV answers with all records of which a page shows some, as a file, which has no pages.
func (a *API) listCSV(w *response, r *http.Request) error {
	var kept []string
	for piece := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(piece, "=")
		if name == query.ParamPage || name == query.ParamPerPage || name == "" {
			continue
		}
		kept = append(kept, piece)
	}
	u := *r.URL
	u.RawQuery = strings.Join(kept, "&")
	whole := *r
	whole.URL = &u
	return a.export(w, &whole, export.CSV)
}

// wantsPage reports whether an error is for a person: on a page, or where there is nothing at all, for a client that names
// HTML. Whatever is under /api/ stays as machines expect it.
func (a *API) wantsPage(w *response, r *http.Request) bool {
	if a.opts.Pages == nil || w.machine || strings.HasPrefix(r.URL.Path, "/api/") || w.route != nil && !w.route.page {
		return false
	}
	return slices.ContainsFunc(r.Header["Accept"], func(s string) bool { return strings.Contains(s, "text/html") })
}

// keyOf returns the key that a request brings: on a page the one that the browser keeps.
func (a *API) keyOf(w *response, r *http.Request) string {
	if w.route != nil && w.route.page {
		return a.opts.Pages.Key(r)
	}
	return apiKey(r)
}

// withoutBase takes the path of the public address off a request, where a proxy has left it on.
func (a *API) withoutBase(r *http.Request) *http.Request {
	rest, ok := cutBase(r.URL.Path, a.base)
	raw, rawOK := cutBase(r.URL.RawPath, a.base)
	if !ok || r.URL.RawPath != "" && !rawOK {
		return r
	}
	u := *r.URL
	u.Path, u.RawPath = rest, raw
	shorter := *r
	shorter.URL = &u
	return &shorter
}

func cutBase(path, base string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, base)
	switch {
	case !ok:
		return path, false
	case rest == "":
		return "/", true
	}
	return rest, rest[0] == '/'
}

// basePath returns the path of a public address as paths are put behind it.
func basePath(public string) (string, error) {
	u, err := url.Parse(public)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(u.EscapedPath(), "/"), nil
}
