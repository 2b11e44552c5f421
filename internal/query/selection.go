package query

import "herbarium/internal/herb"

// Suggestion is a request with records that a client may mean whose request has none, as JSON.
type Suggestion struct {
	Corrections map[string]string `json:"corrections"` // by word or value of the request
	Total       int               `json:"total"`       // matching records
	URL         string            `json:"url"`
}

// Selects reports whether a parameter of the request decides which records match.
func (r *Request) Selects(name string) bool {
	switch name {
	case ParamFilter, ParamSearch, ParamAny, ParamBox, ParamNear, ParamCoordinates:
		return true
	}
	return !r.kind.takes(name) && !IsReserved(name)
}

// Selection returns a request for the records that other parameters select, at the same time.
// Parameters that do not select records are left out.
func (r *Request) Selection(params Params) (*Request, error) {
	var selecting Params
	for _, p := range params {
		if r.Selects(p.Name) || p.Name == ParamZone && r.moving.resolved != nil {
			selecting = append(selecting, p)
		}
	}
	return Of(selecting).At(r.moving.now).Listing(r.fields, herb.Order{})
}
