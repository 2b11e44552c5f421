package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"herbarium/internal/httpapi/agents"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/httpapi/reading"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/admission"
	"herbarium/internal/httpapi/openapi"
	"herbarium/internal/store"
)

// Plants creates plants.
type Plants interface {
	Create(ctx context.Context, c store.Creation) (store.Outcome, error)
}

// Options configures an API.
type Options struct {
	Site
	Plants    Plants // nil: no plant store
	Keys      response.Keys
	Admission *admission.Controller
	Log       *slog.Logger
	Health    func() Health              // returns the last known health without blocking
	Observe   func(response.Observation) // called at the end of each request

	// Optional.
	Pages      Pages                // HTML pages; nil for none
	Publishing *publishing.Services // nil: publishing over HTTP is not possible
	// whose X-Forwarded-For and Forwarded headers are believed; see response.Service
	TrustedProxies []netip.Prefix
	Stall          time.Duration // how long a client of a streamed body may stop reading; 0 means DefaultStall
	RequestTimeout time.Duration // until a response is ready or an export starts; 0 means DefaultRequestTimeout
	UploadStall    time.Duration // how long a client may stop sending a file; 0 means DefaultUploadStall
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

// API is the http.Handler of the service. It is safe for concurrent use.
type API struct {
	opts       Options
	base       string // path of the public URL, without a trailing slash
	routes     []route
	mux        *http.ServeMux
	responses  *response.Service
	gate       *gate.Gate
	origins    *http.CrossOriginProtection // of forms, and of publishes with a password
	reading    *reading.Handlers
	publishing *publishing.Handlers
	agents     *agents.Handlers
}

// New returns an API.
func New(opts Options) (*API, error) {
	if opts.Library == nil || opts.Keys == nil || opts.Admission == nil || opts.Log == nil || opts.Health == nil ||
		opts.Observe == nil {
		return nil, errors.New("httpapi: Library, Keys, Admission, Log, Health and Observe are required")
	}
	opts.Stall = cmp.Or(opts.Stall, DefaultStall)
	opts.RequestTimeout = cmp.Or(opts.RequestTimeout, DefaultRequestTimeout)
	opts.UploadStall = cmp.Or(opts.UploadStall, DefaultUploadStall)
	if opts.Starting == nil {
		opts.Starting = func(context.Context) string { return "" }
	}
	public, base, err := opts.ParsePublicURL()
	if err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	a := &API{opts: opts, base: base, gate: gate.New(opts.Library, opts.Keys), origins: http.NewCrossOriginProtection()}
	if public != nil {
		if err := a.origins.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
			return nil, fmt.Errorf("httpapi: public URL: %w", err)
		}
	}
	a.responses = response.New(response.Options{
		Keys: opts.Keys, Admission: opts.Admission, Log: opts.Log, Observe: opts.Observe, Starting: opts.Starting,
		PageKey: a.pageKey, TrustedProxies: opts.TrustedProxies,
		Stall: opts.Stall, RequestTimeout: opts.RequestTimeout, UploadStall: opts.UploadStall,
	})
	var fetches reading.Fetches
	if opts.Publishing != nil {
		fetches = opts.Publishing.Fetches
	}
	a.reading = reading.New(reading.Options{
		Gate: a.gate, Library: opts.Library, Base: base, PublicURL: opts.PublicURL, SearchBudget: opts.SearchBudget,
		Changes: opts.Changes,
		Origin:  opts.Origin, History: opts.History, Fetches: fetches,
		Features: openapi.Features{Plants: opts.Plants != nil, Publishing: opts.Publishing != nil},
	})
	if opts.Publishing != nil {
		a.publishing = publishing.New(publishing.Options{Services: *opts.Publishing, Gate: a.gate,
			CrossOrigin: a.origins, Base: base, RequestTimeout: opts.RequestTimeout})
	}
	a.agents = agents.New(agents.Options{
		Gate: a.gate, Library: opts.Library, Origin: opts.Origin, Serves: a.serves,
		SearchBudget: opts.SearchBudget, Version: opts.Version,
	})
	a.routes = a.routeTable()
	a.mux = a.newMux(a.routes)
	return a, nil
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if a.base != "" {
		r = a.withoutBase(r)
	}
	w := a.responses.NewWriter(rw, r)
	defer func() { w.Finish(r, recover(), func(err error) { a.fail(w, r, err) }) }()
	switch {
	case r.URL.Path == "*" && r.Method == http.MethodOptions:
		w.Options(r, response.AllMethods)
	case !isCanonical(w.Path):
		a.rejectPath(w, r)
	default:
		a.mux.ServeHTTP(w, r)
	}
}
