package httpapi

import (
	"net/http"

	"herbarium/internal/herb"
)

type state struct {
	Status string `json:"status"`
}

// health answers as long as the process can answer anything.
func (a *API) health(w *response, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.send(r, http.StatusOK, contentJSON, mustJSON(state{"ok"}))
	return nil
}

// ready answers whether requests should be sent here.
func (a *API) ready(w *response, r *http.Request) error {
	if a.opts.Ready != nil {
		if err := a.opts.Ready(r.Context()); err != nil {
			return herb.Wrap(herb.CodeUnavailable, err, "not ready; send requests elsewhere for now")
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.send(r, http.StatusOK, contentJSON, mustJSON(state{"ready"}))
	return nil
}
