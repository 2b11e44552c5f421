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
// They are shown only to visitors with a key for the dataset, also if the dataset is open. Only
// publishers see the message, which may quote hidden columns and rows that are not records; paths
// in it are reduced to file names.
func (p *Site) Rejections(w *httpapi.Page, r *http.Request) (map[herb.Ref]herb.SourceError, error) {
	found, err := p.Opts.SourceErrors(r.Context())
	if err != nil || len(found) == 0 {
		return nil, err
	}
	who := w.Visitor()
	all := map[herb.Ref]herb.SourceError{}
	for _, e := range found {
		if e.Skipped || e.Ref == (herb.Ref{}) {
			continue
		}
		switch {
		case who.MayPublish(e.Ref):
			path, _, _ := strings.Cut(e.Path, "#") // without the table
			e.Message = strings.ReplaceAll(e.Message, path, filepath.Base(path))
			all[e.Ref] = e
		case SeesProtected(who, e.Ref):
			e.Message = ""
			all[e.Ref] = e
		}
	}
	return all, nil
}
