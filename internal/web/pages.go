package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/maps"
)

// Options of the pages. Library, History, SourceErrors and Folder are required.
type Options struct {
	httpapi.Site
	History      func(context.Context, herb.Ref) ([]library.VersionInfo, error) // the kept versions of a dataset, newest first
	SourceErrors func(ctx context.Context) ([]herb.SourceError, error)          // errors of sources that could not be published
	Folder       func(herb.Ref) string                                          // of the file that a dataset was published from, whose images pages show; "" if there is none

	// The next four are required together; nil: nothing is published in the browser.
	Files     Files
	Drafts    Drafts
	Versions  Versions
	Publisher Publisher
}

// Pages serves the HTML pages. It is safe for concurrent use.
type Pages struct {
	opts   Options
	public *url.URL // nil: not configured
	base   string   // path of the public URL, without a trailing slash
	// The first page prepares assets and templates, because they would make a start longer.
	assets    func() *assets
	templates func() map[string]*template.Template // by page
	coasts    func() coasts
	places    func() []maps.Place
	csrf      *http.CrossOriginProtection
}

// New returns the pages of a library.
func New(opts Options) (*Pages, error) {
	if opts.Library == nil || opts.History == nil || opts.SourceErrors == nil || opts.Folder == nil {
		return nil, errors.New("web: Library, History, SourceErrors and Folder are required")
	}
	if publishes := opts.Drafts != nil; publishes != (opts.Files != nil) || publishes != (opts.Versions != nil) || publishes != (opts.Publisher != nil) {
		return nil, errors.New("web: Files, Drafts, Versions and Publisher require each other")
	}
	public, base, err := opts.ParsePublicURL()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &Pages{opts: opts, public: public, base: base, csrf: http.NewCrossOriginProtection()}
	if public != nil {
		if err := p.csrf.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("web: public URL: %w", err)
		}
	}
	p.assets = sync.OnceValue(func() *assets { return newAssets(p.base) })
	p.templates = sync.OnceValue(p.parseTemplates)
	p.coasts, p.places = sync.OnceValue(readCoasts), sync.OnceValue(readPlaces)
	return p, nil
}

// The paths that pages link to.
const (
	pathCatalogue = "/"
	pathDocs      = "/docs"
	pathDCAT      = "/catalog.jsonld"
	pathOpenAPI   = "/openapi.json"
	pathDatasets  = "/datasets/"
	pathKey       = "/key"
	pathPublish   = "/publish"
	pathAPI       = "/api/v1/"
)

// Handlers returns the handlers of the pages by their pattern for http.ServeMux, method included.
// The caller buffers what they write: after an error, it may be incomplete.
func (p *Pages) Handlers() map[string]httpapi.PageHandler {
	const dataset = "/datasets/{namespace}/{dataset}"
	page := func(serve func(http.ResponseWriter, *http.Request) error) httpapi.PageHandler {
		return httpapi.PageHandler{Serve: serve}
	}
	handlers := map[string]httpapi.PageHandler{
		"GET /{$}":                                    page(p.catalogue),
		"GET " + pathKey:                              page(p.siteKey),
		"POST " + pathKey:                             page(func(w http.ResponseWriter, r *http.Request) error { return p.saveKey(w, r, nil) }),
		"POST " + pathKey + "/forget":                 page(p.deleteKey),
		"GET " + dataset:                              p.dataset(p.browse),
		"GET " + dataset + "/files/{path...}":         p.dataset(p.file),
		"GET " + dataset + "/map":                     p.dataset(p.browseMap),
		"GET " + dataset + "/chart":                   p.dataset(p.chart),
		"GET " + dataset + previewFile:                p.dataset(p.preview("table")),
		"GET " + dataset + "/map" + previewFile:       p.dataset(p.preview("map")),
		"GET " + dataset + "/chart" + previewFile:     p.dataset(p.preview("chart")),
		"GET " + dataset + "/chart.svg":               p.dataset(p.chartSVG),
		"GET " + dataset + "/facets":                  p.fragment("facets", buildFacets),
		"GET " + dataset + "/charts":                  p.fragment("charts", buildCharts),
		"GET " + dataset + "/fields":                  p.fragment("fieldlists", buildFields),
		"GET " + dataset + "/spark.svg":               p.dataset(p.spark),
		"GET " + dataset + "/about":                   p.dataset(p.about),
		"GET " + dataset + "/api":                     p.dataset(p.api),
		"GET " + dataset + "/versions":                p.dataset(p.versions),
		"POST " + dataset + "/key":                    p.dataset(func(w http.ResponseWriter, r *http.Request, v datasetView) error { return p.saveKey(w, r, &v) }),
		"POST " + dataset + "/key/forget":             page(p.deleteKey),
		"GET /assets/{fingerprint}/{file}":            page(p.asset),
		"GET " + pathDocs:                             page(p.docs),
		"GET " + pathDCAT:                             page(p.dcat),
		"GET /datasets/{namespace}/{$}":               page(p.redirectToCatalogue),
		"GET /datasets/{namespace}":                   page(p.redirectToCatalogue),
		"GET " + strings.TrimRight(pathDatasets, "/"): page(p.redirectToCatalogue),
	}
	for pattern, handler := range p.publishHandlers() {
		handlers[pattern] = handler
	}
	return handlers
}

