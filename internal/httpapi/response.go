package httpapi

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// response is the writer that every handler gets. It knows what the log line will tell.
type response struct {
	http.ResponseWriter
	compressor *compressor
	buffers    *buffers
	start      time.Time
	id         string
	route      *route // nil: none was found
	status     int    // 0: nothing was sent
	bytes      int64
	err        error // what failed, for the log alone
	gone       bool  // and that it was the client that did not take the answer

	values [4]string // room for the values of headers that differ from answer to answer
	used   int
}

// set sets a header. The first few cost nothing.
func (w *response) set(name, value string) {
	if w.used == len(w.values) {
		w.Header()[name] = []string{value}
		return
	}
	v := w.values[w.used : w.used+1 : w.used+1]
	v[0] = value
	w.Header()[name] = v
	w.used++
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
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// The types of bodies.
var (
	contentJSON = []string{"application/json"}
	contentHTML = []string{"text/html; charset=utf-8"}
)

// send answers with a complete body, compressed if that pays and the client takes it. An answer to HEAD has the same
// headers and no body.
func (w *response) send(r *http.Request, status int, contentType []string, body []byte) {
	h := w.Header()
	h["Content-Type"] = contentType
	varyByEncoding(h)
	if len(body) >= minCompress {
		if c := chooseCoding(r.Header["Accept-Encoding"]); c != identity {
			buf := w.buffers.get()
			defer w.buffers.put(buf)
			*buf = w.compressor.append(*buf, c, body)
			if len(*buf) < len(body) {
				body = *buf
				h["Content-Encoding"] = c.header()
			}
		}
	}
	w.set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		if _, err := w.Write(body); err != nil && w.err == nil {
			w.err = err
		}
	}
}

// options answers OPTIONS.
func (w *response) options(allow string) {
	w.Header().Set("Allow", allow)
	w.WriteHeader(http.StatusNoContent)
}

// What decides an answer beside the URL: the encodings that the client takes; of records also the format it asks for, and
// of those that need a key the key.
var (
	varyEncoding          = []string{"Accept-Encoding"}
	varyAccept            = []string{"Accept"}
	varyAcceptAndEncoding = []string{"Accept, Accept-Encoding"}
	varyKey               = []string{"Authorization, X-API-Key, Accept"}
	varyKeyAndEncoding    = []string{"Authorization, X-API-Key, Accept, Accept-Encoding"}
)

// varyByEncoding notes that a body may come in several encodings.
func varyByEncoding(h http.Header) {
	switch v := h["Vary"]; {
	case len(v) == 0:
		h["Vary"] = varyEncoding
	case v[0] == varyAccept[0]:
		h["Vary"] = varyAcceptAndEncoding
	case v[0] == varyKey[0]:
		h["Vary"] = varyKeyAndEncoding
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
