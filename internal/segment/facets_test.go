package segment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// TestFacets_longValues searches the values of a field that are too long to be stored by run. Too
// many of them are rejected, unless they are elements of a list, the same values, or few match.
func TestFacets_longValues(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true}, {Name: "long", Type: herb.TypeText, Filterable: true},
		{Name: "same", Type: herb.TypeText, Filterable: true}, {Name: "list", Type: herb.TypeList, Filterable: true},
		{Name: "other", Type: herb.TypeText, Filterable: true},
	}
	padding := strings.Repeat("x", 150)
	records := make([]herb.Record, 5_001)
	for i := range records {
		records[i] = herb.Record{fmt.Sprint(i), fmt.Sprintf("%s %d", padding, i), fmt.Sprintf("%s %d", padding, i%10),
			fmt.Sprintf("%s, %d", padding, i%10), fmt.Sprintf("%s %d", padding, -i)}
	}
	r := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
	for _, tt := range []struct {
		raw      string
		matching int // -1 if the request is rejected
	}{
		{"field=long&_values=77", -1},
		{"field=id&field=long&field=other&_values=77&id[ne]=77", -1}, // too many of several fields
		{"field=long&field=id&_values=77&id[ne]=77", 94},
		{"field=long&_values=77&id[ne]=77", 94}, // 5,000 values match the filter
		{"field=long&_values=77&id[lt]=100", 1},
		{"field=long", 5_001},
		{"field=same&_values=7", 1},
		{"field=same&_values=%CC%81", 10}, // an accent alone is in all values
		{"field=list&_values=7", 1},
	} {
		q, err := query.ParseFacets(strings.NewReplacer("[", "%5B", "]", "%5D").Replace(tt.raw), fields)
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Facets(t.Context(), q)
		if tt.matching < 0 {
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), `field "long"`) &&
				!strings.Contains(err.Error(), `several fields, and those up to field "other"`) {
				t.Errorf("%s: %v", tt.raw, err)
			}
			continue
		}
		if err != nil || f.Fields[0].Matching != tt.matching {
			t.Errorf("%s: error %v, or other than %d matching values", tt.raw, err, tt.matching)
		}
	}
}

// TestFacets_spellings counts texts with the same sort key that are written differently: facets
// count them separately, in the order of their bytes.
func TestFacets_spellings(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "name", Type: herb.TypeText, Filterable: true}}
	var records []herb.Record
	for _, name := range []string{"ab", "\x01ab", "ab\x01", "b", "a\u00adb", "ab", "ab", "\u00e9", "e\u0301",
		"e\u0301"} {
		records = append(records, herb.Record{name})
	}
	r := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
	q, err := query.ParseFacets("field=name", fields)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Facets(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	want := []query.ValueCount{{Value: "ab", Count: 3}, {Value: "e\u0301", Count: 2}, {Value: "\x01ab", Count: 1},
		{Value: "ab\x01", Count: 1},
		{Value: "a\u00adb", Count: 1}, {Value: "b", Count: 1}, {Value: "\u00e9", Count: 1}}
	if diff := cmp.Diff(want, got.Fields[0].Values); diff != "" || got.Fields[0].Distinct != len(want) {
		t.Errorf("%d values, - want, + got:\n%s", got.Fields[0].Distinct, diff)
	}
}
