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
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/web/view"
)

// Library provides the datasets.
type Library interface {
	library.RecordSource
	// AcquireVersion returns a version of a dataset, or herb.CodeGone if it is not kept.
	AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error)
	// Datasets describes versions that Live or Search returned, with or without details.
	Datasets(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error)
	// Search returns the live versions whose metadata matches the search and the keyword. An empty one matches all.
	Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error)
	// History returns the kept versions of a dataset, newest first.
	History(ctx context.Context, ref herb.Ref) ([]library.VersionInfo, error)
}

// Keys verifies keys.
type Keys interface {
	// Verify fails with herb.CodeUnauthenticated if the key is not valid. The message does not contain the key. client is the
	// network address that sent it; one that sends too many invalid keys gets herb.CodeRateLimited.
	Verify(ctx context.Context, key, client string) (herb.Principal, error)
}

// Options of the pages. Library, Keys, SourceErrors and Folder are required.
type Options struct {
	Library      Library
	Keys         Keys
	SourceErrors func(ctx context.Context) ([]herb.SourceError, error) // errors of sources that could not be published
	Folder       func(herb.Ref) string                                 // of the file that a dataset was published from, whose images pages show; "" if there is none
	// PublicURL is the external URL of the pages, such as https://example.org/data; empty: that of the request.
	PublicURL string
	// PrivateCatalog: datasets that require a key do not exist for visitors without one that may read them.
	PrivateCatalog bool
	Version        string // of the program
	// SearchBudget is the time that a search for rows in all datasets may take; 0: one second.
	SearchBudget time.Duration
}

// Pages serves the HTML pages. It is safe for concurrent use.
type Pages struct {
	opts   Options
	public *url.URL // nil: not configured
	base   string   // path of the public URL, without a trailing slash
	// The first page prepares assets and templates, because they would make a start longer.
	assets    func() *assets
	templates func() map[string]*template.Template // by page
	csrf      *http.CrossOriginProtection
}

// New returns the pages of a library.
func New(opts Options) (*Pages, error) {
	if opts.Library == nil || opts.Keys == nil || opts.SourceErrors == nil || opts.Folder == nil {
		return nil, errors.New("web: Library, Keys, SourceErrors and Folder are required")
	}
	p := &Pages{opts: opts, csrf: http.NewCrossOriginProtection()}
	if opts.PublicURL != "" {
		u, err := url.Parse(opts.PublicURL)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("web: invalid public URL %q; use a URL such as https://example.org/data", opts.PublicURL)
		}
		p.public, p.base = u, strings.TrimRight(u.EscapedPath(), "/")
		if err := p.csrf.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, fmt.Errorf("web: public URL: %w", err)
		}
	}
	p.assets = sync.OnceValue(func() *assets { return newAssets(p.base) })
	p.templates = sync.OnceValue(p.parseTemplates)
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
	pathAPI       = "/api/v1/"
)

// Handlers returns the handlers of the pages by their pattern for http.ServeMux, method included. The caller buffers what they write:
// after an error, it may be incomplete.
func (p *Pages) Handlers() map[string]func(http.ResponseWriter, *http.Request) error {
	const dataset = "/datasets/{namespace}/{dataset}"
	return map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                                    p.catalogue,
		"GET " + pathKey:                              p.siteKey,
		"POST " + pathKey:                             func(w http.ResponseWriter, r *http.Request) error { return p.saveKey(w, r, nil) },
		"POST " + pathKey + "/forget":                 p.deleteKey,
		"GET " + dataset:                              p.dataset(p.browse),
		"GET " + dataset + "/files/{path...}":         p.dataset(p.file),
		"GET " + dataset + "/map":                     p.dataset(p.browseMap),
		"GET " + dataset + "/chart":                   p.dataset(p.chart),
		"GET " + dataset + "/chart.svg":               p.dataset(p.chartSVG),
		"GET " + dataset + "/facets":                  p.fragment("facets", buildFacets),
		"GET " + dataset + "/charts":                  p.fragment("charts", buildCharts),
		"GET " + dataset + "/fields":                  p.fragment("fieldlists", buildFields),
		"GET " + dataset + "/spark.svg":               p.dataset(p.spark),
		"GET " + dataset + "/about":                   p.dataset(p.about),
		"GET " + dataset + "/api":                     p.dataset(p.api),
		"GET " + dataset + "/versions":                p.dataset(p.versions),
		"POST " + dataset + "/key":                    p.dataset(func(w http.ResponseWriter, r *http.Request, v datasetView) error { return p.saveKey(w, r, &v) }),
		"POST " + dataset + "/key/forget":             p.deleteKey,
		"GET /assets/{fingerprint}/{file}":            p.asset,
		"GET " + pathDocs:                             p.docs,
		"GET " + pathDCAT:                             p.dcat,
		"GET /datasets/{namespace}/{$}":               p.redirectToCatalogue,
		"GET /datasets/{namespace}":                   p.redirectToCatalogue,
		"GET " + strings.TrimRight(pathDatasets, "/"): p.redirectToCatalogue,
	}
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
	Theme       string // "light", "dark" or empty: that of the system
	Current     string // navigation entry: "catalogue", "docs" or empty
	Images      bool   // the page shows images of other hosts
	Framed      bool   // the page fills the window and has bars of its own, without the header and footer of the site
	Page        any    // what its own template shows
}

const siteName = "Herbarium"

func (p *Pages) layout(r *http.Request, title, description string) layout {
	return layout{Title: view.PlainText(title), Description: herb.Clip(view.PlainText(description), 300), Origin: p.origin(r), Theme: themeOf(r)}
}

// themeOf returns the theme that the user has selected, which the script stores in a cookie; empty: none.
func themeOf(r *http.Request) string {
	if c, err := r.Cookie("herbarium_theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// render writes a page with all headers except those for caching.
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
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Link", "<"+p.base+pathOpenAPI+`>; rel="service-desc"; type="application/vnd.oai.openapi+json", <`+
		p.base+pathDocs+`>; rel="service-doc", <`+p.base+pathDCAT+`>; rel="describedby"; type="application/ld+json"`)
}

// contentPolicy is the content security policy of a page without images of datasets.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; font-src 'self'; img-src 'self'"

// Failure writes an error page.
func (p *Pages) Failure(w http.ResponseWriter, r *http.Request, status int, message string) error {
	heading, dataset, key := http.StatusText(status), "", ""
	if status == http.StatusGone { // the version
		dataset = p.datasetPath(refOf(r))
	}
	if status == http.StatusNotFound && p.opts.PrivateCatalog {
		key = p.base + pathKey
	}
	return p.render(w, "failure", p.layout(r, heading, message), struct {
		Status                         int
		Heading, Message, Dataset, Key string
		Retry                          bool
	}{status, heading, message, dataset, key, status >= http.StatusInternalServerError})
}
