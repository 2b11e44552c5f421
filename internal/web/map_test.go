package web_test

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/web/view/maps"
)

// putTrips adds a dataset with two pairs of coordinates.
func putTrips(s *site) {
	fields := []herb.Field{
		field("name", herb.TypeText), field("start_lat", herb.TypeNumber), field("start_lon", herb.TypeNumber),
		field("end_lat", herb.TypeNumber), field("end_lon", herb.TypeNumber),
	}
	s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "trips"}, Fields: fields}, []herb.Record{
		{"a", "48.1", "11.5", "52.5", "13.4"}, {"b", "48.2", "11.6", "-33.9", "151.2"}, {"c", "", "", "40.7", "-74"},
	})
}

func TestMap(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	putTrips(s)
	const path = "/datasets/geo/trips/map"
	for _, tt := range []struct {
		query, points, grid string
		note                string
	}{
		{"", "/datasets/geo/trips/data.ndjson?_fields=start_lon%2Cstart_lat%2Cname",
			"/datasets/geo/trips/grid?_x=start_lon&_y=start_lat", "2 points of 3 rows"},
		{"?_map=end_lat&sort=name&name%5Bne%5D=b",
			"/datasets/geo/trips/data.ndjson?sort=name&name%5Bne%5D=b&_fields=end_lon%2Cend_lat%2Cname",
			"/datasets/geo/trips/grid?name%5Bne%5D=b&_x=end_lon&_y=end_lat", "2 points"},
	} {
		m := one(t, s.page(t, path+tt.query, 200), has("id", "map"))
		if diff := cmp.Diff([]string{tt.points, tt.grid},
			[]string{attr(m, "data-points"), attr(m, "data-grid")}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.query, diff)
		}
		if got := words(one(t, m, tag("div", "map-note"))); !strings.HasPrefix(got, tt.note) {
			t.Errorf("%s: the note is %q, want %q", tt.query, got, tt.note)
		}
		if len(all(m, tag("path", "l1"))) != 1 {
			t.Errorf("%s: no cells", tt.query)
		}
	}
	for q, want := range map[string]string{"": "", "?_map=end_lat&sort=name": "?sort=name&_coordinates=end_lat",
		"?_map=end_lat&_bbox=0,0,20,90": "?_bbox=0%2C0%2C20%2C90", "?_map=name": ""} {
		menu := one(t, s.page(t, path+q, 200), tag("details", "download"))
		i := slices.IndexFunc(all(menu, tag("a", "")), func(a *html.Node) bool { return words(a) == "GeoJSON" })
		if i < 0 {
			t.Fatalf("the menu of %s has no GeoJSON", q)
		}
		href := attr(all(menu, tag("a", ""))[i], "href")
		if r := s.get(t, href); href != "/datasets/geo/trips/data.geojson"+want || r.status != 200 ||
			r.header.Get("Content-Type") != "application/geo+json" {
			t.Errorf("%s: the link %s gives %d", q, href, r.status)
		}
	}
	if doc := words(s.page(t, "/datasets/geo/trips/api", 200)); !strings.Contains(doc,
		"application/geo+json (GeoJSON)") {
		t.Error("the page about the API does not list GeoJSON")
	}
	record := s.page(t, path+"?_record=2&start_lat%5Bgte%5D=48", 200)
	if got := words(one(t, record, has("id", "record-title"))); got != "b" {
		t.Errorf("the open record is %q", got)
	}
	if got := attr(one(t, record, has("id", "map")), "data-open"); got != "1" {
		t.Errorf("the open record has the position %s", got)
	}
	if got := words(one(t, s.page(t, path+"?colour=red", 400), tag("div", "notice"))); !strings.Contains(got,
		"The map ignores it.") {
		t.Errorf("an invalid parameter: %q", got)
	}
	views := func(path string) (hrefs []string) {
		for _, a := range all(one(t, s.page(t, path, 200), tag("nav", "tabs")), tag("a", "")) {
			hrefs = append(hrefs, attr(a, "href"))
		}
		return hrefs
	}
	if got := views("/datasets/geo/trips?name=a"); !slices.Contains(got, path+"?name=a") {
		t.Errorf("the table links to %v", got)
	}
	if got := views(path + "?name=a"); !slices.Contains(got, "/datasets/geo/trips?name=a") {
		t.Errorf("the map links to %v", got)
	}
	if got := views("/datasets/garden/catalog"); slices.Contains(got, "/datasets/garden/catalog/map") {
		t.Errorf("a table without coordinates links to %v", got)
	}
	if a := s.get(t, "/datasets/garden/catalog/map"); a.status != 404 ||
		!strings.Contains(a.body, "latitudes and longitudes") {
		t.Errorf("a map without coordinates: %d", a.status)
	}
}

