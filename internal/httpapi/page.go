package httpapi

import "net/http"

// page buffers an HTML page, so that a page that fails half-way is not sent. It is the http.ResponseWriter of page
// handlers.
type page struct {
	header http.Header
	status int
	body   []byte
}

func (p *page) Header() http.Header         { return p.header }
func (p *page) Write(b []byte) (int, error) { p.body = append(p.body, b...); return len(b), nil }
func (p *page) WriteHeader(status int)      { p.status = status }

// sendTo sends the page.
func (p *page) sendTo(w *response, r *http.Request) {
	contentType := contentHTML
	h := w.Header()
	for name, values := range p.header {
		if name == "Content-Type" {
			contentType = values[0]
			continue
		}
		h[name] = values
	}
	if p.status == http.StatusNotModified {
		w.setDefaultVary()
		w.WriteHeader(p.status)
		return
	}
	w.send(r, p.status, contentType, p.body)
}
