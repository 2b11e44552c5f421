package httpapi

import (
	"bytes"
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

// home answers with the page for people.
func (a *API) home(w *response, r *http.Request) error {
	p := page{header: w.Header()}
	if err := a.opts.Home(&p, r); err != nil {
		return err
	}
	w.send(r, http.StatusOK, contentHTML, p.body.Bytes())
	return nil
}

// page gathers what a page writes: a page that fails half-way is not sent at all.
type page struct {
	header http.Header
	body   bytes.Buffer
}

func (p *page) Header() http.Header         { return p.header }
func (p *page) Write(b []byte) (int, error) { return p.body.Write(b) }
func (p *page) WriteHeader(int)             {}
