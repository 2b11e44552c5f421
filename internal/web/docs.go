package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"

	"herbarium/internal/herb"
)

// swaggerUI contains only the files that are served, compressed.
//
//go:embed swagger-ui/*.gz
var swaggerUI embed.FS

// docsPolicy is the content security policy of the viewer: its script sets inline styles, and its style sheet contains
// images.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// docs serves the viewer of the OpenAPI document.
func (p *Pages) docs(w http.ResponseWriter, r *http.Request) error {
	l := p.layout(r, "API", "All operations of the API, to read and to try.")
	l.Current, l.Canonical = "docs", p.origin(r)+pathDocs
	if err := p.render(w, "docs", http.StatusOK, l, struct{ Base, Document string }{p.base, p.base + pathOpenAPI}); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", docsPolicy)
	return nil
}

// docsAsset serves a file of the viewer, compressed if the client accepts that.
func (p *Pages) docsAsset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	types := map[string]string{"swagger-ui.css": "text/css; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8"}
	contentType, ok := types[name]
	if !ok {
		return herb.Errorf(herb.CodeNotFound, "no such file %q; the API viewer is at %s%s", herb.Clip(name, 60), p.base, pathDocs)
	}
	compressed, err := swaggerUI.ReadFile("swagger-ui/" + name + ".gz")
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "public, max-age=86400")
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		_, err = w.Write(compressed)
		return err
	}
	plain, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, plain)
	return err
}
