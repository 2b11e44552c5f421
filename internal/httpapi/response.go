package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"herbarium/internal/admission"
)

// response is the writer that every handler gets. It knows what the log line will tell.
type response struct {
	http.ResponseWriter
	compressor *compressor
	buffers    *buffers
	start      time.Time
	client     context.Context   // ends when the client leaves, and has no deadline
	ticket     *admission.Ticket // nil: the request needs no slot
	id         string
	route      *route // nil: none was found
	machine    bool   // the path is for machines, although no route answers
	status     int    // 0: nothing was sent
	bytes      int64
	err        error // what failed, for the log alone
	gone       bool  // and that it was the client that did not take the answer
}

// WriteHeader notes the status. Informational responses are not the answer and are not noted.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes how much was written.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// The types of bodies.
const (
	contentJSON = "application/json"
	contentHTML = "text/html; charset=utf-8"
)

// send answers with a complete body, compressed if that pays and the client takes it. An answer to HEAD has the same
// headers and no body.
func (w *response) send(r *http.Request, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	w.varyByEncoding()
	if len(body) >= minCompress && h.Get("Content-Encoding") == "" {
		if c := chooseCoding(r.Header["Accept-Encoding"]); c != identity {
			buf := w.buffers.get()
			defer w.buffers.put(buf)
			*buf = w.compressor.append(*buf, c, body)
			if len(*buf) < len(body) {
				body = *buf
				h.Set("Content-Encoding", c.header())
			}
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if w.ticket != nil {
		w.ticket.Release() // a slow client must not hold a slot
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.write(body)
	}
}

// write writes a body. That it failed is for the log alone: there is nobody left to tell.
func (w *response) write(body []byte) {
	if _, err := w.Write(body); err != nil && w.err == nil {
		w.err = err
	}
}

// options answers OPTIONS.
func (w *response) options(allow string) {
	w.Header().Set("Allow", allow)
	w.WriteHeader(http.StatusNoContent)
}

// What decides an answer beside the URL: the encodings that the client takes; of records also the format it asks for, and
// of those that need a key the key, which a browser keeps in a cookie.
const (
	varyEncoding = "Accept-Encoding"
	varyAccept   = "Accept"
	varyCookie   = "Cookie, Accept"
	varyKey      = "Authorization, X-API-Key, Accept"
)

// varyByEncoding notes that a body may come in several encodings.
func (w *response) varyByEncoding() {
	h := w.Header()
	vary := varyEncoding
	if other := h.Get("Vary"); other != "" {
		vary = other + ", " + varyEncoding
	}
	h.Set("Vary", vary)
}

// buffers are reused from answer to answer.
type buffers struct{ pool sync.Pool }

// maxKeptBuffer is the largest buffer that is kept: one giant answer must not hold its memory for ever.
const maxKeptBuffer = 1 << 20

// get returns an empty buffer.
func (b *buffers) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		*buf = (*buf)[:0]
		return buf
	}
	return new(make([]byte, 0, 16<<10))
}

// put takes a buffer back.
func (b *buffers) put(buf *[]byte) {
	if cap(*buf) <= maxKeptBuffer {
		b.pool.Put(buf)
	}
}
