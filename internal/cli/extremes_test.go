package cli_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// extremeValues returns a file whose values are at the edges of their types.
func extremeValues() string {
	long, digits := strings.Repeat("very long text ", 2<<20/15), strings.Repeat("9", 1000)
	var b strings.Builder
	b.WriteString("key,post,number,wide,day,at,text,latitude,longitude\n")
	for i, r := range [][6]string{
		{"1234567890123456789", "1" + strings.Repeat("0", 18), "0", "0001-01-01", "0001-01-01T00:00:00Z", "a"},
		{"1234567890123456789", "-1" + strings.Repeat("0", 18), digits, "9999-12-31", "9999-12-31T23:59:59Z", long},
		{"1234567890123456789", "1" + strings.Repeat("0", 308), "-" + digits, "2024-02-29",
			"2024-02-29T12:30:00Z", "b"},
		{"7", "0." + strings.Repeat("0", 307) + "1", "0." + digits[:900], "1970-01-01",
			"1970-01-01T00:00:00.123456789Z", ""},
	} {
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s,%s,%s,%d,%d\n", i, r[0], r[1], r[2], r[3], r[4], r[5], 90-60*i, -180+120*i)
	}
	return b.String()
}

// TestServe_extremeValues requests every page, picture and query of datasets with extreme values.
// None of them hangs, and none fails.
func TestServe_extremeValues(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "edge/values.csv", extremeValues()))
	s := e.serve(t, "--request-timeout", "5m")
	const page, api = "/datasets/edge/values", "/api/v1/edge/values"
	paths := []string{"/", "/?search=very", "/api/v1", "/catalog.jsonld", "/openapi.json", page + "/about",
		page + "/api", page + "/versions", page + "/map", api, api + "/report", api + "/versions"}
	grains := []string{"day", "day:year", "day:quarter", "day:month", "day:week", "day:day", "at:hour", "day:weekday",
		"day:month_of_year", "at:hour_of_day"}
	for _, width := range []string{"1", "1000", "0.001", "1" + strings.Repeat("0", 15),
		"1" + strings.Repeat("0", 306)} {
		grains = append(grains, "post:"+width, "number:"+width)
	}
	grains = append(grains, "wide:1"+strings.Repeat("0", 998), "text")
	measures := []string{"count", "distinct:text"}
	for _, field := range []string{"post", "number", "wide"} {
		for _, kind := range []string{"sum", "mean", "stddev", "median", "min", "max"} {
			measures = append(measures, kind+":"+field)
		}
	}
	measures = append(measures, "ratio:number/wide", "ratio:wide/number")
	query := func(path string, pairs ...string) {
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			q.Add(pairs[i], pairs[i+1])
		}
		paths = append(paths, path+"?"+q.Encode())
	}
	for i, by := range grains {
		for k, m := range measures {
			if (i+k)%9 == 0 {
				query(page+"/chart", "_by", by, "_measure", m)
				query(page+"/chart.svg", "_by", by, "_measure", m, "post", "1234567890123456789")
				query(api+"/aggregate", "_by", by, "_measure", m)
			}
		}
		query(api+"/aggregate", "_by", by, "_measure", measures[i%len(measures)], "_fill", "zero")
		query(page+"/chart", "_by", by, "_by", "text", "_measure", "sum:number")
		query(page+"/chart", "_by", by, "_measure", "max:post", "post", "1234567890123456789")
		query(page+"/chart/preview.png", "_by", by, "_measure", "max:number")
	}
	for _, m := range measures {
		query(page+"/chart", "_measure", m)
		query(page+"/chart.svg", "_by", "day:year", "_measure", m, "post", "1234567890123456789")
	}
	for _, field := range []string{"post", "number", "wide", "day", "at", "text"} {
		query(page, "sort", field)
		query(page, field, "1234567890123456789")
		query(page+"/preview.png", "sort", field)
		query(api+"/data", "sort", field, "order", "desc")
		query(api+"/facets", "_facet", field, "_buckets", "50")
		query(api+"/facets", "_facet", field, "_scale", "log")
	}
	query(page, "search", "long")
	query(page + "/map/preview.png")
	query(api+"/grid", "_x", "longitude", "_y", "latitude")
	query(api+"/grid", "_x", "number", "_y", "wide")
	known := 0
	for _, path := range paths {
		status, body := s.get(t, path)
		if status >= 500 {
			t.Errorf("%.200s: %d %.300s", path, status, body)
		}
		if status == 200 {
			known++
		}
	}
	if known < len(paths)/2 {
		t.Errorf("only %d of %d requests succeed", known, len(paths))
	}
}
