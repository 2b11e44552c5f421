package web_test

import (
	"encoding/csv"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
	"herbarium/internal/web/view/charts"
)

// measurements returns rows with two numbers that correlate, some of which are missing, and a
// grade.
func measurements(name string, rows int) (d herb.Dataset, records []herb.Record) {
	d = herb.Dataset{Ref: herb.Ref{Namespace: "lab", Name: name}, Title: "Measurements", Version: "v1", Records: rows,
		Fields: []herb.Field{
			field("length", herb.TypeNumber), field("weight", herb.TypeNumber), field("grade", herb.TypeNumber),
			field("name", herb.TypeText),
		}}
	for i := range rows {
		length := float64(i*7919%1000) / 10
		r := herb.Record{strconv.FormatFloat(length, 'f', 1, 64),
			strconv.FormatFloat(2000+30*length+float64(i*104729%997), 'f', -1, 64), strconv.Itoa(i%5 + 1),
			"n" + strconv.Itoa(i%3)}
		if i%50 == 7 {
			r[i/50%2] = ""
		}
		records = append(records, r)
	}
	return d, records
}

// csvOf returns the rows of the CSV file of a chart without the header.
func csvOf(t *testing.T, s *site, doc *html.Node) [][]string {
	t.Helper()
	for _, a := range all(one(t, doc, tag("section", "groups")), tag("a", "button")) {
		if words(a) == "CSV" {
			rows, err := csv.NewReader(strings.NewReader(s.get(t, attr(a, "href")).body)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			return rows[1:]
		}
	}
	t.Fatal("there is no CSV file")
	return nil
}

// scalesOf returns the values at positions of a scatter plot: of its rules that lead across and up.
func scalesOf(t *testing.T, figure *html.Node) (x, y func(float64) float64) {
	t.Helper()
	ticks := all(figure, tag("text", "tick"))
	var across, up []float64
	for _, rule := range all(figure, tag("path", "rule")) {
		d := attr(rule, "d")
		switch start := strings.Fields(strings.Map(func(r rune) rune {
			if r == 'M' || r == 'V' || r == 'H' {
				return ' '
			}
			return r
		}, d)); {
		case strings.Contains(d, "V"):
			across = append(across, number(t, start[0]))
		default:
			up = append(up, number(t, start[1]))
		}
	}
	line := func(at []float64, labels []*html.Node) func(float64) float64 {
		low, high := number(t, words(labels[0])), number(t, words(labels[len(at)-1]))
		return func(p float64) float64 { return low + (p-at[0])/(at[len(at)-1]-at[0])*(high-low) }
	}
	return line(across, ticks[len(up):]), line(up, ticks)
}

// TestScatter compares every point of a scatter plot with the CSV file and with the response to the
// API call, and the rows that its parts lead to with what they say.
func TestScatter(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { lib.Put(measurements("few", 300)) })
	const path = "/datasets/lab/few/chart?grade=1&grade=3&_by=length&_by=weight&_kind=scatter"
	doc := s.page(t, path, 200)
	if got := words(one(t, one(t, doc, has("id", "answer")),
		tag("h2", ""))); got != "weight by length as a scatter plot" {
		t.Errorf("the title is %q", got)
	}
	if got := words(one(t, doc, tag("p", "counted"))); !strings.HasPrefix(got,
		"120 rows. Not drawn: 6 rows without a value of length or weight.") {
		t.Errorf("the note is %q", got)
	}
	figure := one(t, doc, tag("svg", "wide"))
	x, y := scalesOf(t, figure)
	var drawn [][2]float64
	for _, path := range all(figure, tag("path", "dot")) {
		for _, p := range strings.Split(strings.ReplaceAll(attr(path, "d"), "h.01", ""), "M")[1:] {
			at := strings.Fields(p)
			drawn = append(drawn, [2]float64{x(number(t, at[0])), y(number(t, at[1]))})
		}
	}
	rows := csvOf(t, s, doc)
	compareCall(t, s, attr(one(t, one(t, doc, has("id", "call")), tag("code", "")), "data-url"), rows)
	if len(drawn) != len(rows) || len(rows) != 114 {
		t.Fatalf("%d points, %d rows of CSV", len(drawn), len(rows))
	}
	for _, row := range rows {
		if !slices.ContainsFunc(drawn, func(p [2]float64) bool {
			return math.Abs(p[0]-number(t, row[0])) < .02 && math.Abs(p[1]-number(t, row[1])) < 2
		}) {
			t.Errorf("%v is not drawn", row)
		}
	}
	checkParts(t, s, "/datasets/lab/few", figure, 114)
}

