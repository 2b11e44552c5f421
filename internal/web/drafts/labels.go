package drafts

import (
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/web/site"
)

// changeLabels gives a label to a version of a dataset, or removes the one that a button names.
func (p *Pages) changeLabels(w *httpapi.Page, r *http.Request) error {
	ref, actor, err := authorizeForm(w, r)
	if err != nil {
		return err
	}
	change, label := p.opts.Publisher.Label, strings.TrimSpace(r.PostForm.Get("label"))
	if r.PostForm.Has("remove") {
		change, label = p.opts.Publisher.Unlabel, r.PostForm.Get("remove")
	}
	version, err := change(herb.WithActor(r.Context(), actor), ref, r.PostForm.Get("version"), label)
	if err != nil {
		return err
	}
	return site.Redirect(w, p.DatasetPath(ref)+"/versions#v-"+version)
}
