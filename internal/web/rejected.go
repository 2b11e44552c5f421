package web

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/web/view"
)

// rejections returns the errors of sources that could not be published and that the visitor may see, by dataset.
//
// They are shown only to visitors with a key that may read the dataset, also if the dataset is open: messages quote values of a
// source, and the source may ask for a key. Paths are reduced to file names.
func (p *Pages) rejections(r *http.Request) (map[herb.Ref]herb.SourceError, error) {
	if p.opts.SourceErrors == nil {
		return nil, nil
	}
	found, err := p.opts.SourceErrors(r.Context())
	if err != nil {
		return nil, fmt.Errorf("read source errors: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	mayRead := p.mayRead(r)
	all := map[herb.Ref]herb.SourceError{}
	for _, e := range found {
		if e.Ref != (herb.Ref{}) && mayRead != nil && mayRead(e.Ref) {
			path, _, _ := strings.Cut(e.Path, "#") // without the table
			e.Message = strings.ReplaceAll(e.Message, path, filepath.Base(path))
			all[e.Ref] = e
		}
	}
	return all, nil
}

// setRejection sets the error of the newest source in the head of a page, if the visitor may see it. Such a page is cached
// only by the browser.
func (p *Pages) setRejection(w http.ResponseWriter, r *http.Request, h *view.Head) error {
	all, err := p.rejections(r)
	if e, ok := all[h.Ref]; ok {
		h.Rejected = &e
		setPrivate(w)
	}
	return err
}