// rowsOf returns the query that selects the rows of a link to a chart.
func rowsOf(t *testing.T, href string) string {
	t.Helper()
	u, err := url.Parse(href)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Del("_by")
	query.Del("_kind")
	return query.Encode()
}

// checkParts checks that the parts of a scatter plot lead to as many rows as they say, together
// all.
func checkParts(t *testing.T, s *site, path string, figure *html.Node, want int) {
	t.Helper()
	sum := 0
	for i, a := range all(figure, tag("a", "")) {
		label := attr(a, "aria-label")
		count, _, _ := strings.Cut(label[strings.LastIndex(label, ": ")+2:], " ")
		sum += int(number(t, count))
		if i%9 > 0 {
			continue
		}
		if _, total := s.listing(t, path+"/data?"+rowsOf(t, attr(a, "href"))); float64(total) != number(t, count) {
			t.Errorf("%q leads to %d rows: %s", label, total, attr(a, "href"))
		}
	}
	if sum != want {
		t.Errorf("the parts have %d rows, want %d", sum, want)
	}
}

// TestScatter_cells compares the cells of a scatter plot of many rows with the CSV file.
func TestScatter_cells(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { lib.Put(measurements("many", charts.MaxPoints+1000)) })
	for fields, most := range map[string]int{"_by=length&_by=weight": 51 * 31, "_by=grade&_by=length": 5 * 31} {
		doc := s.page(t, "/datasets/lab/many/chart?"+fields+"&_kind=scatter", 200)
		figure := one(t, doc, tag("svg", "wide"))
		rows := csvOf(t, s, doc)
		compareCall(t, s, attr(one(t, one(t, doc, has("id", "call")), tag("code", "")), "data-url"), rows)
		parts := all(figure, tag("a", ""))
		if len(parts) != len(rows) || len(rows) > most || len(rows) < 100 {
			t.Errorf("%s: %d cells, %d rows of CSV", fields, len(parts), len(rows))
		}
		total := 0
		for i, row := range rows {
			total += int(number(t, row[2]))
			label, count, _ := strings.Cut(attr(parts[i], "aria-label"), ": ")
			if first, _, _ := strings.Cut(label, " – "); number(t,
				first[strings.LastIndexByte(first, ' ')+1:]) != number(t, row[0]) || !strings.HasPrefix(count,
				herb.Count(int(number(t, row[2])))+" row") {
				t.Fatalf("%s: the cell %q is %v", fields, label, row)
			}
		}
		checkParts(t, s, "/datasets/lab/many", figure, total)
		if texts := words(figure); !strings.Contains(texts, " rows") {
			t.Errorf("%s: the legend is missing: %q", fields, texts)
		}
	}
}

