package httpapi

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// response is the writer that every handler gets. It knows what the log line will tell.
type response struct {
	http.ResponseWriter
	compressor *compressor
	buffers    *buffers
	start      time.Time
	id         string
	route      *route   // nil: none was found
	machine    bool     // the path is for machines, although no route answers
	ref        herb.Ref // the dataset that plainListing found; empty if it found none
	status     int      // 0: nothing was sent
	bytes      int64
	err        error // what failed, for the log alone
	gone       bool  // and that it was the client that did not take the answer
	headers    headerList
	length     [1]string // room for the one header that sendAhead leaves to net/http
}

// responses are reused from request to request: nobody has one when its request is finished.
type responses struct{ pool sync.Pool }

// get returns an empty response.
func (s *responses) get() *response {
	if w, ok := s.pool.Get().(*response); ok {
		return w
	}
	return new(response)
}

// put takes a response back and empties it.
func (s *responses) put(w *response) {
	*w = response{}
	s.pool.Put(w)
}

// WriteHeader notes the status. Informational responses are not the answer and are not noted.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.headers.copyTo(w.Header())
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
	w.headers.set("Content-Type", contentType)
	w.varyByEncoding()
	if len(body) >= minCompress && w.headers.get("Content-Encoding") == "" {
		if c := chooseCoding(r.Header["Accept-Encoding"]); c != identity {
			buf := w.buffers.get()
			defer w.buffers.put(buf)
			*buf = w.compressor.append(*buf, c, body)
			if len(*buf) < len(body) {
				body = *buf
				w.headers.set("Content-Encoding", c.header())
			}
		}
	}
	w.headers.set("Content-Length", strconv.Itoa(len(body)))
	if c := connOf(r); c != nil && r.Method == http.MethodGet {
		w.sendAhead(c, status, body)
		return
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.write(body)
	}
}

// sendAhead sends an answer past the buffer of net/http, which would cut it in two, and past its map of headers, which
// it would copy and sort: measured together, a quarter of the processor time of a listing.
func (w *response) sendAhead(c *conn, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = nil // present, so that net/http does not guess, and empty: the line is ours
	w.length[0] = w.headers.take("Content-Length")
	h["Content-Length"] = w.length[:] // known to net/http, so that it leaves the body in one piece
	c.announce(w.headers.all(), body)
	w.status = status
	w.ResponseWriter.WriteHeader(status)
	w.write(body)
	if c.waiting { // it fits into the buffers of net/http, and body will not be ours when they are emptied
		if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil && w.err == nil {
			w.err = err
		}
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
	varyEncoding          = "Accept-Encoding"
	varyAccept            = "Accept"
	varyAcceptAndEncoding = "Accept, Accept-Encoding"
	varyCookie            = "Cookie, Accept"
	varyCookieAndEncoding = "Cookie, Accept, Accept-Encoding"
	varyKey               = "Authorization, X-API-Key, Accept"
	varyKeyAndEncoding    = "Authorization, X-API-Key, Accept, Accept-Encoding"
)

// varyByEncoding notes that a body may come in several encodings.
func (w *response) varyByEncoding() {
	switch w.headers.get("Vary") {
	case varyAccept:
		w.headers.set("Vary", varyAcceptAndEncoding)
	case varyKey:
		w.headers.set("Vary", varyKeyAndEncoding)
	case varyCookie:
		w.headers.set("Vary", varyCookieAndEncoding)
	default:
		w.headers.set("Vary", varyEncoding)
	}
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
