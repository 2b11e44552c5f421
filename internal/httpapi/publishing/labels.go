package publishing

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/response"
)

// labeled is the result of labeling a version.
type labeled struct {
	Dataset string `json:"dataset"`
	Version string `json:"version"` // its name, also if the path has another label
	Label   string `json:"label"`
}

// PutLabel handles a label for a version.
func (h *Handlers) PutLabel(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, nil)
	if err != nil {
		return err
	}
	if err := w.AdmitBody(r); err != nil {
		return err
	}
	label := r.PathValue("label")
	version, err := h.opts.Publisher.Label(herb.WithActor(r.Context(), req.Actor), req.Ref,
		r.PathValue("version"), label)
	if err != nil {
		return err
	}
	w.Set("X-Dataset-Version", version)
	return w.SendJSON(r, labeled{req.Ref.String(), version, label})
}

// RemoveLabel handles the removal of a label from a version. A label that the version does not have
// is not an error.
func (h *Handlers) RemoveLabel(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, nil)
	if err != nil {
		return err
	}
	if err := w.AdmitBody(r); err != nil {
		return err
	}
	if _, err := h.opts.Publisher.Unlabel(herb.WithActor(r.Context(), req.Actor), req.Ref, r.PathValue("version"),
		r.PathValue("label")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
