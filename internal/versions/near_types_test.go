package versions_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// publishText publishes a text column and returns its report. near is what the profile of the
// column found.
func publishText(t *testing.T, near *herb.NearType, values ...string) (*versionstest.Node, herb.ColumnReport) {
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
			Rows: len(values), Columns: []herb.ColumnReport{{Field: "t", Near: near, Longest: longest, Lengths: []herb.LengthCount{{From: 1, To: longest}}}},
		}}},
		Records: sequence(records...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, out.Report.Columns[0]
}

// repeat returns n values made by format and their number.
func repeat(n int, format string) (values []string) {
	for i := range n {
		values = append(values, fmt.Sprintf(format, i))
	}
	return values
}

// TestPublish_near checks the distribution of columns that miss a type by a few values, and that
// the values that do not fit filter to exactly these rows.
func TestPublish_near(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		near   herb.NearType
		values []string
		want   *herb.NearType
	}{
		{
			"numbers", herb.NearType{Type: herb.TypeNumber, Notation: herb.Notation{Missing: []string{"NA"}}},
			append(repeat(40, "%d"), "on request", "", "NA", "on request", "5 & 6", " "),
			&herb.NearType{Values: 40, Others: []herb.ValueCount{{Value: "on request", Count: 2}, {Value: "5 & 6", Count: 1}}, Scale: "linear"},
		},
		{
			"skewed numbers", herb.NearType{Type: herb.TypeNumber, Notation: herb.Notation{Decimal: ","}},
			append(repeat(40, "%d,5"), "-3", "0", "1000000", "x"),
			&herb.NearType{Values: 43, Others: []herb.ValueCount{{Value: "x", Count: 1}}, Scale: "log"},
		},
		{
			"dates", herb.NearType{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%d/%m/%Y"}},
			append(repeat(28, "1/1/20%02d"), "31/12/2024", "ca. 1920"),
			&herb.NearType{Values: 29, Others: []herb.ValueCount{{Value: "ca. 1920", Count: 1}}, Scale: "linear"},
		},
		{
			"booleans", herb.NearType{Type: herb.TypeBoolean}, []string{"yes", "no", "yes", "perhaps"},
			&herb.NearType{Values: 3, Others: []herb.ValueCount{{Value: "perhaps", Count: 1}}},
		},
		{"nothing else", herb.NearType{Type: herb.TypeNumber}, []string{"1", "2"}, nil},
		{"many others", herb.NearType{Type: herb.TypeNumber}, append(repeat(600, "%d"), repeat(51, "x%d")...), nil},
		{"long others", herb.NearType{Type: herb.TypeNumber}, append(repeat(20, "%d"), strings.Repeat("x", 2001)), nil},
		{"nothing of the type", herb.NearType{Type: herb.TypeNumber}, []string{"x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, report := publishText(t, &tt.near, tt.values...)
			got := report.Near
			if got == nil || tt.want == nil {
				if got != tt.want {
					t.Errorf("%+v, want %+v", got, tt.want)
				}
				return
			}
			sum := 0
			for i, b := range got.Histogram {
				if sum += b.Count; i > 0 && b.From != got.Histogram[i-1].To {
					t.Errorf("%+v follows %+v", b, got.Histogram[i-1])
				}
			}
			if tt.near.Type != herb.TypeBoolean && (sum != got.Values || len(got.Histogram) < 3 || len(got.Histogram) > 20) {
				t.Errorf("the histogram of %d values is %+v", got.Values, got.Histogram)
			}
			tt.want.Type, tt.want.Notation, tt.want.Histogram = tt.near.Type, tt.near.Notation, got.Histogram
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var filter url.Values = map[string][]string{}
			for _, o := range got.Others {
				filter.Add("t", o.Value)
			}
			view, err := l.Acquire(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			defer view.Release()
			req, err := query.Split(filter.Encode()).Listing(view.Fields, herb.Order{})
			if err != nil {
				t.Fatal(err)
			}
			if page, err := view.List(t.Context(), req); err != nil || page.Total != got.OtherCount() {
				t.Errorf("%s finds %d rows, %v", filter.Encode(), page.Total, err)
			}
		})
	}
}

// TestPublish_words checks that the report has the most frequent words of long texts, without
// function words, and the lengths of texts with many values.
func TestPublish_words(t *testing.T) {
	t.Parallel()
	var values []string
	for i := range 100 {
		value := fmt.Sprintf("The rose of 1888, number %d, and the "+strings.Repeat("tree ", 1+i%2)+strings.Repeat("-", 100), i)
		if i%4 == 0 {
			value += " of the café"
		}
		values = append(values, value)
	}
	_, report := publishText(t, nil, values...)
	want := []herb.ValueCount{{Value: "number", Count: 100}, {Value: "rose", Count: 100}, {Value: "tree", Count: 100}, {Value: "cafe", Count: 25}}
	if diff := cmp.Diff(want, report.Words); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(report.Lengths) == 0 {
		t.Error("the report lacks the lengths of 100 texts")
	}
	_, report = publishText(t, nil, slices.Repeat([]string{"a rose", "a tree"}, 50)...)
	if report.Words != nil || report.Lengths != nil {
		t.Errorf("two short texts: %+v", report)
	}
}
