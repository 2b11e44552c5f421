package reading

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const RecordPattern = "/api/v1/{namespace}/{dataset}/data/{key...}"

// Record sends the record with a primary key. The values of a composite key are separate path
// segments.
func (h *Handlers) Record(w *response.Writer, r *http.Request) error {
	view, err := h.gate.OpenDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	key, err := keyOf(w.Path)
	if err != nil {
		return err
	}
	req, page, err := FindRecord(r.Context(), view, key)
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.Canonical(), view.Version, response.ContentJSON)) { // If-None-Match: * needs a record
		return err
	}
	types, err := req.Types(view)
	if err != nil {
		return err
	}
	release, err := w.Reserve(r.Context(), typedMemory(view.Dataset, req))
	if err != nil {
		return err
	}
	defer release()
	selector := req.NewSelector(types)
	size, err := selector.Size(page.Records[0])
	if err != nil {
		return err
	}
	return h.sendRecords(w, r, size, func(out io.Writer) error { return selector.Write(out, page.Records[0]) })
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

// FindRecord returns the request for the record with a primary key, with the fields that the query
// string of the view selects, and a page with this record. Without one, it fails with
// herb.CodeNotFound.
func FindRecord(ctx context.Context, view gate.DatasetView, key []string) (req *query.Request, page query.Page, err error) {
	shown := herb.Clip(strings.Join(key, "/"), response.MaxShown)
	listing, err := keyFilter(key, view.Dataset)
	if err != nil {
		return nil, page, err
	}
	if _, err := query.Of(listing).Listing(view.Fields, herb.Order{}); err != nil { // a value of another type, or a field that is not filterable
		return nil, page, herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q: %s", view.Ref, shown, herb.MessageOf(err))
	}
	params, err := view.Query.Only(query.KindRecord)
	if err != nil {
		return nil, page, err
	}
	req, err = query.Of(listing.With(params...)).Listing(view.Fields, herb.Order{})
	if err != nil {
		return nil, page, err
	}
	req.MatchWholeValues()
	page, err = view.List(ctx, req)
	if err == nil && page.Total == 0 {
		err = herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q", view.Ref, shown)
	}
	return req, page, err
}

// keyFilter returns the filter for the record with a key.
func keyFilter(key []string, d herb.Dataset) (filter query.Params, err error) {
	if len(d.PrimaryKey) == 0 {
		return nil, herb.Errorf(herb.CodeNotFound, "dataset %s has no primary key, so its records have no address; "+
			"use a filter, as in %s/data?id=1", d.Ref, d.Ref)
	}
	if len(key) != len(d.PrimaryKey) {
		return nil, herb.Errorf(herb.CodeNotFound, "the key has %s; the primary key of %s is %s",
			herb.Plural(len(key), "value", "values"), d.Ref, strings.Join(d.PrimaryKey, "/"))
	}
	for i, value := range key {
		filter = filter.With(query.Param{Name: query.FilterParam(d.PrimaryKey[i], query.OpEq), Value: value})
	}
	return filter, nil
}
