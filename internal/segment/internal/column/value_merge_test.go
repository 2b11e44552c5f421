package column_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// TestFacet_merged counts the texts of several segments.
func TestFacet_merged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		parts    [][]string
		request  query.FacetRequest
		want     []query.ValueCount
		distinct int
		matching int
	}{
		{"none", [][]string{nil, nil}, query.FacetRequest{Top: 5}, nil, 0, 0},
		{"only missing values", [][]string{{"", ""}, {""}}, query.FacetRequest{Top: 5}, nil, 0, 0},
		{"in both segments", [][]string{{"a", "c"}, {"a", "b", "a"}}, query.FacetRequest{Top: 5},
			[]query.ValueCount{{Value: "a", Count: 3}, {Value: "b", Count: 1}, {Value: "c", Count: 1}}, 3, 3},
		{"texts that sort alike", [][]string{{"z\u200b", "z"}, {"z", "z\u200b\u200b"}}, query.FacetRequest{Top: 5},
			[]query.ValueCount{{Value: "z", Count: 2}, {Value: "z\u200b", Count: 1}, {Value: "z\u200b\u200b", Count: 1}}, 3, 3},
		{"a prefix of another", [][]string{{"a"}, {"ab"}, {"a"}}, query.FacetRequest{Top: 5},
			[]query.ValueCount{{Value: "a", Count: 2}, {Value: "ab", Count: 1}}, 2, 2},
		{"ranges one after the other", [][]string{{"a", "b", "c", "x"}, {"d", "e", "x"}, {"f", "x"}}, query.FacetRequest{Top: 3},
			[]query.ValueCount{{Value: "x", Count: 3}, {Value: "a", Count: 1}, {Value: "b", Count: 1}}, 7, 7},
		{"only the first", [][]string{{"a", "b", "b"}, {"c", "c", "c"}}, query.FacetRequest{Top: 1}, []query.ValueCount{{Value: "c", Count: 3}}, 3, 3},
		{"after the first", [][]string{{"a", "b", "b"}, {"c", "c", "c"}}, query.FacetRequest{Top: 1, Offset: 1}, []query.ValueCount{{Value: "b", Count: 2}}, 3, 3},
		{"that contain a text", [][]string{{"oak", "yew", "yew"}, {"soak", "soak"}}, query.FacetRequest{Top: 5, Containing: "oak"},
			[]query.ValueCount{{Value: "soak", Count: 2}, {Value: "oak", Count: 1}}, 3, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var parts []column.Part
			for _, values := range tt.parts {
				columns, _ := openColumns(t, []herb.Field{{Name: "name", Type: herb.TypeText}}, func(i int) herb.Record { return herb.Record{values[i]} }, len(values))
				parts = append(parts, column.Part{Column: &columns[0]})
			}
			c := column.FacetCounter{Request: &tt.request}
			got := c.Facet(guard.NewSteps(t.Context()), parts)
			if diff := cmp.Diff(tt.want, got.Values); diff != "" || got.Distinct != tt.distinct || got.Matching != tt.matching {
				t.Errorf("%d distinct, %d matching; want %d, %d (-want +got):\n%s", got.Distinct, got.Matching, tt.distinct, tt.matching, diff)
			}
		})
	}
}