// redirectToCatalogue redirects paths that users get by shortening the URL of a dataset.
func (p *Pages) redirectToCatalogue(w http.ResponseWriter, r *http.Request) error {
	to := p.base + pathCatalogue
	if ns := r.PathValue("namespace"); herb.ValidName(ns) { // anything else may be a secret that must not be repeated
		to = p.catalogueHref(paramNamespace, ns)
	}
	return redirect(w, to)
}

func redirect(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// origin returns the prefix of absolute links, without a trailing slash.
func (p *Pages) origin(r *http.Request) string {
	if p.public != nil {
		return p.public.Scheme + "://" + p.public.Host + p.base
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_[]") != "" || host == "" {
		host = "localhost"
	}
	return scheme + "://" + host
}

// layout contains what every page has in common.
type layout struct {
	Title       string
	Description string
	Origin      string // prefix of absolute links
	Canonical   string // URL; empty: not indexed by search engines
	Address     string // URL of the view, which may be one of a filtered canonical page; empty: the canonical one
	Preview     string // URL of the image that other sites show; empty: none
	PreviewAlt  string // what it shows, in words
	Theme       string // "light", "dark" or empty: that of the system
	Current     string // navigation entry: "catalogue", "docs" or empty
	Images      bool   // the page shows images of other hosts
	Framed      bool   // the page fills the window and has bars of its own, without the header and footer of the site
	Page        any    // what its own template shows
}

const siteName = "Herbarium"

func (p *Pages) layout(r *http.Request, title, description string) layout {
	return layout{Title: format.PlainText(title), Description: herb.Clip(format.PlainText(description), 300), Origin: p.origin(r), Theme: themeOf(r)}
}

// themeOf returns the theme that the user has selected, which the script stores in a cookie; empty:
// none.
func themeOf(r *http.Request) string {
	if c, err := r.Cookie("herbarium_theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// render writes a page with all headers except those for caching, which httpapi sets.
func (p *Pages) render(w http.ResponseWriter, name string, l layout, data any) error {
	l.Page = data
	p.setHeaders(w.Header(), l.Images)
	return p.execute(w, name, "layout", l)
}

// execute writes a template of the set of a page.
func (p *Pages) execute(w io.Writer, page, name string, data any) error {
	return p.templates()[page].ExecuteTemplate(w, name, data)
}

// setHeaders sets the headers that restrict what a browser may do with a page.
func (p *Pages) setHeaders(h http.Header, images bool) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	policy := contentPolicy
	if images {
		policy += " https:" // of other hosts; browsers block http images as mixed content
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // without a referrer, browsers submit forms with the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Link", "<"+p.base+pathOpenAPI+`>; rel="service-desc"; type="application/vnd.oai.openapi+json", <`+
		p.base+pathDocs+`>; rel="service-doc", <`+p.base+pathDCAT+`>; rel="describedby"; type="application/ld+json"`)
}

// contentPolicy is the content security policy of a page without images of datasets.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; font-src 'self'; img-src 'self'"
