package query_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func aggregateFields() []herb.Field {
	return []herb.Field{
		{Name: "category", Type: herb.TypeText, Filterable: true},
		{Name: "date", Type: herb.TypeDate, Filterable: true},
		{Name: "time", Type: herb.TypeDateTime, Filterable: true},
		{Name: "price", Type: herb.TypeNumber, Filterable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true},
		{Name: "in:stock", Type: herb.TypeBoolean, Filterable: true},
		{Name: "notes", Type: herb.TypeText},
	}
}

func TestParseAggregate(t *testing.T) {
	t.Parallel()
	a, err := query.ParseAggregate(
		"_by=in:stock&_by=price:0.50&_measure=count&_measure=p90:price&_sort=-sum:price,by2&"+
			"_having=mean:price[gte]=2&_having=count=3&_top=7&_offset=2&category=tree&search=rose", aggregateFields())
	if err != nil {
		t.Fatal(err)
	}
	if len(a.By) != 2 || a.By[0].Field != 5 || a.By[0].HasIntervals() || a.By[1].Width != "0.5" {
		t.Errorf("By is %+v", a.By)
	}
	var names []string
	for _, m := range a.Measures {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "count p90:price sum:price mean:price" || a.Returned != 2 ||
		a.Measures[1].Percent != 90 {
		t.Errorf("measures are %s, of which %d are returned", got, a.Returned)
	}
	if len(a.Sort) != 2 || a.Sort[0] != (query.GroupSort{By: -1, Measure: 2, Desc: true}) ||
		a.Sort[1] != (query.GroupSort{By: 1}) {
		t.Errorf("Sort is %+v", a.Sort)
	}
	if len(a.Having) != 2 || a.Having[0].Field != 0 || a.Having[1].Field != 3 || a.Having[1].Op != query.OpGte {
		t.Errorf("Having is %+v", a.Having)
	}
	if a.Top != 7 || a.Offset != 2 || a.Zone != nil || len(a.Request.Conditions) != 1 || a.Request.Search == nil {
		t.Errorf("request is %+v", a)
	}
}

// TestAggregateExport checks that a request for a file has all groups unless it says how many.
func TestAggregateExport(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{"_by=category": math.MaxInt32, "_by=category&_top=1000000": 1_000_000,
		"_by=category&_top=1000001": 0} {
		a, err := query.Split(raw).AggregateExport(aggregateFields())
		if want == 0 && !strings.Contains(herb.MessageOf(err), "a whole number from 1 to 1000000") || want > 0 &&
			(err != nil || a.Top != want) {
			t.Errorf("%s: %+v, %v", raw, a, err)
		}
	}
}

// TestParseAggregate_cycles groups by what recurs, in a zone if it applies.
func TestParseAggregate_cycles(t *testing.T) {
	t.Parallel()
	a, err := query.ParseAggregate("_by=time:hour_of_day&_by=date:weekday&_zone=Europe/Berlin", aggregateFields())
	if err != nil {
		t.Fatal(err)
	}
	if a.Zone.String() != "Europe/Berlin" || !a.By[0].IsCyclic() || a.By[1].Grain != query.GrainWeekday {
		t.Errorf("request is %+v", a)
	}
}

func TestParseAggregate_invalid(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"_by=categry":                     `unknown field "categry" in "_by"; did you mean "category"?`,
		"_by=notes":                       `field "notes" is not filterable, so records are not grouped by it`,
		"_by=date:hour":                   `unknown grain "hour" of the date field "date"`,
		"_by=time:months":                 `did you mean "month"? valid grains: year, quarter, month, week, day, hour`,
		"_by=price:0":                     `is not a positive number; write it in plain decimal notation, such as price:10`,
		"_by=price:-1":                    `is not a positive number`,
		"_by=category:10":                 `"category" is a text field, which has no intervals; write _by=category`,
		"_by=category&_by=category":       `_by=category is given more than once`,
		"_by=category&_by=date&_by=price": `"_by" is given more than 2 times`,
		"_measure=total:price":            `unknown measure "total:price" in "_measure"`,
		"_measure=avg:price":              `valid measures: count, filled:field, distinct:field, sum:field, mean:field, stddev:field, median:field, p90:field, min:field, max:field, ratio:field/field`,
		"_measure=sum:category":           `field "category" has no sum; fields with a sum: price`,
		"_measure=max:tags":               `field "tags" has no max; fields with a max: category, date, price, time`,
		"_measure=p101:price":             `unknown measure "p101:price"`,
		"_measure=count&_measure=count":   `_measure=count is given more than once`,
		"_by=category&_measure=" + strings.Join(percentiles(9), "&_measure="): "more than 8 times; give at most 8, " +
			`or 100 without "_by"`,
		"_measure=" + strings.Join(percentiles(101), "&_measure="): "more than 100 times",
		"_measure=ratio:price":            `measure "ratio:price" has one field; write two, as in ratio:field/field`,
		"_measure=ratio:price/prize":      `unknown field "prize" in "ratio:price/prize"; did you mean "price"?`,
		"_measure=ratio:category/price":   `field "category" has no ratio; fields with a ratio: price`,
		"_measure=ratio:price/":           `unknown field ""`,
		"_sort=by1":                       `"_sort" names label "by1", but "_by" is given 0 times`,
		"_by=category&_sort=-by1,by1":     `"by1" is given more than once in "_sort"`,
		"_having=count":                   `write measure=value or measure[operator]=value, such as count[gte]=10`,
		"_having=count[gte]=many":         `count is a number field and "many" is not a number`,
		"_having=count[over]=1":           `unknown operator "over"`,
		"_having=price[gte]=1":            `unknown measure "price" in "_having"`,
		"_fill=zero":                      `it needs a "_by" with a grain or a width`,
		"_fill=zero&_by=category":         `it needs a "_by" with a grain or a width`,
		"_fill=none&_by=date:day":         `_fill is "none"; it must be zero`,
		"_zone=UTC":                       `_zone has no effect: it applies to datetimes that are grouped by intervals, as in _by=time:day`,
		"_zone=UTC&_by=date:day":          `_zone has no effect`,
		"_zone=UTC&_by=time":              `_zone has no effect`,
		"_by=date:hour_of_day":            `unknown grain "hour_of_day" of the date field "date"`,
		"_by=date:weekdays":               `did you mean "weekday"?`,
		"_zone=Berlin":                    `_zone is "Berlin"; it must be a time zone of the IANA database`,
		"_zone=Local":                     `_zone is "Local"`,
		"_top=0":                          `_top is "0"; it must be a whole number from 1 to 1000`,
		"_by=category&_series=a":          `"_series" selects labels of the second "_by"`,
		"_group=a":                        `"_group" selects labels of the first "_by"`,
		"_top=100001":                     `_top is "100001"`,
		"_offset=-1":                      `_offset is "-1"`,
		"page=2":                          `"page" is given, but aggregates count all records`,
		"sort=price":                      `"sort" is given, but aggregates count all records`,
		"_by=" + strings.Repeat("x", 100): `unknown field`,
		"_measure=count&" + strings.Repeat("_sort=&", 2): `"_sort" is given more than once`,
	} {
		_, err := query.ParseAggregate(raw, aggregateFields())
		if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(herb.MessageOf(err), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

// TestParseAggregate_ratio finds the two fields of a ratio if their names contain slashes.
func TestParseAggregate_ratio(t *testing.T) {
	t.Parallel()
	var fields []herb.Field
	for _, name := range []string{"a", "b/c", "a/b", "c", "d/e", "/", "f"} {
		fields = append(fields, herb.Field{Name: name, Type: herb.TypeNumber, Filterable: true})
	}
	fields = append(fields, herb.Field{Name: "time", Type: herb.TypeDuration, Filterable: true})
	for name, want := range map[string]string{
		"a/c": "a c", "d/e/f": "d/e f", "f/d/e": "f d/e", "a/b/d/e": "a/b d/e", "///": "/ /", "a//": "a /",
		"time/time": "time time",
		"a/b/c":     `measure "ratio:a/b/c" is ambiguous: it can be "a" divided by "b/c", or "a/b" divided by "c"; rename a field`,
		"a/time":    `measure "ratio:a/time" divides a number by a duration; give two fields of the same type`,
	} {
		a, err := query.ParseAggregate("_measure=ratio:"+name+"&_sort=-ratio:"+name, fields)
		got := herb.MessageOf(err)
		if err == nil {
			got = fields[a.Measures[0].Field].Name + " " + fields[a.Measures[0].Divisor].Name
		}
		if got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
}

// percentiles returns n measures.
func percentiles(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("p%d:price", i))
	}
	return names
}
