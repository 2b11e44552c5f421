package reading

import (
	"bytes"
	"encoding/json"
	"net/http"

	"herbarium/internal/etag"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/query"
)

// suggestionsTag returns the entity tag of a JSON response with suggestions. That of the same
// request without records or suggestions is another one, so that the tags of responses without
// suggestions do not depend on how suggestions are found. The number is incremented when that
// changes.
func suggestionsTag(w *response.Writer, view gate.DatasetView, req *query.Request) string {
	return response.EntityTag(w.Path, "suggestions 1 "+req.ResultKey(), view.Version, response.ContentJSON)
}

// isCurrent sends 304 if the client has the JSON response to a request, with or without
// suggestions, and reports whether it did.
func isCurrent(w *response.Writer, r *http.Request, view gate.DatasetView, req *query.Request) bool {
	if w.NotModified(r, response.EntityTag(w.Path, req.ResultKey(), view.Version, response.ContentJSON)) {
		return true
	}
	if r.Header["If-None-Match"] == nil {
		return false
	}
	tag := suggestionsTag(w, view, req)
	return etag.Match(r.Header, tag) && w.NotModified(r, tag)
}

// suggest returns the suggestions for a request without records, and sets the entity tag of the
// response if there are any.
func (h *Handlers) suggest(
	w *response.Writer, r *http.Request, view gate.DatasetView, req *query.Request,
) (suggestions []query.Suggestion, err error) {
	params, err := w.QueryString(r).Without(query.ParamPage, query.ParamAPIKey).Params()
	if err != nil {
		return nil, err
	}
	found, err := operations.Suggest(r.Context(), &view.View, req, params)
	for _, s := range found {
		suggestions = append(suggestions, s.Response(func(params query.Params) string {
			return h.opts.Base + w.Path + "?" + params.Encode()
		}))
	}
	if suggestions != nil {
		w.Set("Etag", suggestionsTag(w, view, req))
	}
	return suggestions, err
}

// appendSuggestions appends suggestions as JSON, with readable addresses.
func appendSuggestions(b []byte, suggestions []query.Suggestion) []byte {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	_ = e.Encode(suggestions) // strings and numbers
	return append(b, bytes.TrimSpace(encoded.Bytes())...)
}
