package httpapi

import "net/http"

// page gathers what a page writes: a page that fails half-way is not sent at all.
type page struct {
	response *response
	request  *http.Request
	header   http.Header
	status   int
	body     []byte
	kept     []keptPiece

	begun    coding // of what was sent; only if sent is not 0
	sent     int    // how much of body
	sentKept int    // how many of kept
}

// newPage returns a page that writes into buf.
func newPage(w *response, r *http.Request, buf []byte) *page {
	return &page{response: w, request: r, header: http.Header{}, status: http.StatusOK, body: buf}
}

func (p *page) Header() http.Header         { return p.header }
func (p *page) Write(b []byte) (int, error) { p.body = append(p.body, b...); return len(b), nil }
func (p *page) WriteHeader(status int)      { p.status = status }

// WriteKept writes a piece of the page that was compressed before: deflated is the same in the DEFLATE format, up to a
// boundary of bytes and without an end.
func (p *page) WriteKept(plain, deflated []byte) (int, error) {
	p.kept = append(p.kept, keptPiece{len(p.body), len(p.body) + len(plain), deflated})
	return p.Write(plain)
}

// Flush sends what was written so far, so that a browser has it and fetches what it names while the rest is written. From
// then on the page must not fail. It does nothing where the page is compressed as a whole.
func (p *page) Flush() {
	if p.sent > 0 || len(p.body) == 0 || p.request.Method != http.MethodGet {
		return
	}
	w := p.response
	accepted := p.request.Header["Accept-Encoding"]
	switch {
	case len(p.kept) > 0 && prefersGzip(accepted):
		p.begun = codingGzip
	case chooseCoding(accepted) == identity:
		p.begun = identity
	default:
		return
	}
	w.headers.set("Content-Type", p.copyHeader())
	w.varyByEncoding()
	if p.begun == codingGzip {
		w.headers.set("Content-Encoding", codingGzip.header())
	}
	w.WriteHeader(p.status)
	p.pass(gzipHead)
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil && w.err == nil {
		w.err = err
	}
}

// pass sends what was not sent yet of a page that has begun, behind head if that is compressed.
func (p *page) pass(head string, tail ...byte) {
	body := p.body[p.sent:]
	if p.begun == codingGzip {
		buf := p.response.buffers.get()
		defer p.response.buffers.put(buf)
		*buf = append(p.response.compressor.splice(append(*buf, head...), p.body, p.sent, p.kept[p.sentKept:]), tail...)
		body = *buf
	}
	p.response.write(body)
	p.sent, p.sentKept = len(p.body), len(p.kept)
}

// end sends what is left of a page.
func (p *page) end() {
	if p.sent > 0 {
		p.pass("", endGzip(nil, p.body)...)
		return
	}
	w := p.response
	contentType := p.copyHeader()
	if p.status == http.StatusNotModified {
		w.varyByEncoding()
		w.WriteHeader(p.status)
		return
	}
	body := p.body
	if len(p.kept) > 0 && prefersGzip(p.request.Header["Accept-Encoding"]) {
		buf := w.buffers.get()
		defer w.buffers.put(buf)
		*buf = endGzip(w.compressor.splice(append(*buf, gzipHead...), body, 0, p.kept), body)
		body = *buf
		w.headers.set("Content-Encoding", codingGzip.header())
	}
	w.send(p.request, p.status, contentType, body)
}

// copyHeader hands the headers of the page on, and returns the type of its body.
func (p *page) copyHeader() (contentType string) {
	contentType = contentHTML
	w := p.response
	h := w.Header()
	for name, values := range p.header {
		switch name {
		case "Content-Type":
			contentType = values[0]
		case "Vary", "Cache-Control", "Content-Encoding":
			w.headers.set(name, values[0])
		default:
			h[name] = values
		}
	}
	return contentType
}