// TestMap_bounds checks the part of a map that a URL names: what is counted, drawn and linked.
func TestMap_bounds(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	putTrips(s)
	const path = "/datasets/geo/trips/map"
	m := one(t, s.page(t, path+"?_map=end_lat&_bounds=0%2C40%2C20%2C60", 200), has("id", "map"))
	if got := words(one(t, m, tag("div", "map-note"))); !strings.HasPrefix(got, "1 point in view of 3 rows") {
		t.Errorf("the note is %q", got)
	}
	if got := attr(one(t, m, tag("svg", "world")), "viewBox"); got != "0 -600 128.55753 200" {
		t.Errorf("the map shows %s", got)
	}
	if got := words(one(t, m, tag("g", "places"))); !strings.Contains(got, "Paris") || strings.Contains(got, "Tokyo") {
		t.Errorf("the map names %s", got)
	}
	links := map[string]string{}
	for _, a := range all(one(t, m, tag("div", "map-tools")), tag("a", "")) {
		links[words(a)] = attr(a, "href")
	}
	want := map[string]string{
		"+": "?_map=end_lat&_bounds=5%2C45%2C15%2C55", "−": "?_map=end_lat&_bounds=-10%2C30%2C30%2C70",
		"Fit": "?_map=end_lat",
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("the links differ (-want +got):\n%s", diff)
	}
	for _, tab := range all(one(t, s.page(t, path+"?_bounds=0%2C40%2C20%2C60", 200), tag("nav", "tabs")),
		tag("a", "")) {
		if words(tab) == "Table" && !strings.Contains(attr(tab, "href"), "_bounds=") {
			t.Errorf("the table loses the bounds: %s", attr(tab, "href"))
		}
	}
	if a := s.get(t, path+"?_bounds=1%2C2"); a.status != 303 || a.header.Get("Location") != path {
		t.Errorf("invalid bounds: %d %s", a.status, a.header.Get("Location"))
	}
}

// TestMap_outside checks that a few wrong coordinates do not shrink a map: the note counts the rows
// outside, and its link shows all. Filters apply.
func TestMap_outside(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	fields := []herb.Field{field("name", herb.TypeText), field("lat", herb.TypeNumber), field("lon", herb.TypeNumber)}
	var records []herb.Record
	for i := range 1000 {
		records = append(records, herb.Record{"here", fmt.Sprintf("52.%03d", i), fmt.Sprintf("13.%03d", i*7%1000)})
	}
	for range 5 {
		records = append(records, herb.Record{"null island", "0", "0"}, herb.Record{"nowhere", "", ""})
	}
	records = append(records, herb.Record{"here", "-89.5", "13.5"})
	s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "outliers"}, Fields: fields}, records)
	const path = "/datasets/geo/outliers/map"
	for query, want := range map[string]string{
		"": "1,000 points of 1,011 rows 6 rows outside", "?name=here": "1,000 points of 1,001 rows 1 row outside",
		"?name=null+island": "5 points",
	} {
		m := one(t, s.page(t, path+query, 200), has("id", "map"))
		if got := words(one(t, m, tag("div", "map-note"))); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the note is %q, want %q", query, got, want)
		}
		links := all(m, tag("a", "outside"))
		if (len(links) == 1) != strings.Contains(want, "outside") {
			t.Fatalf("%s: %d links show all rows", query, len(links))
		}
		for _, link := range links {
			if got := words(one(t, s.page(t, path+attr(link, "href"), 200),
				tag("span", "in-view"))); !strings.HasPrefix(got, map[string]string{"": "1,006",
				"?name=here": "1,001"}[query]+" points in view") {
				t.Errorf("%s: %s shows %q", query, attr(link, "href"), got)
			}
		}
	}
}

