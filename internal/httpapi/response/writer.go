package response

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/admission"
	"herbarium/internal/etag"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// listingHeaders is the number of headers of a listing, for which a response has room without
// another allocation.
const listingHeaders = 12

// Writer is the http.ResponseWriter of all handlers. It also records what the request log and
// metrics need.
type Writer struct {
	http.ResponseWriter
	shared     *Service
	start      time.Time
	client     context.Context  // canceled when the client disconnects; has no deadline
	ticket     admission.Ticket // holds no slot if the request needs none
	deadline   *deadline
	pacer      pacer // with ticket and deadline
	id         string
	address    netip.Addr // of the client
	verified   verification
	Path       string       // of the request, escaped
	query      query.String // of the request; read it with QueryString
	isSplit    bool         // query is set
	Route      *Route       // nil if there is none
	APIPath    bool         // an API path, even without a route
	status     int          // 0 if nothing was sent
	bytes      int64
	err        error    // for the log only
	Private    bool     // the response may depend on the key of the client
	clientGone bool     // the client disconnected
	Call       ToolCall // what a message to POST /mcp has called; the zero value: nothing
	Immutable  bool     // the entity tag determines the body, so that its compressed forms may be cached

	values  []string               // of the headers; backed by storage until there are more than fit
	storage [listingHeaders]string // allocated together with the response
}

// QueryString returns the query string of the request. It is split at the first call, so that
// requests that wait for a slot do not hold its parameters.
func (w *Writer) QueryString(r *http.Request) query.String {
	if !w.isSplit {
		w.query, w.isSplit = query.Split(r.URL.RawQuery), true
	}
	return w.query
}

// Set sets a header. Its name must be in canonical form. Unlike http.Header.Set, it allocates the
// values of a response at once.
func (w *Writer) Set(name, value string) {
	w.values = append(w.values, value)
	last := len(w.values) - 1
	w.Header()[name] = w.values[last : last+1 : last+1]
}

// WriteHeader records the status, except for informational responses.
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write records the number of bytes written.
func (w *Writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// IsSent reports whether the response has started.
func (w *Writer) IsSent() bool { return w.status != 0 }

// Unwrap lets http.ResponseController access the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Content types of bodies.
const (
	ContentJSON = "application/json"
	ContentHTML = "text/html; charset=utf-8"
)

// Send sends a complete body, compressed if it is large enough and the client accepts it. Responses
// to HEAD have the same headers and no body.
func (w *Writer) Send(r *http.Request, status int, contentType string, body []byte) {
	h := w.Header()
	w.Set("Content-Type", contentType)
	w.SetVary(VaryEncoding)
	if c := chooseCoding(r.Header["Accept-Encoding"]); c != Identity && len(body) >= minCompress &&
		h["Content-Encoding"] == nil {
		key := bodyKey{coding: c}
		if w.Immutable { // errors have no tag, so they are not cached
			key.tag = h.Get("Etag")
		}
		buf, compressed := w.compress(r.Context(), key, body)
		defer buf.Free()
		if compressed != nil && len(compressed) < len(body) {
			body = compressed
			w.Set("Content-Encoding", c.String())
		}
	}
	w.Set("Content-Length", strconv.Itoa(len(body)))
	w.ticket.Release() // a slow client must not occupy a slot
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	err := connection.WriteBody(r.Context(), len(body), func() error {
		_, err := w.Write(body)
		return err
	})
	if err != nil && w.err == nil {
		w.err = err // only logged: the client is gone
	}
}

func (w *Writer) SendJSON(r *http.Request, v any) error {
	body, err := w.EncodeJSON(r.Context(), v)
	defer body.Free()
	if err == nil {
		w.Send(r, http.StatusOK, ContentJSON, body.Bytes())
	}
	return err
}

// compress returns a compressed body: from the cache, if the key has a tag, or in a buffer, which
// the caller must free. It returns no body if the budget has no room for an encoder and its output.
func (w *Writer) compress(ctx context.Context, key bodyKey, body []byte) (buf *Buffer, compressed []byte) {
	if key.tag != "" {
		if cached := w.shared.bodies.get(key); cached != nil {
			return nil, cached
		}
	}
	encoder := w.ticket.NewReservation()
	if !encoder.TryGrow(key.coding.encoderSize()) {
		return nil, nil
	}
	defer encoder.Release()
	buf = w.NewBuffer(ctx)
	out, finish := w.shared.compressor.stream(key.coding, buf)
	_, err := out.Write(body)
	err = errors.Join(err, finish())
	if err != nil {
		return buf, nil
	}
	if key.tag != "" {
		w.shared.bodies.add(key, buf.Bytes())
	}
	return buf, buf.Bytes()
}

// Vary headers: responses depend on the accepted encodings; records also on the accepted format
// and, if they require a key, on the key, which browsers send in a cookie.
const (
	VaryEncoding = "Accept-Encoding"
	VaryAccept   = "Accept, " + VaryEncoding
	VaryCookie   = "Cookie, " + VaryAccept
	varyKey      = "Authorization, X-API-Key, " + VaryAccept
)

// SetVary sets Vary, unless it is set: what a response depends on first has the longest list.
func (w *Writer) SetVary(headers string) {
	if w.Header()["Vary"] == nil {
		w.Set("Vary", headers)
	}
}

// SetKeyVary sets Vary for a response that depends on the key of the request.
func (w *Writer) SetKeyVary() {
	vary := varyKey
	if w.Route != nil && w.Route.Page { // the key is stored in the browser
		vary = VaryCookie
	}
	w.Set("Vary", vary)
}

// representation is incremented when a release changes the bytes of responses about unchanged
// records, so that clients fetch them again. Tags do not depend on the release otherwise: an
// upgrade does not invalidate what clients have.
const representation = "2"

// EntityTag returns the entity tag of the response to a request for records of a version, in its
// canonical form. Order and matches follow the text rules; all records in their own order do not.
func EntityTag(path, request, version, contentType string) string {
	if request == "" {
		return etag.New(representation, path, version, contentType)
	}
	return etag.New(representation, text.Rules(), path, request, version, contentType)
}

// NotModified sets the entity tag. It sends 304 if If-None-Match contains the tag, and reports
// whether it did.
func (w *Writer) NotModified(r *http.Request, tag string) bool {
	w.Set("Etag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.SetVary(VaryEncoding)
	w.WriteHeader(http.StatusNotModified)
	return true
}
