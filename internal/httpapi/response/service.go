package response

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// Service is what the responses of a server share: buffers, encoders, cached bodies, lanes and
// log. It is safe for concurrent use.
type Service struct {
	opts       Options
	buffers    sync.Pool // of *Buffer
	compressor *compressor
	bodies     *bodyCache
	shared     *sharedDocuments
}

// Options configures responses. All members are required.
type Options struct {
	Keys           Keys
	Admission      *admission.Controller
	Log            *slog.Logger
	Observe        func(Observation)                // called at the end of each request
	Starting       func(ctx context.Context) string // see httpapi.Options
	PageKey        func(r *http.Request) string     // the key that the browser stores for a page
	TrustedProxies []netip.Prefix                   // see clientAddress
	Stall          time.Duration                    // how long a client of a streamed body may stop reading
	RequestTimeout time.Duration                    // until a response is ready or an export starts
	UploadStall    time.Duration                    // how long a client may stop sending a file
}

// Keys authenticates keys.
type Keys interface {
	// Verify fails with herb.CodeUnauthenticated if the key is invalid; the message does not repeat
	// it. After too many invalid keys, their client gets herb.CodeRateLimited.
	Verify(ctx context.Context, secret string, client admission.Client) (herb.Principal, error)
}

// Observation describes a request for metrics. It contains nothing that a client chooses freely.
type Observation struct {
	Method string // "OTHER" for methods without a route
	Route  string // pattern of the route, or empty
	Status int    // 0 if the connection was aborted
	Bytes  int64  // of the body
	Took   time.Duration

	Tool       string // that the request calls; empty if it calls none
	ToolStatus int    // that the same request to the API would have had
}

func New(opts Options) *Service {
	return &Service{opts: opts, compressor: newCompressor(), bodies: newBodyCache(bodyCacheSize),
		shared: newSharedDocuments()}
}

// Route is what the response to a request depends on. The OpenAPI document describes the route,
// unless it is a page or has a protocol of its own.
type Route struct {
	Method   string
	Pattern  string // http.ServeMux pattern
	Path     string // the pattern in OpenAPI syntax
	Page     bool   // HTML page
	Protocol bool   // messages or documents of another protocol, which describes itself
	Cost     Cost
	// BearerOnly: the key is a bearer token, and sent in no other way.
	BearerOnly bool
}

// Cost is what a request costs, which decides the lane in which it runs.
type Cost int

// The costs of requests.
const (
	CostRead   Cost = iota // a query; files and long pages have lanes of their own, too
	CostProbe              // nothing: served under overload, too, and logged at debug level
	CostWrite              // a change, once its body was received
	CostUpload             // a file that is received
)

// NewWriter returns the response to a request, with the headers that all responses have.
func (s *Service) NewWriter(rw http.ResponseWriter, r *http.Request) *Writer {
	w := &Writer{
		ResponseWriter: rw, shared: s, start: time.Now(), id: requestID(r.Header), Path: r.URL.EscapedPath(),
		address: s.clientAddress(r),
	}
	w.values = w.storage[:0]
	connection.ExpectBody(r)
	w.Set("X-Request-Id", w.id)
	w.Set("X-Content-Type-Options", "nosniff")
	w.Set("Access-Control-Allow-Origin", "*")
	w.Set("Access-Control-Expose-Headers", corsExposedHeaders)
	if len(r.TransferEncoding) > 0 {
		// RFC 9112, section 6.1: close after a request with Content-Length and Transfer-Encoding.
		// net/http has removed the Content-Length, so every chunked request is treated as one; few
		// clients send them.
		w.Set("Connection", "close")
	}
	return w
}
