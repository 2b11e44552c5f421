package publishing

import (
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// RemoveDataset handles the removal of a dataset. It requires a condition, so that nothing is
// removed that the client does not know, unless it says so.
func (h *Handlers) RemoveDataset(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, nil)
	if err != nil {
		return err
	}
	if _, stated := r.Header["If-Match"]; !stated {
		return herb.Invalidf(`If-Match is required; write If-Match: "<version>" with the live version, or If-Match: * for any`)
	}
	if err := w.AdmitBody(r); err != nil {
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
