package reading

import (
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/library"
)

// Versions sends the list of the versions of a dataset, newest first, as far as the client may read
// them.
func (h *Handlers) Versions(w *response.Writer, r *http.Request) error {
	list, access, err := h.gate.ListVersions(w, r)
	if err != nil {
		return err
	}
	const perVersion = 512 // bytes; most of it are names, labels and the message
	return w.SendDescription(r, perVersion*(len(list.Versions)+len(list.Withdrawn)), access,
		func() any { return library.NewVersionList(list) })
}
