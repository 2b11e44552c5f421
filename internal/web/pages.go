package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/web/browse"
	"herbarium/internal/web/drafts"
	"herbarium/internal/web/site"
)

// files contains Swagger UI compressed, and only those of its files that are served.
//
//go:embed assets templates swagger-ui/*.gz
var files embed.FS

// Options of the pages. Library, History, SourceErrors and Folder are required.
type Options struct {
	httpapi.Site
	SourceErrors func(ctx context.Context) ([]herb.SourceError, error) // errors of sources that could not be published
	// of the file that a dataset was published from, whose images pages show; "" if there is none
	Folder func(herb.Ref) string

	// The next four are required together; nil: nothing is published in the browser.
	Files     drafts.Files
	Drafts    drafts.Drafts
	Versions  drafts.Versions
	Publisher drafts.Publisher

	Fetches Fetches // nil: nothing is fetched
}

// Fetches fetches files from other servers, and knows the states of datasets that are fetched.
type Fetches interface {
	drafts.Fetches
	browse.Fetches
}

// Pages serves the HTML pages. It is safe for concurrent use.
type Pages struct {
	*site.Site
	browse *browse.Pages
	drafts *drafts.Pages
}

// New returns the pages of a library.
func New(opts Options) (*Pages, error) {
	if opts.Library == nil || opts.History == nil || opts.SourceErrors == nil || opts.Folder == nil {
		return nil, errors.New("web: Library, History, SourceErrors and Folder are required")
	}
	if publishes := opts.Drafts != nil; publishes != (opts.Files != nil) || publishes != (opts.Versions != nil) ||
		publishes != (opts.Publisher != nil) {
		return nil, errors.New("web: Files, Drafts, Versions and Publisher require each other")
	}
	s, err := site.New(site.Options{Site: opts.Site, Files: files, SourceErrors: opts.SourceErrors})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	draftPages := drafts.New(s, drafts.Options{
		Files: opts.Files, Drafts: opts.Drafts, Versions: opts.Versions, Publisher: opts.Publisher,
		History: opts.History, Fetches: opts.Fetches,
	})
	return &Pages{Site: s, drafts: draftPages,
		browse: browse.New(s, draftPages, browse.Options{History: opts.History, Folder: opts.Folder,
			Fetches: opts.Fetches})}, nil
}

// Handlers returns the handlers of the pages by their pattern for http.ServeMux, method included.
// The caller buffers what they write: after an error, it may be incomplete.
func (p *Pages) Handlers() map[string]httpapi.PageHandler {
	all := p.Site.Handlers()
	maps.Copy(all, p.browse.Handlers())
	maps.Copy(all, p.drafts.Handlers())
	return all
}
