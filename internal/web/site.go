package web

import (
	"context"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// SiteOptions are what all pages have in common. All are required.
type SiteOptions struct {
	httpapi.Site
	Files        fs.FS                                                 // with the folders assets, templates and swagger-ui
	SourceErrors func(ctx context.Context) ([]herb.SourceError, error) // errors of sources that could not be published
}

// Site renders pages with the layout, the templates and the assets of the site, and holds the keys
// of visitors. It is safe for concurrent use.
type Site struct {
	opts   SiteOptions
	files  fs.FS
	public *url.URL // nil: not configured
	base   string   // path of the public URL, without a trailing slash
	// The first page prepares assets and templates, because they would make a start longer.
	assets    func() *assets
	templates func() map[string]*template.Template // by page
	csrf      *http.CrossOriginProtection
}

// NewSite returns the site of a server.
func NewSite(opts SiteOptions) (*Site, error) {
	public, base, err := opts.ParsePublicURL()
	if err != nil {
		return nil, err
	}
	p := &Site{opts: opts, files: opts.Files, public: public, base: base, csrf: http.NewCrossOriginProtection()}
	if public != nil {
		if err := p.csrf.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("public URL: %w", err)
		}
	}
	p.assets = sync.OnceValue(func() *assets { return newAssets(p.files, p.base) })
	p.templates = sync.OnceValue(p.parseTemplates)
	return p, nil
}

// Handlers returns the handlers of the assets and of the key of the site.
func (p *Site) Handlers() map[string]httpapi.PageHandler {
	page := func(serve func(http.ResponseWriter, *http.Request) error) httpapi.PageHandler {
		return httpapi.PageHandler{Serve: serve}
	}
	return map[string]httpapi.PageHandler{
		"GET " + pathKey:                   page(p.siteKey),
		"POST " + pathKey:                  page(func(w http.ResponseWriter, r *http.Request) error { return p.saveKey(w, r, nil) }),
		"POST " + pathKey + "/forget":      page(p.deleteKey),
		"GET /assets/{fingerprint}/{file}": page(p.asset),
	}
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

// paramNamespace is the parameter of the catalogue that selects a namespace.
const paramNamespace = "namespace"

func (p *Site) datasetPath(ref herb.Ref) string { return p.base + pathDatasets + ref.String() }

// catalogueHref returns the link to the datasets that match a parameter.
func (p *Site) catalogueHref(param, value string) string {
	return state.Join(p.base+pathCatalogue, query.Params{{Name: param, Value: value}}.Encode())
}

func refOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
}

// origin returns the prefix of absolute links, without a trailing slash.
func (p *Site) origin(r *http.Request) string {
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

func redirect(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// checkOrigin rejects a form that another site has sent.
func (p *Site) checkOrigin(r *http.Request) error {
	if err := p.csrf.Check(r); err != nil {
		return herb.Wrap(herb.CodeForbidden, err, "the form was submitted from another site; open the page here and submit it again")
	}
	return nil
}

// publishPath matches the paths to which the form for a key may lead back.
var publishPath = regexp.MustCompile(`^` + pathPublish + `(/[a-z0-9-]{1,64})?$`)
