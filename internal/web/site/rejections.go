package site

import (
	"net/http"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// Rejections returns the errors of sources that could not be published and that the visitor may
// see, by dataset.
//
// They are shown only to visitors with a key that may read the dataset, also if the dataset is
// open: messages quote values of a source, and the source may ask for a key. Paths are reduced to
// file names.
func (p *Site) Rejections(w *httpapi.Page, r *http.Request) (map[herb.Ref]herb.SourceError, error) {
	found, err := p.Opts.SourceErrors(r.Context())
	if err != nil || len(found) == 0 {
		return nil, err
	}
	who := w.Visitor()
	all := map[herb.Ref]herb.SourceError{}
	for _, e := range found {
		if !e.Skipped && e.Ref != (herb.Ref{}) && SeesProtected(who, e.Ref) {
			path, _, _ := strings.Cut(e.Path, "#") // without the table
			e.Message = strings.ReplaceAll(e.Message, path, filepath.Base(path))
			all[e.Ref] = e
		}
	}
	return all, nil
}
