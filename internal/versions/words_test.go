package versions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// publishText publishes a text column and returns its report.
func publishText(t *testing.T, values ...string) herb.ColumnReport {
	t.Helper()
	l := versionstest.NewSharedDir(t).Open(t)
	records := make([]herb.Record, len(values))
	longest := 0
	for i, v := range values {
		records[i], longest = herb.Record{v}, max(longest, len(v))
	}
	f := field("t", herb.TypeText)
	f.Searchable = true
	out, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{f}, Details: herb.Details{Report: &herb.Report{
			Rows: len(values), Columns: []herb.ColumnReport{
				{Field: "t", Longest: longest, Lengths: []herb.LengthCount{{From: 1, To: longest}}}},
		}}},
		Records: sequence(records...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Report.Columns[0]
}

// TestPublish_words checks that the report has the most frequent words of long texts, without
// function words, and the lengths of texts with many values.
func TestPublish_words(t *testing.T) {
	t.Parallel()
	var values []string
	for i := range 100 {
		value := fmt.Sprintf("The rose of 1888, number %d, and the "+strings.Repeat("tree ", 1+i%2)+
			strings.Repeat("-", 100), i)
		if i%4 == 0 {
			value += " of the café"
		}
		values = append(values, value)
	}
	report := publishText(t, values...)
	want := []herb.ValueCount{{Value: "number", Count: 100}, {Value: "rose", Count: 100}, {Value: "tree", Count: 100},
		{Value: "cafe", Count: 25}}
	if diff := cmp.Diff(want, report.Words); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(report.Lengths) == 0 {
		t.Error("the report lacks the lengths of 100 texts")
	}
	report = publishText(t, slices.Repeat([]string{"a rose", "a tree"}, 50)...)
	if report.Words != nil || report.Lengths != nil {
		t.Errorf("two short texts: %+v", report)
	}
}
