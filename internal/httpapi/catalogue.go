package httpapi

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// summary is the entry of a dataset in the catalogue.
type summary struct {
	herb.Ref
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Access      herb.Access `json:"access"`
	Records     int         `json:"records"`
	FieldNames  []string    `json:"field_names"`
	Version     string      `json:"version"`
	PublishedAt time.Time   `json:"published_at,omitzero"`
	Unavailable bool        `json:"unavailable,omitempty"`
	Links       links       `json:"links"`
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
	Fields []field `json:"fields"`
	herb.Details
}

type field struct {
	herb.Field
	Operators []query.Op `json:"operators"`
}

// catalogue handles the list of datasets. Unlike a listing, a page has the maximum size by default:
// most servers have fewer datasets, and clients that do not page get all of them.
func (a *API) catalogue(w *response, r *http.Request) error {
	params, err := w.queryString(r).Only(query.ParamPage, query.ParamPerPage, query.ParamSearch)
	if err != nil {
		return err
	}
	req, err := w.queryString(r).Without(query.ParamSearch).Listing(nil, herb.Order{})
	if err != nil {
		return err
	}
	if params.Get(query.ParamPerPage) == "" {
		req.PerPage = query.MaxPerPage
	}
	live, err := a.opts.Library.Search(r.Context(), params.Get(query.ParamSearch), "")
	if err != nil {
		return err
	}
	from := min(req.Offset(), len(live))
	datasets, err := a.opts.Library.Datasets(r.Context(), live[from:min(from+req.PerPage, len(live))], false)
	if err != nil {
		return err
	}
	body := struct {
		Datasets []summary  `json:"datasets"`
		Meta     query.Meta `json:"meta"`
	}{make([]summary, len(datasets)), req.Meta(len(live))}
	size := 0
	for i, d := range datasets {
		body.Datasets[i] = a.summarize(d).forList()
		size += body.Datasets[i].size()
	}
	a.setLinks(w, r, body.Meta)
	return a.sendDescription(w, r, size, herb.AccessOpen, func() any { return body })
}

func (a *API) describe(w *response, r *http.Request) error {
	if _, err := w.queryString(r).Only(); err != nil {
		return err
	}
	view, err := a.open(w, r, refOf(r), denyRequest)
	if err != nil {
		return err
	}
	defer view.Release()
	d := view.Dataset
	return a.sendDescription(w, r, d.Size(), w.descriptionAccess(&view), func() any {
		body := descriptor{summary: a.summarize(d), Fields: make([]field, len(d.Fields)), Details: d.Details}
		for i, f := range d.Fields {
			body.Fields[i] = field{f, query.FieldOps(f)}
		}
		return body
	})
}

// sendDescription sends JSON with an entity tag of its content. size is an estimate of it in bytes:
// the encoder holds all of it before it is written to a buffer. Nothing is described if there is no
// room for that.
func (a *API) sendDescription(w *response, r *http.Request, size int, access herb.Access, describe func() any) error {
	release, err := w.reserve(r.Context(), size)
	if err != nil {
		return err
	}
	defer release()
	body, err := w.encodeReserved(r.Context(), describe(), release)
	defer body.free()
	if err != nil {
		return err
	}
	w.sendDocument(r, access, a.newDocument(contentJSON, body.Bytes()))
	return nil
}

// document is a body with an entity tag that determines it.
type document struct {
	contentType string
	body        []byte
	tag         string
	fingerprint string // of the datasets that it describes; set if the document is cached
}

func (a *API) newDocument(contentType string, body []byte) document {
	return document{contentType: contentType, body: body, tag: etag.OfContent(representation, body)}
}

// sendDocument sends a document, or 304.
func (w *response) sendDocument(r *http.Request, access herb.Access, d document) {
	w.setCaching(r, access)
	w.immutable = true
	if !w.notModified(r, d.tag) {
		w.send(r, http.StatusOK, d.contentType, d.body)
	}
}

func (a *API) summarize(d herb.Dataset) summary {
	self := a.base + "/api/v1/" + d.Ref.String()
	s := summary{
		Ref: d.Ref, Title: d.Title, Description: d.Description, Access: cmp.Or(d.Access, herb.AccessOpen), Records: d.Records, FieldNames: make([]string, len(d.Fields)), Version: d.Version,
		PublishedAt: d.Published.UTC(), Unavailable: d.Unavailable,
		Links: links{Self: self, Data: self + "/data", OpenAPI: a.base + "/openapi.json?dataset=" + d.Ref.String()},
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
		if size += len(name); size > herb.MaxListedNames {
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

const searchPattern = "/api/v1/search"

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

// search handles the search for records in all datasets that the request may read.
func (a *API) search(w *response, r *http.Request) error {
	params, err := w.queryString(r).Only(query.ParamSearch)
	if err != nil {
		return err
	}
	search := params.Get(query.ParamSearch)
	if strings.TrimSpace(search) == "" {
		return herb.Invalidf("%q is missing; give the words to find", query.ParamSearch)
	}
	w.setKeyVary()
	principal, access := a.optionalPrincipal(w, r), herb.AccessOpen
	if principal.ID != "" {
		access = herb.AccessKey
	}
	found, err := library.SearchRecords(r.Context(), a.opts.Library, search, principal, a.opts.SearchBudget)
	if err != nil {
		return err
	}
	body := struct {
		Datasets []searchMatch `json:"datasets"`
		Meta     searchMeta    `json:"meta"`
	}{make([]searchMatch, len(found.Datasets)), searchMeta{found.Total, len(found.Datasets), found.Searched, found.Partial}}
	matching := "?" + query.Params{{Name: query.ParamSearch, Value: search}}.Encode()
	for i, d := range found.Datasets {
		self := a.base + "/api/v1/" + d.Ref.String()
		body.Datasets[i] = searchMatch{d.Ref, d.Title, d.Total, links{Self: self, Data: self + "/data" + matching}}
	}
	const perMatch = 512 // bytes; most of it are names
	return a.sendDescription(w, r, perMatch*len(found.Datasets), access, func() any { return body })
}
