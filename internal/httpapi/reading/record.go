package reading

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

const RecordPattern = "/api/v1/{namespace}/{dataset}/data/{key...}"

// Record sends the record with a primary key. The values of a composite key are separate path
// segments.
func (h *Handlers) Record(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	key, err := keyOf(w.Path)
	if err != nil {
		return err
	}
	found, err := operations.Record(r.Context(), &view.View, key, view.Query)
	if err != nil {
		return err
	}
	defer found.Release()
	tag := response.EntityTag(w.Path, found.Request.Canonical(), view.Version, response.ContentJSON)
	if w.NotModified(r, tag) { // If-None-Match: * needs a record
		return nil
	}
	selector := found.Request.NewSelector(found.Types)
	size, err := selector.Size(found.Records[0])
	if err != nil {
		return err
	}
	return h.sendRecords(w, r, size, func(out io.Writer) error { return selector.Write(out, found.Records[0]) })
}

// keyOf returns the values of the key in an escaped path.
func keyOf(path string) (key []string, err error) {
	for _, s := range strings.Split(path, "/")[strings.Count(RecordPattern, "/"):] {
		value, err := url.PathUnescape(s)
		if err != nil {
			return nil, herb.Invalidf("malformed key: %s", herb.Clip(s, response.MaxShown))
		}
		key = append(key, value)
	}
	return key, nil
}
