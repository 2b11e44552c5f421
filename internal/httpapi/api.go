package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/store"
)

// Library is where datasets are found: the published ones and the living one.
type Library interface {
	// Acquire returns a dataset as it is now, herb.CodeNotFound if there is none.
	Acquire(ctx context.Context, ref herb.Ref) (library.Snapshot, error)
	// Datasets describes what there is now, ordered by ref.
	Datasets(ctx context.Context) ([]herb.Dataset, error)
}

// Plants is where plants are created.
type Plants interface {
	Create(ctx context.Context, c store.Creation) (store.Outcome, error)
}

// Keys finds out who a secret belongs to.
type Keys interface {
	// Verify fails with herb.CodeUnauthenticated, in words that do not repeat the secret, if it is of no use.
	// client is the network address that sent it; one that sends too many gets herb.CodeRateLimited.
	Verify(ctx context.Context, secret, client string) (herb.Principal, error)
}

// Options of an API. Library, Plants and Keys are required.
type Options struct {
	Library Library
	Plants  Plants
	Keys    Keys

	Pages          Pages                 // for people; nil: none
	PublicURL      string                // where clients find the service; empty: unknown
	Health         func() Health         // how the parts are, without asking them; nil: all is well
	Stall          time.Duration         // how long a client may take nothing of a streamed body; 0: DefaultStall
	Admission      *admission.Controller // nil: one with admission.DefaultLimits
	RequestTimeout time.Duration         // until a response is ready, or an export begins; 0: DefaultRequestTimeout
	Version        string                // of the program; entity tags change with it
	Now            func() time.Time      // nil: time.Now
	Log            *slog.Logger          // nil: no log
	Observe        func(Observation)     // called at the end of each request; nil: nobody looks
}

// The defaults of Options.
const (
	// DefaultStall allows for the receive buffer of the client: the kernel of a client that reads 100 kB/s announces no
	// progress until half of a buffer of several MiB is read.
	DefaultStall          = 2 * time.Minute
	DefaultRequestTimeout = 5 * time.Second
	defaultMemory         = 1 << 30
)

// Observation is what a metric may know of a request: nothing that a client chose freely.
type Observation struct {
	Method string // "OTHER" for one that no route has
	Route  string // pattern of the route, empty without one
	Status int    // 0: the connection was cut
	Bytes  int64  // of the body
	Took   time.Duration
}

// API answers requests. It is an http.Handler, safe for use by any number of goroutines.
type API struct {
	opts       Options
	base       string // path under which clients find the service, without a slash at its end
	routes     []route
	mux        *http.ServeMux
	buffers    *buffers
	compressor *compressor
	document   atomic.Pointer[document]
}

// New returns an API over its parts.
func New(opts Options) (*API, error) {
	if opts.Library == nil || opts.Plants == nil || opts.Keys == nil {
		return nil, errors.New("httpapi: Library, Plants and Keys are required")
	}
	opts.Stall = cmp.Or(opts.Stall, DefaultStall)
	opts.RequestTimeout = cmp.Or(opts.RequestTimeout, DefaultRequestTimeout)
	if opts.Admission == nil {
		var err error
		limits := admission.DefaultLimits(runtime.GOMAXPROCS(0), defaultMemory)
		opts.Admission, err = admission.New(admission.Options{Limits: limits})
		if err != nil {
			return nil, err
		}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c, err := newCompressor()
	if err != nil {
		return nil, err
	}
	a := &API{opts: opts, buffers: &buffers{}, compressor: c}
	if a.base, err = basePath(opts.PublicURL); err != nil {
		return nil, fmt.Errorf("httpapi: PublicURL: %w", err)
	}
	a.routes = a.table()
	a.mux = a.newMux(a.routes)
	return a, nil
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if a.base != "" {
		r = a.withoutBase(r)
	}
	w := &response{
		ResponseWriter: rw, compressor: a.compressor, buffers: a.buffers, start: a.opts.Now(), id: requestID(r.Header),
	}
	h := w.Header()
	h.Set("X-Request-Id", w.id)
	h.Set("X-Content-Type-Options", "nosniff")
	if sharesWithOrigins(r.URL.Path) {
		h.Set("Access-Control-Allow-Origin", allOrigins)
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
	}
	if len(r.TransferEncoding) > 0 {
		// RFC 9112, section 6.1: close after a request with Content-Length and Transfer-Encoding. net/http has removed the
		// Content-Length, so every chunked request is taken for one; few clients send them.
		h.Set("Connection", "close")
	}
	defer a.finish(w, r)
	switch {
	case r.URL.Path == "*" && r.Method == http.MethodOptions:
		w.options(allMethods)
	case !isCanonical(r.URL):
		a.fail(w, r, a.nothingAt(r))
	default:
		a.mux.ServeHTTP(w, r)
	}
}

// finish ends a request, whether its handler returned or panicked: the client gets an answer or a cut connection, and
// the log gets its line.
func (a *API) finish(w *response, r *http.Request) {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		a.logPanic(w, r, p)
		if w.status == 0 {
			a.fail(w, r, errPanic)
		} else {
			p = http.ErrAbortHandler // half an answer must not look like a whole one
		}
	}
	if p == http.ErrAbortHandler {
		w.status = 0 // whatever it was, it does not hold
	}
	a.logRequest(w, r)
	if p == http.ErrAbortHandler {
		panic(p)
	}
}

var errPanic = errors.New("a handler panicked")
