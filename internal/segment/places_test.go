package segment_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// TestPlaces compares boxes and distances with the oracle.
func TestPlaces(t *testing.T) {
	t.Parallel()
	segmenttest.RunPlaces(t, segmenttest.Engine{
		Open: func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
			return openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
		}})
}

// TestPlaces_none checks the message for a dataset without coordinates.
func TestPlaces_none(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "name", Type: herb.TypeText, Filterable: true}}
	r := openBuilt(t, fields, []herb.Record{{"a"}}, segment.Options{FS: unsynced{}})
	q, err := query.Parse("_bbox=0,0,1,1", fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.List(t.Context(), q); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("%v", err)
	}
}
