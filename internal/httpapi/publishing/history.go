package publishing

import (
	"net/http"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// Versions handles the kept versions of a dataset, newest first. Clients that may publish the
// dataset get them: changes may quote values.
func (h *Handlers) Versions(w *response.Writer, r *http.Request) error {
	var actor herb.Actor
	ref, err := h.authorizePublish(w, r, &actor)
	if err != nil {
		return err
	}
	list, err := h.opts.Versions.Summaries(r.Context(), ref)
	if err != nil {
		return err
	}
	w.SetKeyVary()
	const perVersion = 1 << 10 // bytes; most of it are changes
	return w.SendDescription(r, perVersion*(len(list.Versions)+len(list.Withdrawn)), herb.AccessKey,
		func() any { return list })
}

// Report handles the import report of a version, the live one unless the request names another.
// Clients that may publish the dataset get it, and those that may read the records of that version.
func (h *Handlers) Report(w *response.Writer, r *http.Request) error {
	d, _, access, err := h.describeVersion(w, r)
	if err == nil {
		err = versions.CheckReport(d)
	}
	if err != nil {
		return err
	}
	w.Set("X-Dataset-Version", d.Version)
	return w.SendDescription(r, d.Size(), access, func() any { return publish.NewVersionReport(d) })
}

// describeVersion describes the version that a request names, or the live one, for a client that
// may publish the dataset or read the records of that version. It returns what the client may see
// of it, and the access that the response requires.
func (h *Handlers) describeVersion(w *response.Writer, r *http.Request) (d herb.Dataset, visibility herb.Visibility,
	access herb.Access, err error) {
	w.SetKeyVary()
	ref, principal, live := gate.RefOf(r), h.gate.OptionalPrincipal(w, r), ""
	version, _, err := w.QueryString(r).CutVersion()
	if err != nil {
		return d, visibility, "", err
	}
	access = herb.AccessKey
	if !principal.MayPublish(ref) {
		view, err := h.gate.OpenDataset(w, r)
		if err != nil {
			return d, visibility, "", err
		}
		view.Release()
		version, live, access = view.Version, view.Live, view.Access
	}
	d, err = h.opts.Versions.Version(r.Context(), ref, version)
	if err != nil || live == "" {
		return d, principal.See(d), access, err
	}
	other, err := h.opts.Versions.Version(r.Context(), ref, live)
	return principal.Describe(d, other), principal.See(d, other), access, err
}
