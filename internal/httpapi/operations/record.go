package operations

import (
	"context"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// maxShown is the maximum number of characters of a key in a message.
const maxShown = 200

// Record returns the record with a primary key, with the fields that the parameters select. It
// fails with herb.CodeNotFound if there is none. The caller must release it.
func Record(ctx context.Context, v *library.View, key []string, params query.String) (found Records, err error) {
	shown := herb.Clip(strings.Join(key, "/"), maxShown)
	switch {
	case len(v.PrimaryKey) == 0:
		return found, herb.Errorf(herb.CodeNotFound, "dataset %s has no primary key, so its records have no address; "+
			"use a filter, as in %s/data?id=1", v.Ref, v.Ref)
	case len(key) != len(v.PrimaryKey):
		return found, herb.Errorf(herb.CodeNotFound, "the key has %s; the primary key of %s is %s",
			herb.Plural(len(key), "value", "values"), v.Ref, strings.Join(v.PrimaryKey, "/"))
	}
	// A value of another type, or a field that is not filterable, has no record.
	if _, err := query.Of(keyFilter(v.PrimaryKey, key)).Listing(v.Fields, herb.Order{}); err != nil {
		return found, herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q: %s", v.Ref, shown,
			herb.MessageOf(err))
	}
	selected, err := params.Params()
	if err != nil {
		return found, err
	}
	found, err = WithKey(ctx, v, v.PrimaryKey, key, selected)
	if err == nil && found.Total == 0 {
		found.Release()
		err = herb.Errorf(herb.CodeNotFound, "%s has no record with the key %q%s", v.Ref, shown,
			suggestKey(ctx, v, found.Request, key))
	}
	return found, err
}

// suggestKey returns the end of a message that names a key which a client may mean; empty if there
// is none. req requests the record of key.
func suggestKey(ctx context.Context, v *library.View, req *query.Request, key []string) string {
	suggestions, err := Suggest(ctx, v, req, keyFilter(v.PrimaryKey, key))
	if err != nil || len(suggestions) == 0 || len(suggestions[0].Params) < len(key) {
		return ""
	}
	var meant []string
	for _, p := range suggestions[0].Params {
		meant = append(meant, p.Value)
	}
	return "; did you mean " + strconv.Quote(herb.Clip(strings.Join(meant, "/"), maxShown)) + "?"
}

// WithKey returns the records in which fields have the values of a key, with the fields that
// selected names. Other versions can have several of them. A value of another type is an error
// with herb.CodeInvalid. The caller must release them.
func WithKey(
	ctx context.Context, v *library.View, fields, key []string, selected query.Params,
) (found Records, err error) {
	req, err := query.Of(keyFilter(fields, key).With(selected...)).Listing(v.Fields, herb.Order{})
	if err != nil {
		return found, err
	}
	req.MatchWholeValues()
	return List(ctx, v, req)
}

// keyFilter returns the filter for the records with a key.
func keyFilter(fields, key []string) (filter query.Params) {
	for i, value := range key {
		filter = filter.With(query.Param{Name: query.FilterParam(fields[i], query.OpEq), Value: value})
	}
	return filter
}
