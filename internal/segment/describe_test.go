package segment_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// column builds a segment of one field.
func column(t *testing.T, typ herb.Type, values ...string) *segment.Reader {
	t.Helper()
	records := make([]herb.Record, len(values))
	for i, v := range values {
		records[i] = herb.Record{v}
	}
	return openBuilt(t, []herb.Field{{Name: "x", Type: typ, Filterable: true, Sortable: true}}, records,
		segment.Options{})
}

func TestColumn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		typ    herb.Type
		values []string
		want   segment.ColumnStat
	}{
		{"no records", herb.TypeText, nil, segment.ColumnStat{}},
		{"no values", herb.TypeNumber, []string{"", ""}, segment.ColumnStat{}},
		{"numbers", herb.TypeNumber, []string{"10", "9", "", "9.0", "-2"},
			segment.ColumnStat{Filled: 4, Distinct: 3, Min: "-2", Max: "10"}},
		{"dates", herb.TypeDate, []string{"2024-02-29", "1999-12-31"},
			segment.ColumnStat{Filled: 2, Distinct: 2, Min: "1999-12-31", Max: "2024-02-29"}},
		{"text", herb.TypeText, []string{"zed", "Ångström", "bo", "Ana", "bo"},
			segment.ColumnStat{Filled: 5, Distinct: 4, Min: "Ana", Max: "zed"}},
		{"escapes", herb.TypeText, []string{"a \"quote\"\n", "\u2028"},
			segment.ColumnStat{Filled: 2, Distinct: 2, Min: "\u2028", Max: "a \"quote\"\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := column(t, tt.typ, tt.values...).Column(0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("column (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5<<20) // so that pages are released
	r := column(t, herb.TypeText, long, "a", long, "b", long, long, "c")
	var got []int
	if err := r.Each(t.Context(),
		func(record []byte) error { got = append(got, len(record)); return nil }); err != nil {
		t.Fatal(err)
	}
	const frame = len(`{"x":""}`)
	if diff := cmp.Diff([]int{len(long) + frame, 1 + frame, len(long) + frame, 1 + frame, len(long) + frame,
		len(long) + frame, 1 + frame}, got); diff != "" {
		t.Errorf("lengths (-want +got):\n%s", diff)
	}
	broken := errors.New("enough")
	calls := 0
	err := r.Each(t.Context(), func([]byte) error { calls++; return broken })
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls; want the error of the first", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Each(ctx, func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want context.Canceled", err)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	text := herb.Field{Name: "t", Type: herb.TypeText}
	number := herb.Field{Name: "n", Type: herb.TypeNumber}
	for _, tt := range []struct {
		name    string
		fields  []herb.Field
		records []herb.Record
		want    segment.Duplicates
	}{
		{"no records", []herb.Field{text}, nil, segment.Duplicates{}},
		{"all different", []herb.Field{text}, []herb.Record{{"a"}, {"A"}, {"á"}}, segment.Duplicates{}},
		{"empty values are not compared", []herb.Field{text}, []herb.Record{{""}, {"a"}, {""}}, segment.Duplicates{}},
		{
			"one value", []herb.Field{text}, []herb.Record{{"a"}, {"b"}, {"a"}, {"c"}, {"a"}},
			segment.Duplicates{Records: 2,
				First: []segment.Duplicate{{Values: []string{"a"}, Records: []int{1, 3, 5}, Total: 3}}},
		},
		{
			"in the order of the records", []herb.Field{text}, []herb.Record{{"z\n"}, {"b"}, {"b"}, {"z\n"}},
			segment.Duplicates{Records: 2, First: []segment.Duplicate{
				{Values: []string{"z\n"}, Records: []int{1, 4}, Total: 2},
				{Values: []string{"b"}, Records: []int{2, 3}, Total: 2},
			}},
		},
		{
			"numbers by value", []herb.Field{number}, []herb.Record{{"1"}, {"2"}, {"1.0"}},
			segment.Duplicates{Records: 1,
				First: []segment.Duplicate{{Values: []string{"1"}, Records: []int{1, 3}, Total: 2}}},
		},
		{"text by writing", []herb.Field{text}, []herb.Record{{"é"}, {"e\u0301"}}, segment.Duplicates{}},
		{"two fields, none", []herb.Field{text, number}, []herb.Record{{"a", "1"}, {"a", "2"}, {"b", "1"}, {"", ""},
			{"", ""}}, segment.Duplicates{}},
		{
			"two fields, one empty", []herb.Field{text, number},
			[]herb.Record{{"a", ""}, {"", "1"}, {"a", ""}, {"", "1.00"}},
			segment.Duplicates{Records: 2, First: []segment.Duplicate{
				{Values: []string{"a", ""}, Records: []int{1, 3}, Total: 2},
				{Values: []string{"", "1"}, Records: []int{2, 4}, Total: 2},
			}},
		},
		{"values do not run together", []herb.Field{text, text2(text)}, []herb.Record{{"ab", "c"}, {"a", "bc"}},
			segment.Duplicates{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fields := make([]int, len(tt.fields))
			for i := range fields {
				fields[i] = i
			}
			got, err := openBuilt(t, tt.fields, tt.records, segment.Options{}).Duplicates(t.Context(), fields,
				segment.SortOptions{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("duplicates (-want +got):\n%s", diff)
			}
		})
	}
}

func text2(f herb.Field) herb.Field {
	f.Name += "2"
	return f
}

// TestDuplicates_many exceeds all limits of the report.
func TestDuplicates_many(t *testing.T) {
	t.Parallel()
	values := make([]string, 0, 9000)
	for i := range 9000 {
		values = append(values, strconv.Itoa(i%3000))
	}
	got, err := column(t, herb.TypeNumber, values...).Duplicates(t.Context(), []int{0},
		segment.SortOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got.Records != 6000 || len(got.First) != 5 {
		t.Errorf("%d duplicates, %d of them told; want 6000 and 5", got.Records, len(got.First))
	}
	for _, d := range got.First {
		n := d.Records[0]
		if diff := cmp.Diff(segment.Duplicate{Values: []string{fmt.Sprint(n - 1)},
			Records: []int{n, n + 3000, n + 6000}, Total: 3}, d); diff != "" {
			t.Errorf("duplicate (-want +got):\n%s", diff)
		}
	}
}