// TestMap_tip checks what the tip of a point shows: the name of the row, and two values of
// different kinds, first those by which the listing is sorted or filtered.
func TestMap_tip(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "quakes"}, Fields: []herb.Field{
		field("id", herb.TypeText), field("latitude", herb.TypeNumber), field("longitude", herb.TypeNumber),
		field("depth", herb.TypeNumber),
		field("magnitude", herb.TypeNumber), field("time", herb.TypeDateTime), field("name", herb.TypeText),
	}}, []herb.Record{{"q1", "1", "2", "10", "7.5", "2020-01-01T00:00:00Z", "Near Lima"}})
	for query, want := range map[string]string{
		"":                `[{"name":"name","heading":""},{"name":"depth","heading":"depth"},{"name":"time","heading":"time"}]`,
		"?sort=magnitude": `[{"name":"name","heading":""},{"name":"magnitude","heading":"magnitude"},{"name":"time","heading":"time"}]`,
	} {
		m := one(t, s.page(t, "/datasets/geo/quakes/map"+query, 200), has("id", "map"))
		if got := attr(m, "data-tip"); got != want {
			t.Errorf("%s: %s", query, got)
		}
		if points := attr(m, "data-points"); !strings.Contains(points, "name") || !strings.Contains(points, "time") {
			t.Errorf("%s: the points are %s", query, points)
		}
	}
}

// TestMap_wkt checks the map of a column with geometries.
func TestMap_wkt(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d := herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "sites"},
		Fields: []herb.Field{field("name", herb.TypeText), field("the_geom", herb.TypeText)}}
	d.Report = &herb.Report{
		Columns: []herb.ColumnReport{
			{Field: "name"}, {Field: "the_geom", Min: "POINT (-77 -12)", Max: "POINT (115.9 -32)"}}}
	s.library.Put(d, []herb.Record{{"Lima", "POINT (-77 -12)"}, {"Oslo", "POINT (10.7 59.9)"},
		{"Perth", "POINT (115.9 -32)"}, {"nowhere", ""}})
	const path = "/datasets/geo/sites/map"
	for query, note := range map[string]string{
		"?_bbox=0%2C50%2C20%2C70&_coordinates=the_geom": "1 point", "?_near=60%2C10%2C100000&sort=_distance": "1 point",
		"": "3 points of 4 rows", "?name%5Bne%5D=Oslo": "2 points of 3 rows",
		"?_bounds=0%2C50%2C20%2C70": "1 point in view of 4 rows",
	} {
		m := one(t, s.page(t, path+query, 200), has("id", "map"))
		if got := words(one(t, m, tag("div", "map-note"))); !strings.HasPrefix(got, note) {
			t.Errorf("%s: the note is %q, want %q", query, got, note)
		}
		if !strings.Contains(attr(m, "data-grid"), "_coordinates=the_geom") ||
			!strings.Contains(attr(m, "data-points"), "_fields=the_geom%2Cname") ||
			!strings.HasSuffix(attr(m, "data-box"), "_bbox=") || attr(m, "data-range") != "" {
			t.Errorf("%s: the map has %v", query, m.Attr)
		}
	}
	page := s.page(t, path+"?_bbox=0%2C50%2C20%2C70&_near=60%2C10%2C100000&_coordinates=the_geom&sort=_distance", 200)
	chips := map[string]string{}
	for _, chip := range all(page, tag("li", "chip")) {
		chips[words(one(t, chip, tag("span", "")))] = attr(one(t, chip, tag("a", "x")), "href")
	}
	want := map[string]string{
		"Area is longitudes 0 – 20, latitudes 50 – 70": "?_near=60%2C10%2C100000&_coordinates=the_geom&sort=_distance",
		"Area is within 100 km of 60, 10":              "?_bbox=0%2C50%2C20%2C70&_coordinates=the_geom",
	}
	if diff := cmp.Diff(want, chips); diff != "" {
		t.Errorf("the chips differ (-want +got):\n%s", diff)
	}
	if got := attr(one(t, page, tag("a", "clear")), "href"); got != path {
		t.Errorf("without filters, the map is at %s", got)
	}
	if got := words(one(t, page, tag("title", ""))); !strings.Contains(got, "Area is within 100 km of 60, 10") {
		t.Errorf("the title is %q", got)
	}
	for _, image := range []string{"/datasets/geo/sites/map/preview.png?name=Oslo", "/datasets/geo/sites/spark.svg"} {
		if a := s.get(t, image); a.status != 200 {
			t.Errorf("%s: %d", image, a.status)
		}
	}
}

