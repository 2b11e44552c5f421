package publishing

import (
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
)

// RemoveDataset handles the removal of a dataset.
func (h *Handlers) RemoveDataset(w *response.Writer, r *http.Request) error {
	req, err := h.removalRequest(w, r)
	if err != nil {
		return err
	}
	err = h.opts.Publisher.Remove(herb.WithActor(r.Context(), req.Actor), req.Ref, requiredVersion(req))
	if herb.CodeOf(err) == herb.CodeNotFound {
		return herb.Wrap(herb.CodePrecondition, err, "If-Match does not hold: %s does not exist", req.Ref)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// WithdrawVersion handles the deletion of a version that must not be read any more. A version that
// was withdrawn before is not an error, so that the request can be sent again.
func (h *Handlers) WithdrawVersion(w *response.Writer, r *http.Request) error {
	req, err := h.removalRequest(w, r)
	if err != nil {
		return err
	}
	if err := h.opts.Publisher.Withdraw(herb.WithActor(r.Context(), req.Actor), req.Ref,
		r.PathValue("version")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// removalRequest returns a request to remove something for good. It requires a condition, so that
// nothing is removed from a dataset that the client does not know, unless it says so.
func (h *Handlers) removalRequest(w *response.Writer, r *http.Request) (publish.Request, error) {
	req, err := h.publishRequest(w, r, nil)
	if err != nil {
		return req, err
	}
	if _, stated := r.Header["If-Match"]; !stated {
		return req, herb.Invalidf(
			`If-Match is required; write If-Match: "<version>" with the live version, or If-Match: * for any`)
	}
	return req, w.AdmitBody(r)
}
