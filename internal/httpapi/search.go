package httpapi

import (
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

const searchPattern = "/api/v1/search"

// searchResult is the body of a search across datasets.
type searchResult struct {
	Datasets []searchMatch `json:"datasets"`
	Meta     searchMeta    `json:"meta"`
}

// searchMatch is a dataset with matching records.
type searchMatch struct {
	herb.Ref
	Title string `json:"title,omitempty"`
	Total int    `json:"total"` // matching records
	Links struct {
		Self string `json:"self"`
		Data string `json:"data"` // lists the matching records
	} `json:"links"`
}

type searchMeta struct {
	Total    int  `json:"total"`    // matching records
	Datasets int  `json:"datasets"` // with matching records
	Searched int  `json:"searched"`
	Partial  bool `json:"partial"` // some datasets were not searched
}

// search handles the search for records in all datasets that the request may read.
func (a *API) search(w *response, r *http.Request) error {
	params, err := query.ParseParams(r.URL.RawQuery)
	if err != nil {
		return err
	}
	for _, p := range params {
		if p.Name != query.ParamSearch && p.Name != query.ParamAPIKey {
			return herb.Invalidf("unknown parameter %q; valid parameters: %s", herb.Clip(p.Name, maxShown), query.ParamSearch)
		}
	}
	search := params.Get(query.ParamSearch)
	if strings.TrimSpace(search) == "" {
		return herb.Invalidf("%q is missing; give the words to find", query.ParamSearch)
	}
	w.set("Vary", varyKey)
	access := herb.AccessOpen
	opts := library.SearchOptions{Budget: a.opts.SearchBudget, Admit: a.opts.Admission.AcquirePaced, MayRead: a.mayRead(r)}
	if opts.MayRead != nil {
		access = herb.AccessKey
	}
	found, err := library.SearchRecords(r.Context(), a.opts.Library, search, opts)
	if err != nil {
		return err
	}
	body := searchResult{
		Datasets: make([]searchMatch, len(found.Datasets)),
		Meta:     searchMeta{Total: found.Total, Datasets: len(found.Datasets), Searched: found.Searched, Partial: found.Partial},
	}
	matching := "?" + query.Params{{Name: query.ParamSearch, Value: search}}.Encode()
	for i, d := range found.Datasets {
		m := &body.Datasets[i]
		m.Ref, m.Title, m.Total = d.Ref, d.Title, d.Total
		m.Links.Self = a.base + "/api/v1/" + d.Ref.String()
		m.Links.Data = m.Links.Self + "/data" + matching
	}
	return a.sendDescription(w, r, body, access)
}