// TestMap_call checks that a map shows the API call for what it draws: points from a listing, or
// counts from a grid.
func TestMap_call(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	putTrips(s)
	fields := []herb.Field{field("lat", herb.TypeNumber), field("lon", herb.TypeNumber)}
	many := make([]herb.Record, maps.MapPoints+1)
	for i := range many {
		many[i] = herb.Record{"10", strconv.Itoa(i % 300)}
	}
	s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "many"}, Fields: fields}, many)
	for path, want := range map[string]string{
		"/datasets/geo/trips/map?name=a":        "/api/v1/geo/trips/data?name=a&per_page=50",
		"/datasets/geo/many/map?lon%5Bgte%5D=0": "/api/v1/geo/many/grid?lon[gte]=0&_x=lon&_y=lat&_bounds=0,-90,360,90&_columns=144&_rows=72",
	} {
		calls := all(one(t, s.page(t, path, 200), has("id", "call")), tag("code", ""))
		call := calls[0]
		if counts := words(calls[len(calls)-1]); !strings.Contains(counts, "/grid?") {
			t.Errorf("%s shows the call %q without a script, which draws counts", path, counts)
		}
		if got := words(call); got != want {
			t.Errorf("%s shows the call %q, want %q", path, got, want)
		}
		u, err := url.Parse(attr(call, "data-url"))
		if err != nil {
			t.Fatal(err)
		}
		if a := s.get(t, u.RequestURI(), "Accept", "application/json"); a.status != 200 {
			t.Errorf("%s gives %d: %.200s", u, a.status, a.body)
		}
	}
	page := s.page(t, "/datasets/geo/many/map", 200)
	if got := attr(one(t, page, has("id", "map")), "data-west"); got != "0" {
		t.Errorf("the map of longitudes from 0 to 360 begins at %s", got)
	}
	if got := len(all(page, tag("use", "land"))); got != 2 {
		t.Errorf("%d copies of the land, want one for each half", got)
	}
	if got := words(one(t, page, tag("div", "map-note"))); !strings.HasPrefix(got, "25,001 points") {
		t.Errorf("the note is %q", got)
	}
}

// TestMap_labels checks that labels of places do not overlap at any scale, and that a part of a map
// has the labels of the whole.
func TestMap_labels(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	putTrips(s)
	type label struct {
		name       string
		x, y, size float64
	}
	labelsOf := func(bounds string) (labels []label) {
		number := func(s string) float64 {
			n, err := strconv.ParseFloat(s, 64)
			must.NoError(t, err)
			return n
		}
		g := one(t, s.page(t, "/datasets/geo/trips/map?_bounds="+bounds, 200), tag("g", "places"))
		for _, text := range all(g, tag("text", "")) {
			labels = append(labels, label{words(text), number(attr(text, "x")), number(attr(text, "y")),
				number(attr(g, "font-size"))})
		}
		return labels
	}
	world := labelsOf("-180,-90,180,90")
	for bounds, least := range map[string]int{"-180,-90,180,90": 40, "-20,30,60,70": 20, "0,40,20,55": 10,
		"90,-10,240,60": 10, "100,0,120,10": 2} {
		labels := labelsOf(bounds)
		if len(labels) < least {
			t.Errorf("%s: %d labels, want at least %d", bounds, len(labels), least)
		}
		const letter, line = 0.5, 1.3 // of the size of text
		for i, a := range labels {
			for _, b := range labels[:i] {
				dx, dy := (b.x-a.x)/a.size, math.Abs(b.y-a.y)/a.size
				if dy < line && dx < letter*float64(utf8.RuneCountInString(a.name)) &&
					-dx < letter*float64(utf8.RuneCountInString(b.name)) {
					t.Errorf("%s: %s and %s overlap", bounds, a.name, b.name)
				}
			}
		}
		for _, w := range world {
			if bounds == "-20,30,60,70" && w.x > -200 && w.x < 600 && w.y > -700 && w.y < -300 &&
				!slices.ContainsFunc(labels, func(l label) bool { return l.name == w.name }) {
				t.Errorf("%s: %s is missing, which the world has", bounds, w.name)
			}
		}
	}
}
