package httpapi

import (
	"net/http"

	published "herbarium/docs/schemas"
	"herbarium/internal/herb"
)

// contentSchema is the content type of a JSON Schema.
const contentSchema = "application/schema+json"

// descriptorSchema handles the JSON Schema of our members in a Data Package.
func (a *API) descriptorSchema(w *response, r *http.Request) error {
	w.setCaching(r, herb.AccessOpen)
	if !w.notModified(r, a.entityTag(published.DataPackage)) {
		w.send(r, http.StatusOK, contentSchema, []byte(published.DataPackage))
	}
	return nil
}
