package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Site configures what the API and the pages have in common. Library is required.
type Site struct {
	Library gate.Library
	// PrivateCatalog: datasets that require a key do not exist for clients without one that may
	// read them. Library is a library.Private, which needs to know the reader of each request.
	PrivateCatalog bool
	PublicURL      string        // base URL for clients, such as https://example.org/data; empty if unknown
	SearchBudget   time.Duration // of a search across datasets; 0 means one second
	Version        string        // of the program; part of entity tags
}

// ParsePublicURL returns the public URL, nil if it is unknown, and its path without a trailing
// slash.
func (s Site) ParsePublicURL() (public *url.URL, base string, err error) {
	if s.PublicURL == "" {
		return nil, "", nil
	}
	public, err = url.Parse(s.PublicURL)
	if err != nil || public.Host == "" {
		return nil, "", fmt.Errorf("invalid public URL %q; use a URL such as https://example.org/data", s.PublicURL)
	}
	return public, strings.TrimRight(public.EscapedPath(), "/"), nil
}

// Pages provides the HTML pages. They are routes like the others, but not part of the OpenAPI
// document.
type Pages interface {
	// Handlers returns the handler of each page by its http.ServeMux pattern, including the method.
	Handlers() map[string]PageHandler
	// Missing serves a path without a route for a browser: it redirects to what the path may mean,
	// or fails.
	Missing(w http.ResponseWriter, r *http.Request) error
	// Failure writes an error page.
	Failure(w http.ResponseWriter, r *http.Request, status int, message string) error
	// Key returns the key stored in the browser for the dataset of a page, or "".
	Key(r *http.Request) string
}

// PageHandler serves a page: one of its functions is set. The form of a POST is parsed before, and
// rejected if another site has sent it. A function that returns an error may have
// written a page about it, for clients that accept HTML; the error determines the status.
type PageHandler struct {
	Serve        func(http.ResponseWriter, *http.Request) error
	ServeDataset func(http.ResponseWriter, *http.Request, gate.DatasetView) error // a page of the dataset of the path

	// MaxForm is the maximum size of the form of a POST in bytes; 0 means 32 KiB.
	MaxForm int64
	// Upload: the handler of a POST receives files with ReceiveFiles. The body is not read before,
	// and the context of the request has no deadline. The handler must check who sends the request
	// before it calls ReceiveFiles.
	Upload bool
}

// responseKey is the key of the response in the context of a request for a page.
type responseKey struct{}

// visit is the response to a request for a page, with the gate to datasets.
type visit struct {
	*response.Writer
	gate *gate.Gate
}

func responseOf(r *http.Request) visit { return r.Context().Value(responseKey{}).(visit) }

// QueryString returns the query string of a request for a page.
func QueryString(r *http.Request) query.String { return responseOf(r).QueryString(r) }

// Visitor returns the owner of the key that the browser sends for a page, or the zero one if there
// is no valid key.
func Visitor(r *http.Request) herb.Principal {
	w := responseOf(r)
	return w.gate.OptionalPrincipal(w.Writer, r)
}

// MayPublish returns who sends a request for a page, for the audit log. It fails, as the API does,
// unless the key that the browser sends may publish the dataset. A zero Ref means any dataset.
func MayPublish(r *http.Request, ref herb.Ref) (herb.Actor, error) {
	w := responseOf(r)
	return w.gate.MayPublish(w.Writer, r, ref)
}

// Reauthorize returns a function that fails if the key of a request for a page, which MayPublish
// has accepted, must not publish a dataset anymore.
func Reauthorize(r *http.Request, ref herb.Ref) func(context.Context) error {
	w := responseOf(r)
	return w.gate.Reauthorize(r, w.Key(r), ref)
}

// VerifyKey verifies a key that a visitor of a page sends, once per request and logged, as those of
// other routes.
func VerifyKey(r *http.Request, secret string) (herb.Principal, error) {
	w := responseOf(r)
	return w.Verify(r.Context(), secret, r.RemoteAddr)
}

// ReceiveFiles receives the files of a form for a page whose handler has Upload; see
// body.ReceiveFiles.
func ReceiveFiles(r *http.Request, receive func(fields url.Values, name string, content io.Reader) error) (url.Values, error) {
	return body.ReceiveFiles(responseOf(r).Writer, r, receive)
}
