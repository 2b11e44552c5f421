package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/versions"
)

// Site configures what the API and the pages have in common. Library is required.
type Site struct {
	Library gate.Library
	// the kept versions of a dataset, newest first; nil: the library has none
	History func(context.Context, herb.Ref) ([]versions.Version, error)
	// PrivateCatalog: datasets that require a key do not exist for clients without one that may
	// read them. Library is a library.Private, which needs to know the reader of each request.
	PrivateCatalog bool
	PublicURL      string               // base URL for clients, such as https://example.org/data; empty if unknown
	Agents         bool                 // serve POST /mcp
	Changes        *changes.Comparisons // between versions; nil: the library has none
	SearchBudget   time.Duration        // of a search across datasets; 0 means one second
	Version        string               // of the program; part of entity tags
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

// Origin returns the prefix of absolute links, without a trailing slash.
func (s Site) Origin(r *http.Request) string {
	if public, base, err := s.ParsePublicURL(); err == nil && public != nil {
		return public.Scheme + "://" + public.Host + base
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-_[]") != "" || host == "" {
		host = "localhost"
	}
	return scheme + "://" + host
}

// Pages provides the HTML pages. They are routes like the others, but not part of the OpenAPI
// document.
type Pages interface {
	// Handlers returns the handler of each page by its http.ServeMux pattern, including the method.
	Handlers() map[string]PageHandler
	// Missing serves a path without a route for a browser: it redirects to what the path may mean,
	// or fails.
	Missing(w *Page, r *http.Request) error
	// Failure writes an error page.
	Failure(w *Page, r *http.Request, status int, message string) error
	// Key returns the key stored in the browser for the dataset of a page, or "".
	Key(r *http.Request) string
}

// PageHandler serves a page: one of its functions is set. The form of a POST is parsed before, and
// rejected if another site has sent it. A function that returns an error may have
// written a page about it, for clients that accept HTML; the error determines the status.
type PageHandler struct {
	Serve        func(*Page, *http.Request) error
	ServeDataset func(*Page, *http.Request, gate.DatasetView) error // a page of the dataset of the path

	// MaxForm is the maximum size of the form of a POST in bytes; 0 means 32 KiB.
	MaxForm int64
	// TakesKey: the form of a POST has a key in its field "key".
	TakesKey bool
	// Upload: the handler of a POST receives files with Page.ReceiveFiles. The body is not read
	// before, and the context of the request has no deadline. The handler must check who sends the
	// request before it calls ReceiveFiles.
	Upload bool
}
