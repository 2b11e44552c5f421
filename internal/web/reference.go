package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// reference is the documentation of a dataset's API.
type reference struct {
	Head       datasetHead
	Fields     []fieldDoc
	MoreFields int // too many to be shown
	Parameters []paramDoc
	Operators  []paramDoc
	Errors     []errorDoc
	Secret     bool // values are not shown, because there is no key
	Sortable   []herb.Field
	Filterable []herb.Field
	Ops        []query.Op
	Form       tryForm
	CallURL    string  // of what is tried
	Answer     *answer // of what was tried; nil: nothing was
	URL        string  // absolute, of the listing
}

// fieldDoc is a field with values of it.
type fieldDoc struct {
	herb.Field
	Examples []string
	Key      bool // it is part of the primary key
}

// paramDoc is a parameter with calls to try.
type paramDoc struct {
	Name, Takes, Text string
	Tries             []try
}

// try is a call that can be tried on the spot.
type try struct{ Query, Href string }

// errorDoc is a way to fail.
type errorDoc struct {
	Status        int
	When, Message string
	Try           *try
}

// tryForm is what was last entered into the form.
type tryForm struct{ Page, PerPage, Sort, Order, Search, Field, Op, Value string }

// answer is what the API answers to what was tried.
type answer struct {
	Status int
	Reason string
	Body   string
	Failed bool
}

// The form's parts of a filter, which become one parameter.
const (
	paramField = "_field"
	paramOp    = "_op"
	paramValue = "_value"
	paramTry   = "_try" // something is tried
)

// maxFieldDocs is how many fields a page documents; the descriptor has the rest.
const maxFieldDocs = 300

// reference answers with the documentation of a dataset's API.
func (p *Pages) reference(w http.ResponseWriter, r *http.Request) error {
	snap, err := p.acquire(r)
	if err != nil {
		return err
	}
	defer snap.Release()
	refused := p.admit(r, snap.Dataset)
	d := reference{Head: p.datasetHead(snap.Dataset, "api"), Secret: refused != nil, Ops: query.Ops()}
	d.Head.Unlocked = d.Head.Locked && !d.Secret
	d.URL = p.origin(r) + pathAPI + snap.Ref.String() + "/data"
	samples := make([][]string, len(snap.Fields))
	if !d.Secret {
		if samples, err = sample(r.Context(), snap); err != nil {
			return err
		}
	}
	d.describeFields(snap.Dataset, samples)
	t := trier{path: d.Head.Path + "/api", dataset: snap.Dataset, fields: snap.Fields, samples: samples}
	d.Parameters, d.Operators, d.Errors = t.parameters(), t.operators(), t.errors(snap.Dataset)
	listing, tried := d.readForm(r)
	d.CallURL = join(d.URL, listing.encode())
	if tried {
		if d.Answer, err = ask(r.Context(), snap, listing, refused); err != nil {
			return err
		}
	}
	l := p.layout(r, nameOf(snap.Dataset)+": API", "Fields, parameters, errors and examples of the API of "+nameOf(snap.Dataset)+".")
	l.Canonical = p.origin(r) + pathDatasets + snap.Ref.String() + "/api"
	setCaching(w, snap.Dataset)
	return p.render(w, "reference", http.StatusOK, l, &d)
}

// sample returns values of each field, from the first records.
func sample(ctx context.Context, snap library.Snapshot) ([][]string, error) {
	const most = 3
	out := make([][]string, len(snap.Fields))
	req, err := query.Parse("", snap.Fields)
	if err != nil {
		return nil, err
	}
	page, err := snap.List(ctx, req)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(snap.Fields))
	for _, rec := range page.Records {
		if err := decodeRecord(string(rec), values); err != nil {
			return nil, err
		}
		for i, v := range values {
			if v != "" && len(out[i]) < most && !slices.Contains(out[i], v) {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}

func (d *reference) describeFields(dataset herb.Dataset, samples [][]string) {
	for i, f := range dataset.Fields {
		if f.Sortable && len(d.Sortable) < maxFieldDocs {
			d.Sortable = append(d.Sortable, f)
		}
		if f.Filterable && len(d.Filterable) < maxFieldDocs {
			d.Filterable = append(d.Filterable, f)
		}
		if len(d.Fields) == maxFieldDocs {
			d.MoreFields++
			continue
		}
		doc := fieldDoc{Field: f, Key: slices.Contains(dataset.PrimaryKey, f.Name)}
		for _, v := range samples[i] {
			doc.Examples = append(doc.Examples, clip(v, 48))
		}
		d.Fields = append(d.Fields, doc)
	}
}

// readForm reads what is tried from the address. The parts of a filter become the parameter that they spell.
func (d *reference) readForm(r *http.Request) (listing params, tried bool) {
	s, ok := parseState("", r.URL.RawQuery)
	if !ok {
		return nil, false
	}
	_, tried = r.URL.Query()[paramTry]
	f := &d.Form
	f.Field, f.Op, f.Value = s.listing.get(paramField), s.listing.get(paramOp), s.listing.get(paramValue)
	listing = s.listing.without(paramField, paramOp, paramValue, paramTry)
	f.Page, f.PerPage = listing.get(query.ParamPage), listing.get(query.ParamPerPage)
	f.Sort, f.Order, f.Search = listing.get(query.ParamSort), listing.get(query.ParamOrder), listing.get(query.ParamSearch)
	if f.Field != "" {
		name := filterName(f.Field)
		if f.Op != "" && f.Op != string(query.OpEq) {
			name = withOperator(f.Field, query.Op(f.Op))
		}
		listing = listing.with(pair{name, f.Value})
	}
	return listing, tried
}

// ask does what the API does with a call.
func ask(ctx context.Context, snap library.Snapshot, listing params, refused error) (*answer, error) {
	err := refused
	if err != nil && herb.MessageOf(err) == "" {
		err = herb.Errorf(herb.CodeUnauthenticated, "dataset %s needs a key; send it as X-API-Key: <key>, "+
			"as Authorization: Bearer <key>, or as the parameter api_key", snap.Ref)
	}
	var req *query.Request
	if err == nil {
		req, err = query.ParseOrdered(listing.encode(), snap.Fields, snap.Order)
	}
	status := map[herb.Code]int{herb.CodeInvalid: 400, herb.CodeUnauthenticated: 401, herb.CodeForbidden: 403}[herb.CodeOf(err)]
	if err != nil {
		if status == 0 {
			return nil, err
		}
		body, err := json.MarshalIndent(struct {
			Error   int    `json:"error"`
			Message string `json:"message"`
		}{status, herb.MessageOf(err)}, "", "  ")
		return &answer{status, http.StatusText(status), unescapeHTML(string(body)), true}, err
	}
	page, err := snap.List(ctx, req)
	if err != nil {
		return nil, err
	}
	raw := []byte(`{"data":[`)
	for i, rec := range page.Records {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(raw, rec...)
	}
	meta, err := json.Marshal(req.Meta(page.Total))
	if err != nil {
		return nil, err
	}
	raw = append(append(append(raw, `],"meta":`...), meta...), '}')
	return &answer{http.StatusOK, http.StatusText(http.StatusOK), indentJSON(raw), false}, nil
}

// unescapeHTML undoes what encoding/json does for the sake of HTML: the template escapes.
func unescapeHTML(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}
