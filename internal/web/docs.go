package web

import "net/http"

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
