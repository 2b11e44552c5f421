package publishing

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/versions"
)

// errNoFetches is the error of a server that fetches nothing.
func errNoFetches() error { return herb.Errorf(herb.CodeRejected, "this server fetches nothing") }

// PostFetch fetches the file of a dataset and publishes it, and responds with the result.
func (h *Handlers) PostFetch(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, consentParams(herb.Consents()))
	if err != nil {
		return err
	}
	if h.opts.Fetches == nil {
		return errNoFetches()
	}
	ctx, err := w.AdmitUpload(r) // it takes disk space like a file that is sent
	if err != nil {
		return err
	}
	p, err := h.opts.Fetches.Now(ctx, req.Ref, req.Actor, req.Consents...)
	if p.Result != nil {
		return h.sendResult(w, r, p)
	}
	if err != nil {
		return err
	}
	live, err := h.opts.Versions.LiveVersion(ctx, req.Ref)
	if err != nil {
		return err
	}
	return h.sendPublish(w, r, http.StatusOK, resultBody{Result: versions.NewResult(versions.StatusUnchanged, live)})
}
