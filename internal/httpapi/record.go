package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const recordPattern = "/api/v1/{namespace}/{dataset}/data/{key...}"

// record sends the record with a primary key. The values of a composite key are separate path segments.
func (a *API) record(w *response, r *http.Request) error {
	if r.PathValue("key") == "" {
		return a.noSuchPath(r)
	}
	view, raw, err := a.openDataset(w, r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer view.Release()
	if len(view.PrimaryKey) == 0 {
		return herb.Errorf(herb.CodeNotFound, "dataset %s has no primary key, so its records have no address; "+
			"use a filter, as in %s/data?id=1", view.Ref, view.Ref)
	}
	segments := strings.Split(r.URL.EscapedPath(), "/")[len(strings.Split(recordPattern, "/"))-1:]
	if len(segments) != len(view.PrimaryKey) {
		return herb.Errorf(herb.CodeNotFound, "the key has %d values; the primary key of %s is %s",
			len(segments), view.Ref, strings.Join(view.PrimaryKey, "/"))
	}
	shown := herb.Clip(r.PathValue("key"), maxShown)
	var params query.Params
	for i, s := range segments {
		value, err := url.PathUnescape(s)
		if err != nil {
			return herb.Invalidf("malformed key: %s", herb.Clip(s, maxShown))
		}
		params = params.With(query.Param{Name: query.FilterParam(view.PrimaryKey[i], query.OpEq), Value: value})
	}
	if _, err := query.Parse(params.Encode(), view.Fields); err != nil { // a value of another type, or a field that is not filterable
		return herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q: %s", view.Ref, shown, herb.MessageOf(err))
	}
	fields, err := query.ParseParams(raw)
	if err != nil {
		return err
	}
	for _, p := range fields.Without(query.ParamAPIKey) {
		if p.Name != query.ParamFields {
			return herb.Invalidf("unknown parameter %q; a record has the parameters %s, %s and %s",
				herb.Clip(p.Name, maxShown), query.ParamAPIKey, query.ParamFields, query.ParamVersion)
		}
		params = params.With(p)
	}
	req, err := query.Parse(params.Encode(), view.Fields)
	if err != nil {
		return err
	}
	if w.notModified(r, a.entityTag(view.Ref.Namespace, view.Ref.Name, view.Version, "record", req.String())) {
		return nil
	}
	page, err := view.List(r.Context(), req)
	if err == nil && page.Total == 0 {
		err = herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q", view.Ref, shown)
	}
	if err != nil {
		return err
	}
	records, err := req.SelectRecords(page.Records[:1])
	if err != nil {
		return err
	}
	w.send(r, http.StatusOK, contentJSON, records[0])
	return nil
}
