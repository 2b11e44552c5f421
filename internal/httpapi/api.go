package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/jobs"
	"herbarium/internal/library"
	"herbarium/internal/store"
	"herbarium/internal/upload"
)

// Plants creates plants.
type Plants interface {
	Create(ctx context.Context, c store.Creation) (store.Outcome, error)
}

// Keys authenticates keys.
type Keys interface {
	// Verify fails with herb.CodeUnauthenticated if the key is invalid; the message does not repeat
	// it. client is the network address of the sender; after too many invalid keys, it gets
	// herb.CodeRateLimited.
	Verify(ctx context.Context, secret, client string) (herb.Principal, error)
}

// Publishing is what publishing over HTTP needs.
type Publishing struct {
	Files     Files
	Jobs      Jobs
	Versions  Versions
	Publisher Publisher
}

// Files receives files.
type Files interface {
	// Receive stores a file until it is closed. size is -1 if it is not known.
	Receive(ctx context.Context, body io.Reader, name string, size int64) (*upload.File, error)
}

// Jobs publishes files in the background.
type Jobs interface {
	// Start publishes a file, and closes it.
	Start(ctx context.Context, r jobs.Request) (*jobs.Job, error)
	// Record returns the state of a publish on any node.
	Record(ctx context.Context, id string) (jobs.Record, error)
	// Restore returns the source that is kept with the live version as a file.
	Restore(ctx context.Context, ref herb.Ref) (*upload.File, error)
}

// Versions describes the versions of datasets, also to publishers who may not read them.
type Versions interface {
	// LiveVersion describes the live version; it has no version if there is none.
	LiveVersion(ctx context.Context, ref herb.Ref) (herb.Dataset, error)
	// Version describes a version; empty means the live one.
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	// History returns the kept versions, newest first.
	History(ctx context.Context, ref herb.Ref) ([]library.VersionInfo, error)
	// OpenSource returns the source that is kept with a version; empty means the live one.
	OpenSource(ctx context.Context, ref herb.Ref, version string) (io.ReadCloser, herb.Dataset, error)
}

// Publisher changes which version of a dataset is live. live is the version that must be live
// before; empty means any.
type Publisher interface {
	Rollback(ctx context.Context, ref herb.Ref, live, version string, allowExposure bool) (string, error)
	Remove(ctx context.Context, ref herb.Ref, live string) error
}

// Options configures an API.
type Options struct {
	Site
	Plants    Plants // nil: no plant store
	Keys      Keys
	Admission *admission.Controller
	Log       *slog.Logger
	Health    func() Health     // returns the last known health without blocking
	Observe   func(Observation) // called at the end of each request

	// Optional.
	Pages          Pages          // HTML pages; nil for none
	Publishing     *Publishing    // nil: publishing over HTTP is not possible
	TrustedProxies []netip.Prefix // whose X-Forwarded-For and Forwarded headers are believed; see clientAddress
	Stall          time.Duration  // how long a client of a streamed body may stop reading; 0 means DefaultStall
	RequestTimeout time.Duration  // until a response is ready or an export starts; 0 means DefaultRequestTimeout
	UploadStall    time.Duration  // how long a client may stop sending a file; 0 means DefaultUploadStall
	// Starting waits briefly until the server serves requests other than probes. It returns what
	// the server still does before, safe to show to clients, or empty; nil: it serves them at once.
	Starting func(ctx context.Context) string
}

// Defaults of Options.
const (
	// DefaultStall allows for the receive buffer of the client: the kernel of a client that reads
	// 100 kB/s reports no progress until half of a buffer of several MiB is read.
	DefaultStall          = 2 * time.Minute
	DefaultRequestTimeout = 5 * time.Second
	DefaultUploadStall    = 30 * time.Second
)

// listingHeaders is the number of headers of a listing, for which a response has room without
// another allocation.
const listingHeaders = 12

// Observation describes a request for metrics. It contains nothing that a client chooses freely.
type Observation struct {
	Method string // "OTHER" for methods without a route
	Route  string // pattern of the route, or empty
	Status int    // 0 if the connection was aborted
	Bytes  int64  // of the body
	Took   time.Duration
}

// API is the http.Handler of the service. It is safe for concurrent use.
type API struct {
	opts       Options
	base       string // path of the public URL, without a trailing slash
	routes     []route
	mux        *http.ServeMux
	buffers    sync.Pool // of *buffer
	compressor *compressor
	bodies     *bodyCache

	openAPIDocument atomic.Pointer[document]
	generating      *semaphore.Weighted // held by the request that generates it
}

// New returns an API.
func New(opts Options) (*API, error) {
	if opts.Library == nil || opts.Keys == nil || opts.Admission == nil || opts.Log == nil || opts.Health == nil || opts.Observe == nil {
		return nil, errors.New("httpapi: Library, Keys, Admission, Log, Health and Observe are required")
	}
	opts.Stall = cmp.Or(opts.Stall, DefaultStall)
	opts.RequestTimeout = cmp.Or(opts.RequestTimeout, DefaultRequestTimeout)
	opts.UploadStall = cmp.Or(opts.UploadStall, DefaultUploadStall)
	if opts.Starting == nil {
		opts.Starting = func(context.Context) string { return "" }
	}
	_, base, err := opts.ParsePublicURL()
	if err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	a := &API{opts: opts, base: base, compressor: newCompressor(), bodies: newBodyCache(bodyCacheSize), generating: semaphore.NewWeighted(1)}
	a.routes = a.routeTable()
	a.mux = a.newMux(a.routes)
	return a, nil
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if a.base != "" {
		r = a.withoutBase(r)
	}
	r, client := a.withClientAddress(r)
	w := &response{ResponseWriter: rw, api: a, start: time.Now(), id: requestID(r.Header), path: r.URL.EscapedPath(), address: client}
	w.values = w.storage[:0]
	expectBody(r)
	w.set("X-Request-Id", w.id)
	w.set("X-Content-Type-Options", "nosniff")
	w.set("Access-Control-Allow-Origin", "*")
	w.set("Access-Control-Expose-Headers", corsExposedHeaders)
	if len(r.TransferEncoding) > 0 {
		// RFC 9112, section 6.1: close after a request with Content-Length and Transfer-Encoding.
		// net/http has removed the Content-Length, so every chunked request is treated as one; few
		// clients send them.
		w.set("Connection", "close")
	}
	defer a.finish(w, r)
	switch {
	case r.URL.Path == "*" && r.Method == http.MethodOptions:
		w.options(r, allMethods)
	case !isCanonical(w.path):
		a.rejectPath(w, r)
	default:
		a.mux.ServeHTTP(w, r)
	}
}

// finish completes a request, whether its handler returned or panicked: it sends a response or
// aborts the connection, and logs the request.
func (a *API) finish(w *response, r *http.Request) {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		a.logPanic(w, r, p)
		if w.status == 0 {
			a.fail(w, r, errPanic)
		} else {
			p = http.ErrAbortHandler // a partial response must not look complete
		}
	}
	if p == http.ErrAbortHandler {
		w.status = 0 // the status sent is not valid
	}
	a.logRequest(w, r)
	if p == http.ErrAbortHandler {
		panic(p)
	}
}

var errPanic = errors.New("handler panicked")
