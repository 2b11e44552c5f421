package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// Library is where the datasets are.
type Library interface {
	// Acquire returns a dataset as it is now, herb.CodeNotFound if there is none.
	Acquire(ctx context.Context, ref herb.Ref) (library.Snapshot, error)
	// Datasets describes what there is now, ordered by ref.
	Datasets(ctx context.Context) ([]herb.Dataset, error)
	// Editions lists the versions of a dataset, the newest first.
	Editions(ctx context.Context, ref herb.Ref) ([]library.Edition, error)
}

// Keys finds out who a secret belongs to.
type Keys interface {
	// Verify fails with herb.CodeUnauthenticated, in words that do not repeat the secret, if it is of no use.
	// client is the network address that sent it; one that sends too many gets herb.CodeRateLimited.
	Verify(ctx context.Context, secret, client string) (herb.Principal, error)
}

// Options of the pages. Library and Keys are required.
type Options struct {
	Library  Library
	Keys     Keys
	Troubles func(ctx context.Context) ([]herb.Trouble, error) // errors of sources that could not be published; nil: none are known
	// PublicURL is where people reach the pages, such as https://example.org/data; empty: as the request says.
	PublicURL string
	Version   string // of the program
}

// Pages answers for people. It is safe for use by any number of goroutines.
type Pages struct {
	opts      Options
	public    *url.URL // nil: unknown
	base      string   // path of the public address, without a slash at its end
	assets    *assets
	templates map[string]*template.Template
	csrf      *http.CrossOriginProtection
	shells    shells
	scratch   sync.Pool // of *[]byte, in which the parts of a page that differ are written
}

// New returns the pages over a library.
func New(opts Options) (*Pages, error) {
	if opts.Library == nil || opts.Keys == nil {
		return nil, errors.New("web: Library and Keys are required")
	}
	p := &Pages{opts: opts, csrf: http.NewCrossOriginProtection(), shells: shells{kept: map[shellName]*shell{}}}
	if opts.PublicURL != "" {
		u, err := url.Parse(opts.PublicURL)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("web: the public address %q is not one", opts.PublicURL)
		}
		p.public, p.base = u, strings.TrimRight(u.EscapedPath(), "/")
		if err := p.csrf.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, fmt.Errorf("web: the public address: %w", err)
		}
	}
	var err error
	if p.assets, err = newAssets(p.base); err != nil {
		return nil, err
	}
	if p.templates, err = parseTemplates(p.assets); err != nil {
		return nil, err
	}
	return p, nil
}

// The paths of pages that others link to.
const (
	pathCatalogue = "/"
	pathDocs      = "/docs"
	pathDCAT      = "/catalog.jsonld"
	pathOpenAPI   = "/openapi.json"
	pathDatasets  = "/datasets/"
	pathAPI       = "/api/v1/"
)

// Handlers returns what answers each page, by its pattern of http.ServeMux with the method.
func (p *Pages) Handlers() map[string]func(http.ResponseWriter, *http.Request) error {
	const dataset = "/datasets/{namespace}/{dataset}"
	return map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                                    p.catalogue,
		"GET " + dataset:                              p.browse,
		"GET " + dataset + "/facets":                  p.facetFragment,
		"GET " + dataset + "/api":                     p.reference,
		"GET " + dataset + "/versions":                p.versions,
		"POST " + dataset + "/key":                    p.keepKey,
		"POST " + dataset + "/key/forget":             p.forgetKey,
		"GET /assets/{file}":                          p.asset,
		"GET " + pathDocs:                             p.docs,
		"GET " + pathDocs + "/{file}":                 p.docsAsset,
		"GET " + pathDCAT:                             p.dcat,
		"GET /datasets/{namespace}/{$}":               p.toCatalogue,
		"GET /datasets/{namespace}":                   p.toCatalogue,
		"GET " + strings.TrimRight(pathDatasets, "/"): p.toCatalogue,
	}
}

// toCatalogue leads from where no page is, but someone who shortens an address may look for one, to the datasets.
func (p *Pages) toCatalogue(w http.ResponseWriter, r *http.Request) error {
	to := p.base + pathCatalogue
	if ns := r.PathValue("namespace"); ns != "" {
		to += "?search=" + url.QueryEscape(ns)
	}
	return redirect(w, to)
}

func redirect(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// origin returns the address that absolute links begin with, without a slash at its end.
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

// layout is what every page has in common.
type layout struct {
	Base        string
	Title       string // of the window
	Description string
	Canonical   string // empty: this page should not be found by its address
	SiteName    string
	Theme       string // "light", "dark" or empty: as the system has it
	Current     string // "catalogue", "docs" or empty
	JSONLD      template.JS
	Images      bool // the page shows images of other hosts
	Version     string
}

const siteName = "Herbarium"

func (p *Pages) layout(r *http.Request, title, description string) layout {
	return layout{
		Base: p.base, Title: plainText(title), Description: clip(plainText(description), 300), SiteName: siteName, Theme: themeOf(r),
		Version: p.opts.Version,
	}
}

// themeOf returns the theme that someone chose; empty: none.
func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// themeCookie is written by the script when someone chooses a theme.
const themeCookie = "herbarium_theme"

// render writes a page. It sets all headers but those that say who may keep a copy.
func (p *Pages) render(w http.ResponseWriter, name string, status int, l layout, data any) error {
	t, ok := p.templates[name]
	if !ok {
		return fmt.Errorf("web: there is no template %q", name)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "layout", struct {
		Layout layout
		Page   any
	}{l, data}); err != nil {
		return fmt.Errorf("rendering %s: %w", name, err)
	}
	p.secure(w.Header(), l.Images)
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return err
}

// secure sets what a browser may do with a page: run our script, use our style, send forms to us, be framed by nobody.
func (p *Pages) secure(h http.Header, images bool) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	policy := contentPolicy
	if images {
		policy = contentPolicyImages
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no referrer at all, forms would come from the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Link", "<"+p.base+pathOpenAPI+`>; rel="service-desc"; type="application/vnd.oai.openapi+json", <`+
		p.base+pathDocs+`>; rel="service-doc", <`+p.base+pathDCAT+`>; rel="describedby"; type="application/ld+json"`)
}

const (
	policyStart = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; img-src 'self'"
	contentPolicy = policyStart
	// Images of datasets are on hosts of their publishers, over https alone: an image over http would be seen by all on the
	// way, and is blocked as mixed content where the page itself comes over https.
	contentPolicyImages = policyStart + " https:"
)

// Failure writes an error as a page.
func (p *Pages) Failure(w http.ResponseWriter, r *http.Request, status int, message string) error {
	heading := map[int]string{
		http.StatusBadRequest:         "That did not work",
		http.StatusForbidden:          "Not with this key",
		http.StatusNotFound:           "Nothing grows here",
		http.StatusMethodNotAllowed:   "That cannot be done here",
		http.StatusServiceUnavailable: "Too much at once",
	}[status]
	if heading == "" {
		heading = "Something went wrong"
	}
	return p.render(w, "failure", status, p.layout(r, heading, message), struct {
		Status           int
		Heading, Message string
		Again            bool
		Base             string
	}{status, heading, message, status == http.StatusServiceUnavailable || status >= http.StatusInternalServerError, p.base})
}
