package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	published "herbarium/docs/schemas"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi/openapi"
	"herbarium/internal/query"
)

// openAPI handles the OpenAPI document, of all datasets or of one.
func (a *API) openAPI(w *response, r *http.Request) error {
	params, err := query.ParseOnly(r.URL.RawQuery, "dataset")
	if err != nil {
		return err
	}
	d, access := document{}, herb.AccessOpen
	if name := params.Get("dataset"); name != "" {
		d, access, err = a.datasetDocument(w, r, name)
	} else {
		d, err = a.fullDocument(r.Context())
	}
	if err != nil {
		return err
	}
	w.sendDocument(r, access, d)
	return nil
}

// datasetDocument returns the document for one dataset, and the access that it requires.
func (a *API) datasetDocument(w *response, r *http.Request, name string) (document, herb.Access, error) {
	ref, err := herb.ParseRef(name)
	if err != nil {
		return document{}, "", err
	}
	view, err := a.opts.Library.Acquire(r.Context(), ref)
	if err != nil {
		return document{}, "", err
	}
	defer view.Release()
	d, access := a.readable(w, r, view.Dataset)
	body, err := openapi.Generate(a.opts.PublicURL, []herb.Dataset{d}, 1, a.opts.Plants != nil)
	return a.newDocument(contentJSON, body), access, err
}

// fullDocument returns the document for all datasets, without values of those that require a key. It is cached until they change.
func (a *API) fullDocument(ctx context.Context) (document, error) {
	live, err := a.opts.Library.Live(ctx)
	if err != nil {
		return document{}, err
	}
	key := fingerprintOf(live)
	if d := a.openAPIDocument.Load(); d != nil && d.fingerprint == key {
		return *d, nil
	}
	var datasets []herb.Dataset
	if len(live) <= openapi.MaxDatasets {
		if datasets, err = a.opts.Library.Datasets(ctx, live, false); err != nil {
			return document{}, err
		}
		for i, d := range datasets {
			if d.Access == herb.AccessKey {
				datasets[i] = d.WithoutValues()
			}
		}
	}
	body, err := openapi.Generate(a.opts.PublicURL, datasets, len(live), a.opts.Plants != nil)
	if err != nil {
		return document{}, err
	}
	d := a.newDocument(contentJSON, body)
	d.fingerprint = key
	a.openAPIDocument.Store(&d)
	return d, nil
}

// fingerprintOf returns a fingerprint of the versions that a document describes. With more than openapi.MaxDatasets, the
// document contains only their number. The version of the plants is left out, because their fields never change.
func fingerprintOf(live []herb.LiveVersion) string {
	if len(live) > openapi.MaxDatasets {
		return strconv.Itoa(len(live))
	}
	var b strings.Builder
	for _, v := range live {
		b.WriteString(v.Ref.String())
		if v.Ref != herb.PlantsRef {
			b.WriteString("@" + v.Version)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// contentSchema is the content type of a JSON Schema.
const contentSchema = "application/schema+json"

// descriptorSchema handles the JSON Schema of our members in a Data Package.
func (a *API) descriptorSchema(w *response, r *http.Request) error {
	w.sendDocument(r, herb.AccessOpen, a.newDocument(contentSchema, []byte(published.DataPackage)))
	return nil
}