// TestScatter_form checks how a scatter plot is reached and left: by the sentence.
func TestScatter_form(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { lib.Put(measurements("few", 300)) })
	const path, scatter = "/datasets/lab/few/chart", "?_by=length&_by=weight&_kind=scatter"
	for query, want := range map[string]string{
		"?_by=length%3A5&_by=weight%3A500": scatter, "?_by=length%3A5&_measure=mean%3Aweight": scatter,
		"?_by=name&_measure=mean%3Aweight": "", "?_by=length%3A5&_by=name": "",
		"?_by=length&_measure=mean%3Alength": "",
	} {
		if got := s.choose(t, path+query, "kind", "a scatter plot"); strings.TrimPrefix(got, path) != want {
			t.Errorf("%s leads to %q, want %q", query, got, want)
		}
	}
	for menu, change := range map[string][2]string{
		"by":    {"weight", "?_by=weight&_by=length&_kind=scatter"},
		"split": {"grade", "?_by=length&_by=grade&_kind=scatter"},
		"kind":  {"a heat map", "?_by=length%3A5&_by=weight%3A500&_kind=heat"},
	} {
		if got := s.choose(t, path+scatter, menu, change[0]); got != path+change[1] &&
			!(menu == "kind" && strings.HasSuffix(got, "_kind=heat")) {
			t.Errorf("%s in the menu %s leads to %q", change[0], menu, got)
		}
	}
	if got := s.choose(t, path+"?_by=length%3A5&_by=weight%3A500&_kind=scatter", "kind", "a scatter plot"); got != path+
		scatter {
		t.Errorf("intervals of a scatter plot: %s", got)
	}
	s.page(t, path+"?_by=length&_by=name&_kind=scatter", 400)
	s.page(t, path+"?_by=length&_by=weight&_measure=sum%3Agrade&_kind=scatter", 400)
	if a := s.get(t, path+".svg"+scatter+"&_theme=dark"); a.status != 200 || len(svgTexts(t, a.body)) < 8 {
		t.Errorf("the picture: %d %.300s", a.status, a.body)
	}
	if a := s.get(t, path+"/preview.png"+scatter); a.status != 200 {
		t.Errorf("the preview: %d %s", a.status, a.body)
	}
	if a := s.get(t, path+".svg"+scatter+"&_small=v1"); a.status != 200 || !strings.Contains(a.body, "h.01") {
		t.Errorf("the small picture: %d %s", a.status, a.body)
	}
}

// TestScatter_extremes checks scatter plots of extreme, equal and missing values, and of one row.
func TestScatter_extremes(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("9", 900)
	many := make([]herb.Record, charts.MaxPoints+5)
	for i := range many {
		many[i] = herb.Record{[]string{"1e18", "-7", digits, "0.5"}[i/1000%4], "1", strconv.Itoa(i % 7)}
	}
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) {
		for name, records := range map[string][]herb.Record{
			"extreme": {{"1e18", digits, "5"}, {"-1e18", "-" + digits, "5"}, {"1", "0." + digits, "5"},
				{"1e-300", "1", "5"}},
			"equal":   {{"5", "5", "5"}, {"5", "5", "5"}},
			"huge":    {{"1e18", "1e18", "5"}, {"1000000000000000001", "1e18", "5"}},
			"missing": {{"", "1", "5"}, {"1", "", "5"}}, "one": {{"0", "0", "0"}}, "many": many, "none": nil,
		} {
			lib.Put(herb.Dataset{Ref: herb.Ref{Namespace: "evil", Name: name}, Version: "v1", Records: len(records),
				Fields: []herb.Field{
					field("a", herb.TypeNumber), field("b"+strings.Repeat("ß ", 500), herb.TypeNumber),
					field("c", herb.TypeNumber),
				}}, records)
		}
	})
	for _, name := range []string{"extreme", "equal", "huge", "missing", "one", "many", "none"} {
		for _, axes := range []string{"_by=a&_by=c", "_by=c&_by=a"} {
			path := "/datasets/evil/" + name + "/chart?" + axes + "&_kind=scatter"
			a := s.get(t, path)
			if a.status != 200 || strings.Contains(a.body, "NaN") || strings.Contains(a.body, "Inf") ||
				len(a.body) > 400_000 {
				t.Errorf("%s: %d, %d bytes", path, a.status, len(a.body))
			}
			if svg := s.get(t, strings.Replace(path, "/chart?", "/chart.svg?", 1)); svg.status != 200 ||
				strings.Contains(svg.body[strings.Index(svg.body, "</style>"):], "NaN") {
				t.Errorf("the picture of %s: %d", path, svg.status)
			} else {
				svgTexts(t, svg.body)
			}
			doc := parse(t, a.body)
			checkSafe(t, doc)
			if isEmpty := name == "none"; isEmpty != (len(all(doc, tag("svg", "wide"))) == 0) {
				t.Errorf("%s: %d charts", path, len(all(doc, tag("svg", "wide"))))
			}
		}
	}
}
