package httpapi

import (
	"cmp"
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// Health is the state of the dependencies of requests.
type Health struct {
	// NotReady is why requests should be sent to another node, safe to show to clients; empty if
	// this one is ready.
	NotReady string
	// Dependencies maps the name of a dependency, such as the database, to its failure, or to "" if
	// it is available. Failures are safe to show to clients.
	Dependencies map[string]string
}

type state struct {
	Status       string            `json:"status"`
	Dependencies map[string]string `json:"parts,omitempty"`
}

func (a *API) health(w *response.Writer, r *http.Request) error {
	w.Set("Cache-Control", "no-store")
	return w.SendJSON(r, state{Status: "ok"})
}

// ready reports readiness. The service is ready as long as it can serve some requests: if a proxy
// removed every node because a shared dependency is down, none would be left to serve what they
// can.
func (a *API) ready(w *response.Writer, r *http.Request) error {
	h := a.opts.Health()
	if h.NotReady != "" {
		return herb.Errorf(herb.CodeUnavailable, "not ready: %s; retry later or use another node", h.NotReady)
	}
	s := state{Status: "ready", Dependencies: make(map[string]string, len(h.Dependencies))}
	for name, fault := range h.Dependencies {
		s.Dependencies[name] = cmp.Or(fault, "ok")
		if fault != "" {
			s.Status = "degraded"
		}
	}
	w.Set("Cache-Control", "no-store")
	return w.SendJSON(r, s)
}
