package web_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// TestLargeRecords checks that pages show the start of large values, and say so.
func TestLargeRecords(t *testing.T) {
	t.Parallel()
	const records, size = 5, 1 << 20
	value := strings.Repeat("start of a shape ", 4096) + strings.Repeat("x", size)
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) {
		d := herb.Dataset{Ref: herb.Ref{Namespace: "large", Name: "shapes"}, Fields: []herb.Field{
			field("id", herb.TypeText), field("shape", herb.TypeText), field("parts", herb.TypeList),
			field("hidden", herb.TypeText),
		}}
		var rows []herb.Record
		for range records {
			rows = append(rows, herb.Record{"1", value, strings.Repeat("part, ", size/6), value})
		}
		lib.Put(d, rows)
	})
	const dataset = "/datasets/large/shapes"
	for path, want := range map[string]string{
		dataset:                   "start of a shape",
		dataset + "?search=shape": "<mark>shape</mark>",
		dataset + "?_record=2":    "the value is longer; the API and the exports have all of it",
		dataset + "?_record=3":    "The JSON of this row is too long for a page",
		dataset + "/about":        "start of a shape",
	} {
		a := s.get(t, path)
		if a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, without %q: %.300s", path, a.status, want, a.body)
		}
		if len(a.body) > size/4 {
			t.Errorf("%s has %d bytes", path, len(a.body))
		}
	}
	for _, cell := range all(s.page(t, dataset, 200), tag("td", "")) {
		if raw := attr(cell, "data-raw"); len(raw) > 4<<10 {
			t.Errorf("a cell has %d bytes of a value", len(raw))
		}
	}
}
