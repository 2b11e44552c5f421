package httpapi

import (
	"net/http"

	"herbarium/internal/herb"
)

// Health is how the parts are that requests depend on.
type Health struct {
	// Away is why requests should go elsewhere, in words that anybody may read. Empty: they are welcome here.
	Away  string
	Parts []Part
}

// Part is something that some requests depend on, such as the database.
type Part struct {
	Name  string
	Fault string // what is wrong with it, in words that anybody may read; empty: nothing
}

type state struct {
	Status string            `json:"status"`
	Parts  map[string]string `json:"parts,omitempty"`
}

// health answers as long as the process can answer anything.
func (a *API) health(w *response, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.send(r, http.StatusOK, contentJSON, mustJSON(state{Status: "ok"}))
	return nil
}

// ready answers whether requests should be sent here. They should as long as some of them can be answered: a proxy that
// takes away every node because a part that they share is gone leaves nobody to list what they have.
func (a *API) ready(w *response, r *http.Request) error {
	s := state{Status: "ready"}
	if a.opts.Health != nil {
		h := a.opts.Health()
		if h.Away != "" {
			return herb.Errorf(herb.CodeUnavailable, "not ready: %s; send requests elsewhere for now", h.Away)
		}
		s.Parts = make(map[string]string, len(h.Parts))
		for _, p := range h.Parts {
			s.Parts[p.Name] = "ok"
			if p.Fault != "" {
				s.Status, s.Parts[p.Name] = "degraded", p.Fault
			}
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.send(r, http.StatusOK, contentJSON, mustJSON(s))
	return nil
}
