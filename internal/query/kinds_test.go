package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/query"
)

// TestKind_Parameters names what each kind of request takes, in the order of messages.
func TestKind_Parameters(t *testing.T) {
	t.Parallel()
	const area = "_bbox _near _coordinates"
	for _, tt := range []struct {
		kind query.Kind
		want string
	}{
		{query.KindListing, "page per_page sort order search _words " + area +
			" api_key _fields _filter _any _zone _version _typed _matches _labels"},
		{query.KindExport, "sort order search _words " + area +
			" api_key _fields _filter _any _zone _version _typed _labels"},
		{query.KindFacets, "field top _offset _values buckets _scale _edges _own_filter search _words " + area +
			" api_key _filter _any _zone _version"},
		{query.KindGrid, "_x _y _bounds _columns _rows search _words " + area + " api_key _filter _any _zone _version"},
		{query.KindAggregate, "_by _measure _sort _top _offset _having _fill _group _group[empty] _series " +
			"_series[empty] " +
			"search _words " + area + " api_key _filter _any _zone _version _typed"},
		{query.KindChanges, "page per_page search _words api_key _fields _filter _any _zone _version _op _from _to"},
		{query.KindChangesFile, "search _words api_key _fields _filter _any _zone _version _op _from _to"},
		{query.KindFeed, "search _words api_key _fields _filter _any _zone _op"},
		{query.KindRecord, "api_key _fields _version _typed _labels"},
		{query.KindParquet, "api_key _version _types"},
		{query.KindVersion, "api_key _version"},
		{query.KindCatalogue, "page per_page search api_key"},
		{query.KindSearch, "search api_key"},
		{query.KindOpenAPI, "api_key dataset _typed"},
		{query.KindTools, "api_key _result"},
		{query.KindNone, "api_key"},
	} {
		if got := strings.Join(tt.kind.Parameters(), " "); got != tt.want {
			t.Errorf("kind %b takes %s; want %s", tt.kind, got, tt.want)
		}
	}
}
