package httpapi

import (
	"net/http"
	"strings"

	published "herbarium/docs/schemas"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi/openapi"
)

// openAPIDocument is the OpenAPI document for one set of datasets.
type openAPIDocument struct {
	document
	fingerprint string // changes whenever the document may change
}

// openAPI handles the OpenAPI document.
func (a *API) openAPI(w *response, r *http.Request) error {
	datasets, err := a.opts.Library.Datasets(r.Context())
	if err != nil {
		return err
	}
	key := fingerprintOf(datasets)
	d := a.openAPIDocument.Load()
	if d == nil || d.fingerprint != key {
		body, err := openapi.Generate(a.opts.PublicURL, datasets)
		if err != nil {
			return err
		}
		d = &openAPIDocument{document{contentJSON, body, a.entityTag(string(body))}, key}
		a.openAPIDocument.Store(d)
	}
	w.sendDocument(r, herb.AccessOpen, d.document)
	return nil
}

// fingerprintOf identifies the versions of all datasets. The fields of the plants never change.
func fingerprintOf(datasets []herb.Dataset) string {
	var b strings.Builder
	for _, d := range datasets {
		b.WriteString(d.Ref.String())
		if d.Ref != herb.PlantsRef {
			b.WriteString("@" + d.Version + string(d.Access))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// contentSchema is the content type of a JSON Schema.
const contentSchema = "application/schema+json"

// descriptorSchema handles the JSON Schema of our members in a Data Package.
func (a *API) descriptorSchema(w *response, r *http.Request) error {
	w.sendDocument(r, herb.AccessOpen, document{contentSchema, []byte(published.DataPackage), a.entityTag(published.DataPackage)})
	return nil
}
