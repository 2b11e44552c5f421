package site

import (
	"context"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// Options are what all pages have in common. All are required.
type Options struct {
	httpapi.Site
	// with the folders assets, templates and swagger-ui
	Files        fs.FS
	SourceErrors func(ctx context.Context) ([]herb.SourceError, error) // errors of sources that could not be published
}

// Site renders pages with the shell, the templates and the assets of the site, and holds the keys
// of visitors. It is safe for concurrent use.
type Site struct {
	Opts   Options
	Files  fs.FS
	public *url.URL // nil: not configured
	Base   string   // path of the public URL, without a trailing slash
	// The first page prepares assets and templates, because they would make a start longer.
	assets    func() *assets
	templates func() map[string]*template.Template // by page
}

// New returns the site of a server.
func New(opts Options) (*Site, error) {
	public, base, err := opts.ParsePublicURL()
	if err != nil {
		return nil, err
	}
	p := &Site{Opts: opts, Files: opts.Files, public: public, Base: base}
	p.assets = sync.OnceValue(func() *assets { return newAssets(p.Files, p.Base) })
	p.templates = sync.OnceValue(p.parseTemplates)
	return p, nil
}

// Handlers returns the handlers of the assets and of the key of the site.
func (p *Site) Handlers() map[string]httpapi.PageHandler {
	page := func(serve func(*httpapi.Page, *http.Request) error) httpapi.PageHandler {
		return httpapi.PageHandler{Serve: serve}
	}
	saveKey := page(func(w *httpapi.Page, r *http.Request) error { return p.SaveKey(w, r, nil) })
	saveKey.TakesKey = true
	return map[string]httpapi.PageHandler{
		"GET " + pathKey:                   page(p.siteKey),
		"POST " + pathKey:                  saveKey,
		"POST " + pathKey + "/forget":      page(p.DeleteKey),
		"GET /assets/{fingerprint}/{file}": page(p.asset),
	}
}

// The paths that pages link to.
const (
	PathCatalogue = "/"
	PathDocs      = "/docs"
	PathDCAT      = "/catalog.jsonld"
	PathOpenAPI   = "/openapi.json"
	PathDatasets  = "/datasets/"
	pathKey       = "/key"
	PathPublish   = "/publish"
	PathAPI       = "/api/v1/"
)

// ParamNamespace is the parameter of the catalogue that selects a namespace.
const ParamNamespace = "namespace"

func (p *Site) DatasetPath(ref herb.Ref) string { return p.Base + PathDatasets + ref.String() }

// CatalogueHref returns the link to the datasets that match a parameter.
func (p *Site) CatalogueHref(param, value string) string {
	return state.Join(p.Base+PathCatalogue, query.Params{{Name: param, Value: value}}.Encode())
}

func RefOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
}

// Origin returns the prefix of absolute links, without a trailing slash.
func (p *Site) Origin(r *http.Request) string { return p.Opts.Origin(r) }

func Redirect(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// PublishPath matches the paths to which the form for a key may lead back.
var PublishPath = regexp.MustCompile(`^` + PathPublish + `(/[a-z0-9-]{1,64})?$`)
