package web_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/query"
	"herbarium/internal/web"
)

// prices returns the closing prices of two shares on 5,105 weekdays.
func prices() (d herb.Dataset, records []herb.Record) {
	d = herb.Dataset{Ref: herb.Ref{Namespace: "market", Name: "prices"}, Title: "Prices", Version: "v1",
		Fields: []herb.Field{
			field("date", herb.TypeDate), field("close", herb.TypeNumber), field("share", herb.TypeText),
		}}
	day := time.Date(2006, 1, 2, 0, 0, 0, 0, time.UTC)
	for i := 0; i < 5105; day = day.AddDate(0, 0, 1) {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			continue
		}
		value := 3000 + 1900*math.Sin(float64(i)/700) + float64(i*7919%97)
		records = append(records,
			herb.Record{day.Format(time.DateOnly), strconv.FormatFloat(value, 'f', 2, 64), "A & B"})
		records = append(records, herb.Record{day.Format(time.DateOnly), strconv.FormatFloat(value/2, 'f', 2, 64), "C"})
		i++
	}
	d.Records = len(records)
	return d, records
}

// linesOf returns the points of the lines of a figure.
func linesOf(t *testing.T, figure *html.Node) (lines [][][2]float64) {
	t.Helper()
	for _, path := range all(figure, tag("path", "curve")) {
		var points [][2]float64
		for _, p := range strings.FieldsFunc(attr(path, "d"), func(r rune) bool { return r == 'M' || r == 'L' }) {
			x, y, _ := strings.Cut(p, " ")
			points = append(points, [2]float64{number(t, x), number(t, y)})
		}
		lines = append(lines, points)
	}
	return lines
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestChart_everyPoint compares every point of the lines of 5,105 days with the CSV file and with
// the response to the API call of the chart.
func TestChart_everyPoint(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { lib.Put(prices()) })
	for query, series := range map[string]int{
		"?_by=date%3Aday&_measure=mean%3Aclose&share=C": 1, "?_by=date%3Aday&_measure=sum%3Aclose": 1,
		"?_by=date%3Aday&_by=share&_measure=mean%3Aclose&_series=A+%26+B": 1,
		"?_by=date%3Aday&_by=share&_measure=mean%3Aclose":                 2,
	} {
		doc := s.page(t, "/datasets/market/prices/chart"+query, 200)
		figure := one(t, doc, tag("svg", "wide"))
		lines := linesOf(t, figure)
		if len(lines) != series {
			t.Fatalf("%s: %d lines", query, len(lines))
		}
		for _, a := range all(one(t, doc, tag("section", "groups")), tag("a", "button")) {
			if words(a) != "CSV" {
				continue
			}
			rows, err := csv.NewReader(strings.NewReader(s.get(t, attr(a, "href")).body)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			comparePoints(t, query, figure, lines, rows[1:])
			compareCall(t, s, attr(one(t, one(t, doc, has("id", "call")), tag("code", "")), "data-url"), rows[1:])
		}
	}
}

// comparePoints compares points with rows of labels and a value, by the scales of the figure.
func comparePoints(t *testing.T, name string, figure *html.Node, lines [][][2]float64, rows [][]string) {
	t.Helper()
	rules, ticks := all(figure, tag("path", "rule")), all(figure, tag("text", "tick"))
	at := func(i int) (y, value float64) {
		rule, _, _ := strings.Cut(attr(rules[i], "d"), "H")
		return number(t, strings.Fields(rule)[1]), number(t, words(ticks[i]))
	}
	y0, v0 := at(0)
	y1, v1 := at(len(rules) - 1)
	value := func(y float64) float64 { return v0 + (y-y0)/(y1-y0)*(v1-v0) }
	byLabel := map[string]int{}
	next := make([]int, len(lines))
	for _, row := range rows {
		label := strings.Join(row[1:len(row)-1], "")
		line, ok := byLabel[label]
		if !ok {
			line = len(byLabel)
			byLabel[label] = line
		}
		if line >= len(lines) || next[line] >= len(lines[line]) {
			t.Fatalf("%s: the chart does not show %v", name, row)
		}
		point := lines[line][next[line]]
		next[line]++
		first, last := lines[line][0][0], lines[line][len(lines[line])-1][0]
		from, _ := time.Parse(time.DateOnly, rows[0][0])
		to, _ := time.Parse(time.DateOnly, rows[len(rows)-1][0])
		day, err := time.Parse(time.DateOnly, row[0])
		if err != nil {
			t.Fatal(err)
		}
		x := first + (last-first)*day.Sub(from).Hours()/to.Sub(from).Hours()
		if got := value(point[1]); math.Abs(got-number(t, row[len(row)-1])) > (v1-v0)/1000 ||
			math.Abs(x-point[0]) > 0.11 {
			t.Fatalf("%s: %v is drawn at %v, which is %v; want x %v", name, row, point, got, x)
		}
	}
	for i, n := range next {
		if n != len(lines[i]) || n < 5105 {
			t.Errorf("%s: line %d has %d points, the CSV file %d", name, i, len(lines[i]), n)
		}
	}
}

// compareCall compares the response to an API call with rows of a CSV file.
func compareCall(t *testing.T, s *site, address string, rows [][]string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var response query.AggregateResponse
	if err := json.Unmarshal([]byte(s.get(t, u.RequestURI()).body), &response); err != nil {
		t.Fatal(err)
	}
	if len(response.Data) != len(rows) || response.Meta.Groups != len(rows) {
		t.Fatalf("%s returns %d of %d groups, the CSV file %d", address, len(response.Data),
			response.Meta.Groups, len(rows))
	}
	for i, row := range rows {
		if got := fmt.Sprint(append(response.Data[i].By, response.Data[i].Values...)); got != fmt.Sprint(row) {
			t.Fatalf("%s returns %s, the CSV file %v", address, got, row)
		}
	}
}
