package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/swaggest/swgui/v5/static"

	"herbarium/internal/herb"
)

// docsPolicy is that of the viewer of the OpenAPI document: it sets styles from its script and brings images within its
// style sheet.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// docs answers with the whole interface, shown by a viewer that reads the OpenAPI document.
func (p *Pages) docs(w http.ResponseWriter, r *http.Request) error {
	l := p.layout(r, "The API", "Every operation of the API, to read and to try.")
	l.Current, l.Canonical = "docs", p.origin(r)+pathDocs
	if err := p.render(w, "docs", http.StatusOK, l, struct{ Base, Document string }{p.base, p.base + pathOpenAPI}); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", docsPolicy)
	return nil
}

// docsAsset answers with a file of the viewer. They are kept compressed, and sent so to all who take that.
func (p *Pages) docsAsset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	types := map[string]string{"swagger-ui.css": "text/css; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8"}
	contentType, ok := types[name]
	if !ok {
		return herb.Errorf(herb.CodeNotFound, "there is no %q here; the interface is at %s%s", clip(name, 60), p.base, pathDocs)
	}
	packed, err := static.FS.ReadFile(path.Base(name) + ".gz")
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "public, max-age=86400")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, err = w.Write(packed)
		return err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, unpacked)
	return err
}
