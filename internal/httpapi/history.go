package httpapi

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/publish"
	"herbarium/internal/query"
)

// versions handles the kept versions of a dataset, newest first. Clients that may publish the
// dataset get them: changes may quote values.
func (a *API) versions(w *response, r *http.Request) error {
	var actor herb.Actor
	ref, err := a.authorizePublish(w, r, &actor)
	if err != nil {
		return err
	}
	if _, err := w.queryString(r).Only(); err != nil {
		return err
	}
	history, err := a.opts.Publishing.Versions.History(r.Context(), ref)
	if err != nil {
		return err
	}
	return w.sendJSON(r, struct {
		Versions []library.VersionSummary `json:"versions"`
	}{library.Summaries(history)})
}

// report handles the import report of a version, the live one unless the request names another.
// Clients that may publish the dataset get it, and those that may read the records of that version.
func (a *API) report(w *response, r *http.Request) error {
	if _, err := w.queryString(r).Only(query.ParamVersion); err != nil {
		return err
	}
	d, _, access, err := a.describeVersion(w, r)
	if err == nil {
		err = library.CheckReport(d)
	}
	if err != nil {
		return err
	}
	w.set("X-Dataset-Version", d.Version)
	return a.sendDescription(w, r, d.Size(), access, func() any { return publish.NewVersionReport(d) })
}
