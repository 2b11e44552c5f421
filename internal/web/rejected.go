package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/web/view"
)

// Publish errors are shown only to visitors with a key that may read the dataset, also if the dataset is open: messages quote
// values of a source, and the source may ask for a key.

// rejections returns the errors of sources that the visitor may see, by dataset.
func (p *Pages) rejections(r *http.Request) (map[herb.Ref]herb.SourceError, error) {
	all, err := p.sourceErrors(r.Context())
	if err != nil || len(all) == 0 {
		return nil, err
	}
	mayRead := p.mayRead(r)
	if mayRead == nil {
		return nil, nil
	}
	maps.DeleteFunc(all, func(ref herb.Ref, _ herb.SourceError) bool { return !mayRead(ref) })
	return all, nil
}

// setRejection sets the error of the newest source in the head of a page, if the visitor may see it. Such a page is cached
// only by the browser.
func (p *Pages) setRejection(w http.ResponseWriter, r *http.Request, h *view.Head) error {
	all, err := p.rejections(r)
	if err != nil {
		return err
	}
	if e, ok := all[h.Ref]; ok {
		h.Rejected = &e
		setPrivate(w)
	}
	return nil
}

// sortRejections returns errors ordered by dataset.
func sortRejections(all map[herb.Ref]herb.SourceError) []herb.SourceError {
	return slices.SortedFunc(maps.Values(all), func(a, b herb.SourceError) int { return a.Ref.Compare(b.Ref) })
}

// sourceErrors returns the errors of sources that could not be published, by dataset. Paths are reduced to file names.
func (p *Pages) sourceErrors(ctx context.Context) (map[herb.Ref]herb.SourceError, error) {
	if p.opts.SourceErrors == nil {
		return nil, nil
	}
	found, err := p.opts.SourceErrors(ctx)
	if err != nil {
		return nil, fmt.Errorf("read source errors: %w", err)
	}
	out := map[herb.Ref]herb.SourceError{}
	for _, e := range found {
		if e.Ref != (herb.Ref{}) {
			path, _, _ := strings.Cut(e.Path, "#") // without the table
			e.Message = strings.ReplaceAll(e.Message, path, filepath.Base(path))
			out[e.Ref] = e
		}
	}
	return out, nil
}
