package ingest_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"herbarium/internal/ingest"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// TestInspect_nestedEscapes checks that search and contains find text in nested values of JSON that
// the file writes with escapes, in an index and in the oracle.
func TestInspect_nestedEscapes(t *testing.T) {
	t.Parallel()
	const file = `[{"id":1,"places":[{"city":"Z\u00fcrich"}],"list":["Z\u00fcrich, See"]},{"id":2,"places":[{"city":"Bern"}],"list":["x"]}]`
	table := inspect(t, ingest.Source{Path: writeFile(t, t.TempDir(), "a.json", file)})
	records := recordsOf(t, table)
	fields, path := table.Dataset.Fields, filepath.Join(t.TempDir(), "segment")
	if _, err := segment.Create(t.Context(), path, fields, table.Records(t.Context()), segment.Options{}); err != nil {
		t.Fatal(err)
	}
	index, err := segment.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	for raw, want := range map[string]int{
		"search=Zürich": 1, "search=zurich": 1, "places[match]=Zürich": 1, "places[contains]=Zürich": 1,
		"places[contains]=ZURI": 1,
		"list[contains]=Zürich": 1, "list=Zürich, See": 1, "places[contains]=u00fc": 0, "places[contains]=Genf": 0,
	} {
		request, err := query.Parse(url.PathEscape(raw), fields)
		if err != nil {
			t.Fatal(err)
		}
		for name, engine := range map[string]query.Engine{
			"index": index, "oracle": segmenttest.NewOracle(fields, records)} {
			if page, err := engine.List(t.Context(), request); err != nil || page.Total != want {
				t.Errorf("%s in the %s: got %d records and error %v, want %d", raw, name, page.Total, err, want)
			}
		}
	}
}
