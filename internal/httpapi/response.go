package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/etag"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// response is the http.ResponseWriter of all handlers. It also records what the request log and
// metrics need.
type response struct {
	http.ResponseWriter
	api        *API
	start      time.Time
	client     context.Context  // canceled when the client disconnects; has no deadline
	ticket     admission.Ticket // holds no slot if the request needs none
	id         string
	address    netip.Addr // of the client
	verified   verification
	path       string       // of the request, escaped
	query      query.String // of the request; read it with queryString
	isSplit    bool         // query is set
	route      *route       // nil if there is none
	apiPath    bool         // an API path, even without a route
	status     int          // 0 if nothing was sent
	bytes      int64
	err        error // for the log only
	private    bool  // the response may depend on the key of the client
	clientGone bool  // the client disconnected
	immutable  bool  // the entity tag determines the body, so that its compressed forms may be cached

	values  []string               // of the headers; backed by storage until there are more than fit
	storage [listingHeaders]string // allocated together with the response
}

// queryString returns the query string of the request. It is split at the first call, so that
// requests that wait for a slot do not hold its parameters.
func (w *response) queryString(r *http.Request) query.String {
	if !w.isSplit {
		w.query, w.isSplit = query.Split(r.URL.RawQuery), true
	}
	return w.query
}

// set sets a header. Its name must be in canonical form. Unlike http.Header.Set, it allocates the
// values of a response at once.
func (w *response) set(name, value string) {
	w.values = append(w.values, value)
	last := len(w.values) - 1
	w.Header()[name] = w.values[last : last+1 : last+1]
}

// WriteHeader records the status, except for informational responses.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write records the number of bytes written.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController access the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Content types of bodies.
const (
	contentJSON = "application/json"
	contentHTML = "text/html; charset=utf-8"
)

// send sends a complete body, compressed if it is large enough and the client accepts it. Responses
// to HEAD have the same headers and no body.
func (w *response) send(r *http.Request, status int, contentType string, body []byte) {
	h := w.Header()
	w.set("Content-Type", contentType)
	w.setVary(varyEncoding)
	if c := chooseCoding(r.Header["Accept-Encoding"]); c != identity && len(body) >= minCompress && h["Content-Encoding"] == nil {
		key := bodyKey{coding: c}
		if w.immutable { // errors have no tag, so they are not cached
			key.tag = h.Get("Etag")
		}
		buf, compressed := w.compress(r.Context(), key, body)
		defer buf.free()
		if compressed != nil && len(compressed) < len(body) {
			body = compressed
			w.set("Content-Encoding", c.String())
		}
	}
	w.set("Content-Length", strconv.Itoa(len(body)))
	w.ticket.Release() // a slow client must not occupy a slot
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := w.Write(body); err != nil && w.err == nil {
		w.err = err // only logged: the client is gone
	}
}

func (w *response) sendJSON(r *http.Request, v any) error {
	body, err := w.encodeJSON(r.Context(), v)
	defer body.free()
	if err == nil {
		w.send(r, http.StatusOK, contentJSON, body.Bytes())
	}
	return err
}

// compress returns a compressed body: from the cache, if the key has a tag, or in a buffer, which
// the caller must free. It returns no body if the budget has no room for an encoder and its output.
func (w *response) compress(ctx context.Context, key bodyKey, body []byte) (buf *buffer, compressed []byte) {
	if key.tag != "" {
		if cached := w.api.bodies.get(key); cached != nil {
			return nil, cached
		}
	}
	encoder := w.ticket.NewReservation()
	if !encoder.TryGrow(key.coding.encoderSize()) {
		return nil, nil
	}
	defer encoder.Release()
	buf = w.newBuffer(ctx)
	out, finish := w.api.compressor.stream(key.coding, buf)
	_, err := out.Write(body)
	if err = errors.Join(err, finish()); err != nil {
		return buf, nil
	}
	if key.tag != "" {
		w.api.bodies.add(key, buf.Bytes())
	}
	return buf, buf.Bytes()
}

// options responds to OPTIONS. A CORS preflight permits any origin, because browsers send no
// cookies with such requests, and a key only if the script has it.
func (w *response) options(r *http.Request, allow string) {
	w.set("Allow", allow)
	if isPreflight(r) {
		w.set("Access-Control-Allow-Methods", allow)
		w.set("Access-Control-Allow-Headers", corsRequestHeaders)
		w.set("Access-Control-Max-Age", "86400") // seconds; many browsers use less
	}
	w.WriteHeader(http.StatusNoContent)
}

// Vary headers: responses depend on the accepted encodings; records also on the accepted format
// and, if they require a key, on the key, which browsers send in a cookie.
const (
	varyEncoding = "Accept-Encoding"
	varyAccept   = "Accept, " + varyEncoding
	varyCookie   = "Cookie, " + varyAccept
	varyKey      = "Authorization, X-API-Key, " + varyAccept
)

// setVary sets Vary, unless it is set: what a response depends on first has the longest list.
func (w *response) setVary(headers string) {
	if w.Header()["Vary"] == nil {
		w.set("Vary", headers)
	}
}

// setKeyVary sets Vary for a response that depends on the key of the request.
func (w *response) setKeyVary() {
	vary := varyKey
	if w.route != nil && w.route.page { // the key is stored in the browser
		vary = varyCookie
	}
	w.set("Vary", vary)
}

// representation is incremented when a release changes the bytes of responses about unchanged
// records, so that clients fetch them again. Tags do not depend on the release otherwise: an
// upgrade does not invalidate what clients have.
const representation = "1"

// entityTag returns the entity tag of the response to a request for records of a version, in its
// canonical form. Order and matches follow the text rules; all records in their own order do not.
func entityTag(path, request, version, contentType string) string {
	if request == "" {
		return etag.New(representation, path, version, contentType)
	}
	return etag.New(representation, text.Rules(), path, request, version, contentType)
}

// notModified sets the entity tag. It sends 304 if If-None-Match contains the tag, and reports
// whether it did.
func (w *response) notModified(r *http.Request, tag string) bool {
	w.set("Etag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.setVary(varyEncoding)
	w.WriteHeader(http.StatusNotModified)
	return true
}

// bodyTimeout is the time limit for receiving the body of a request. Bodies are small: a plant or a
// form.
const bodyTimeout = 5 * time.Second

// readBody reads a body of at most limit bytes into a buffer, which the caller must free. It runs
// before the request acquires a slot of any lane, so that slow senders occupy only a connection and
// what they have sent.
func readBody(w *response, r *http.Request, limit int64) (body *buffer, err error) {
	control := http.NewResponseController(w.ResponseWriter)
	body = w.newBuffer(r.Context())
	if r.ContentLength <= limit {
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))       // not supported by the writers of tests
		if err = body.Grow(int(max(0, r.ContentLength))); err == nil { // a body without room is not read at all
			_, err = body.ReadFrom(io.LimitReader(receivedBody(r), limit+1))
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = herb.Wrap(herb.CodeInvalid, err, "the body was not received within %s; send it again", bodyTimeout)
	case herb.CodeOf(err) == herb.CodeUnavailable: // the budget is used up
	case err != nil:
		err = herb.Wrap(herb.CodeInvalid, err, "the body ends early or its chunks are malformed; send all of it")
	case max(r.ContentLength, int64(body.Len())) > limit:
		err = herb.Invalidf("the body exceeds %d bytes", limit)
	default:
		_ = control.SetReadDeadline(time.Time{})
		return body, nil
	}
	body.free()
	w.set("Connection", "close") // the rest is not read
	return nil, err
}
