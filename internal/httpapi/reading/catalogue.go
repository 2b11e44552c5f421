package reading

import (
	"net/http"
	"time"

	"herbarium/internal/fetch"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// summary is the entry of a dataset in the catalogue.
type summary struct {
	herb.Ref
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Access      herb.Access    `json:"access"`
	Records     int            `json:"records"`
	FieldNames  []string       `json:"field_names"`
	Version     string         `json:"version"`
	PublishedAt time.Time      `json:"published_at,omitzero"`
	Unavailable bool           `json:"unavailable,omitempty"`
	Freshness   herb.Freshness `json:"freshness,omitzero"`
	Links       links          `json:"links"`
}

type links struct {
	Self    string `json:"self"`
	Data    string `json:"data"`
	OpenAPI string `json:"openapi,omitempty"`
}

// descriptor is the full description of a dataset: the summary, its fields and the details of its
// version.
type descriptor struct {
	summary
	Fields      []field            `json:"fields"`
	Coordinates []herb.Coordinates `json:"coordinates,omitempty"`
	Fetch       *fetch.State       `json:"fetch,omitempty"` // nil: it is not fetched, or the client may not publish it
	herb.Details
}

type field struct {
	herb.Field
	Precision text.Precision `json:"precision,omitempty"` // of dates that are not days
	Operators []query.Op     `json:"operators"`
	*fieldType
}

// fieldType is the type of a field in other programs. It follows from the values, so that only
// clients that may read them see it.
type fieldType struct {
	MachineType string `json:"machine_type"`
	Typed       bool   `json:"typed"`                  // the machine type is that of the field
	Reason      string `json:"typed_reason,omitempty"` // why it is not
}

// Catalogue handles the list of datasets.
func (h *Handlers) Catalogue(w *response.Writer, r *http.Request) error {
	found, err := operations.Datasets(r.Context(), h.opts.Library, w.QueryString(r))
	if err != nil {
		return err
	}
	body := struct {
		Datasets []summary  `json:"datasets"`
		Meta     query.Meta `json:"meta"`
	}{make([]summary, len(found.Datasets)), found.Request.Meta(found.Total)}
	size := 0
	for i, d := range found.Datasets {
		body.Datasets[i] = h.summarize(d).forList()
		size += body.Datasets[i].size()
	}
	h.setLinks(w, r, body.Meta)
	return w.SendDescription(r, size, herb.AccessOpen, func() any { return body })
}

func (h *Handlers) Describe(w *response.Writer, r *http.Request, view gate.DatasetView) (err error) {
	d, types := view.Dataset, []typed.Column(nil)
	if view.Denied == nil {
		types, err = view.Types()
		if err != nil {
			return err
		}
	}
	access := view.DescriptionAccess(w)
	fetched, err := h.fetchState(w, r, &d)
	if err != nil {
		return err
	}
	if fetched != nil {
		access = herb.AccessKey
	}
	return w.SendDescription(r, d.Size(), access, func() any {
		body := descriptor{summary: h.summarize(d), Fields: make([]field, len(d.Fields)), Coordinates: d.Coordinates,
			Fetch: fetched, Details: d.Details}
		body.Compared = nil // the version before may require a key, as the list of versions knows
		for i, f := range d.Fields {
			body.Fields[i] = field{Field: f, Operators: query.FieldOps(f)}
			if precision := text.PrecisionOf(&f); precision != text.PrecisionDay {
				body.Fields[i].Precision = precision
			}
			if types != nil {
				body.Fields[i].fieldType = &fieldType{types[i].String(), types[i].IsTyped(), types[i].Reason}
			}
		}
		return body
	})
}

// fetchState returns how the fetches of a dataset went to clients that may publish it; otherwise
// nil.
func (h *Handlers) fetchState(w *response.Writer, r *http.Request, d *herb.Dataset) (*fetch.State, error) {
	if h.opts.Fetches == nil || d.Descriptor == nil || d.Descriptor.Fetch.Address == "" {
		return nil, nil
	}
	w.SetKeyVary()
	if !h.gate.OptionalPrincipal(w, r).MayPublish(d.Ref) {
		return nil, nil
	}
	states, err := h.opts.Fetches.States(r.Context(), d.Ref)
	if state, ok := states[d.Ref]; ok {
		return &state, nil
	}
	return nil, err
}

func (h *Handlers) summarize(d herb.Dataset) summary {
	self := h.opts.Base + "/api/v1/" + d.Ref.String()
	s := summary{
		Ref: d.Ref, Title: d.Title, Description: d.Description, Access: d.Access, Records: d.Records,
		FieldNames: make([]string, len(d.Fields)), Version: d.Version,
		PublishedAt: d.Published.UTC(), Unavailable: d.Unavailable, Freshness: d.FreshnessAt(time.Now()),
		Links: links{Self: self, Data: self + "/data", OpenAPI: h.opts.Base + "/openapi.json?dataset=" +
			d.Ref.String()},
	}
	for i, f := range d.Fields {
		s.FieldNames[i] = f.Name
	}
	return s
}

// forList returns the summary with the first names of fields only, if they are long.
func (s summary) forList() summary {
	size := 0
	for i, name := range s.FieldNames {
		size += len(name)
		if size > herb.MaxListedNames {
			s.FieldNames = s.FieldNames[:i]
			break
		}
	}
	return s
}

// size returns about how many bytes the summary has as JSON.
func (s summary) size() int {
	size := 512 + len(s.Title) + len(s.Description)
	for _, name := range s.FieldNames {
		size += len(name) + 4
	}
	return size
}

// searchMatch is a dataset with matching records.
type searchMatch struct {
	herb.Ref
	Title string `json:"title,omitempty"`
	Total int    `json:"total"` // matching records
	Links links  `json:"links"` // Data lists the matching records
}

type searchMeta struct {
	Total    int  `json:"total"`    // matching records
	Datasets int  `json:"datasets"` // with matching records
	Searched int  `json:"searched"`
	Partial  bool `json:"partial"` // some datasets were not searched
}

// Search handles the search for records in all datasets that the request may read.
func (h *Handlers) Search(w *response.Writer, r *http.Request) error {
	w.SetKeyVary()
	principal, access := h.gate.OptionalPrincipal(w, r), herb.AccessOpen
	if principal.ID != "" {
		access = herb.AccessKey
	}
	found, err := operations.Search(r.Context(), h.opts.Library, w.QueryString(r), principal, h.opts.SearchBudget)
	if err != nil {
		return err
	}
	body := struct {
		Datasets []searchMatch `json:"datasets"`
		Meta     searchMeta    `json:"meta"`
	}{make([]searchMatch, len(found.Datasets)), searchMeta{found.Total, len(found.Datasets), found.Searched,
		found.Partial}}
	matching := "?" + query.Params{{Name: query.ParamSearch, Value: w.QueryString(r).Get(query.ParamSearch)}}.Encode()
	for i, d := range found.Datasets {
		self := h.opts.Base + "/api/v1/" + d.Ref.String()
		body.Datasets[i] = searchMatch{d.Ref, d.Title, d.Total, links{Self: self, Data: self + "/data" + matching}}
	}
	const perMatch = 512 // bytes; most of it are names
	return w.SendDescription(r, perMatch*len(found.Datasets), access, func() any { return body })
}
