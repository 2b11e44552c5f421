package reading

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const RecordPattern = "/api/v1/{namespace}/{dataset}/data/{key...}"

// Record sends the record with a primary key. The values of a composite key are separate path
// segments.
func (h *Handlers) Record(w *response.Writer, r *http.Request) error {
	shown := herb.Clip(r.PathValue("key"), response.MaxShown)
	view, err := h.gate.OpenDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	listing, err := keyFilter(w.Path, view.Dataset)
	if err != nil {
		return err
	}
	if _, err := query.Of(listing).Listing(view.Fields, herb.Order{}); err != nil { // a value of another type, or a field that is not filterable
		return herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q: %s", view.Ref, shown, herb.MessageOf(err))
	}
	params, err := view.Query.Only(query.ParamFields, query.ParamVersion)
	if err != nil {
		return err
	}
	req, err := query.Of(listing.With(params...)).Listing(view.Fields, herb.Order{})
	if err != nil {
		return err
	}
	req.MatchWholeLists()
	page, err := view.List(r.Context(), req)
	if err == nil && page.Total == 0 {
		err = herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q", view.Ref, shown)
	}
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.Canonical(), view.Version, response.ContentJSON)) { // If-None-Match: * needs a record
		return err
	}
	selector := req.NewSelector()
	size, err := selector.Size(page.Records[0])
	if err != nil {
		return err
	}
	return h.sendRecords(w, r, size, func(out io.Writer) error { return selector.Write(out, page.Records[0]) })
}

// keyFilter returns the filter for the record with the key in an escaped path.
func keyFilter(path string, d herb.Dataset) (filter query.Params, err error) {
	if len(d.PrimaryKey) == 0 {
		return nil, herb.Errorf(herb.CodeNotFound, "dataset %s has no primary key, so its records have no address; "+
			"use a filter, as in %s/data?id=1", d.Ref, d.Ref)
	}
	segments := strings.Split(path, "/")[strings.Count(RecordPattern, "/"):]
	if len(segments) != len(d.PrimaryKey) {
		return nil, herb.Errorf(herb.CodeNotFound, "the key has %s; the primary key of %s is %s",
			herb.Plural(len(segments), "value", "values"), d.Ref, strings.Join(d.PrimaryKey, "/"))
	}
	for i, s := range segments {
		value, err := url.PathUnescape(s)
		if err != nil {
			return nil, herb.Invalidf("malformed key: %s", herb.Clip(s, response.MaxShown))
		}
		filter = filter.With(query.Param{Name: query.FilterParam(d.PrimaryKey[i], query.OpEq), Value: value})
	}
	return filter, nil
}
