package publishing

import (
	"bytes"
	"net/http"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
)

// PutDescriptor handles a descriptor, with which the file at its address is fetched and published,
// or the kept source is published again.
func (h *Handlers) PutDescriptor(w *response.Writer, r *http.Request) error {
	req, err := h.publishRequest(w, r, republishParams())
	if err != nil {
		return err
	}
	body, err := body.Read(w, r, herb.MaxDescriptor)
	if err != nil {
		return err
	}
	req.Descriptor = bytes.Clone(body.Bytes())
	body.Free()
	if len(bytes.TrimSpace(req.Descriptor)) == 0 {
		return herb.Invalidf("the body is empty; send a Data Package descriptor in JSON or YAML")
	}
	ctx, err := w.AdmitUpload(r) // it takes disk space like a file that is sent
	if err != nil {
		return err
	}
	source, err := publish.FetchSource(req.Ref, req.Descriptor)
	switch {
	case err != nil && *req.Expected == "":
		return err
	case err != nil || source.Address == "": // the publish fails for the same reason
		req.File, err = h.opts.Queue.Restore(ctx, req.Ref)
	case h.opts.Fetches == nil:
		err = errNoFetches()
	default:
		req.File, err = h.opts.Fetches.Fetch(ctx, req.Ref, source)
	}
	if err != nil {
		return err
	}
	req.Actor.Note = "sha256 " + req.File.SHA256
	return h.startPublish(w, r, req)
}

// Descriptor handles the complete descriptor of the live version, which may quote values.
func (h *Handlers) Descriptor(w *response.Writer, r *http.Request) error {
	var actor herb.Actor
	ref, err := h.authorizePublish(w, r, &actor)
	if err != nil {
		return err
	}
	d, err := h.opts.Versions.LiveVersion(r.Context(), ref)
	switch {
	case err != nil:
		return err
	case d.Version == "":
		return herb.Errorf(herb.CodeNotFound, "no such dataset %q; GET /api/v1 lists all datasets", ref)
	case d.Settings == nil || d.Settings.Descriptor == nil:
		return herb.Errorf(herb.CodeNotFound, "%s was published without a descriptor; send one with PUT …/descriptor",
			ref)
	}
	w.Set("Etag", `"`+d.Version+`"`)
	w.Set("X-Dataset-Version", d.Version)
	w.Send(r, http.StatusOK, response.ContentJSON, d.Settings.Descriptor)
	return nil
}
