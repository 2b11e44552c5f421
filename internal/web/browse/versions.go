package browse

import (
	"net/http"

	"herbarium/internal/httpapi"
	"herbarium/internal/versions"
	"herbarium/internal/web/publishing"
	"herbarium/internal/web/view/datasets"
)

// versionsPage lists the versions of a dataset.
type versionsPage struct {
	Head     datasets.Head
	Versions []versions.Version
	Hidden   bool   // publish reports are not shown, because they quote values and the browser has no valid key
	Live     string // the live version
	versions []versions.Version
}

// Exposes returns what becomes public if a version goes live.
func (page *versionsPage) Exposes(v versions.Version) []string {
	return publishing.Exposures(page.versions, page.Live, v.Version)
}

func (p *Pages) versions(w *httpapi.Page, r *http.Request, v datasetView) error {
	versions, err := p.history(r.Context(), v.Ref)
	if err != nil {
		return err
	}
	h := versionsPage{Live: v.Live, versions: versions}
	if h.Head, _, _, err = p.documentHead(w, r, v, "versions"); err != nil {
		return err
	}
	visitor := w.Visitor()
	if visitor.ID != "" {
		w.SetPrivate()
	}
	h.Hidden = !visitor.See(v.Dataset).Report
	for _, info := range versions {
		if !visitor.See(v.Dataset, info.Dataset).Report { // an open dataset may have been protected before
			info = info.WithoutValues()
		}
		info.Dataset = info.WithoutExcluded()
		h.Versions = append(h.Versions, info)
	}
	return p.renderDocument(w, r, v, "versions", "Versions", &h)
}
