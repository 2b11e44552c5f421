package web_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
)

// has is the condition that an element has an attribute with a value.
func has(name, value string) func(*html.Node) bool {
	return func(n *html.Node) bool { return attr(n, name) == value }
}

// valuesOf returns the values that a filter offers, with their counts; selected ones are marked.
func valuesOf(t *testing.T, filter *html.Node) (got []string) {
	t.Helper()
	for _, label := range all(filter, tag("label", "")) {
		boxes := all(label, has("type", "checkbox"))
		if len(boxes) == 0 {
			continue
		}
		value := words(label)
		for _, a := range boxes[0].Attr {
			if a.Key == "checked" {
				value += " selected"
			}
		}
		got = append(got, value)
	}
	return got
}

func TestFacets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct {
		query, name string
		want        []string
	}{
		{"_facet=category", "category", []string{"fern 19", "moss 19", "tree 19"}},
		// The counts of a field ignore its own filter.
		{"category=fern&sort=price&page=2&_facet=category", "category",
			[]string{"fern 19 selected", "moss 19", "tree 19"}},
		// No fern is wet; the selected value is listed so that it can be removed.
		{"category=fern&tags=wet&_facet=tags", "tags", []string{"shade 19", "wet selected"}},
		// The search in values ignores case and accents.
		{"_facet=category&_values=F%C3%89R", "category", []string{"fern 19"}},
	} {
		filter := one(t, s.page(t, catalog+"/facets?"+tt.query, 200), has("data-facet", tt.name))
		if diff := cmp.Diff(tt.want, valuesOf(t, filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
		// Without a script, the page contains the same values.
		chip := one(t, s.page(t, s.follow(t, catalog+"?"+tt.query), 200), has("data-facet", tt.name))
		if diff := cmp.Diff(tt.want, valuesOf(t, chip)); diff != "" {
			t.Errorf("%s in the page (-want +got):\n%s", tt.query, diff)
		}
	}
}

// TestFacets_more checks that all values of a filter can be reached.
func TestFacets_more(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	chip := one(t, s.page(t, "/datasets/evil/nasty?_facet=tags", 200), has("data-facet", "tags"))
	few := len(valuesOf(t, chip))
	button := one(t, chip, has("name", "_more"))
	more := one(t, s.page(t, s.follow(t, submit(t, one(t, chip, tag("form", "")), "_more", attr(button, "value"))),
		200), has("data-facet", "tags"))
	if n := len(valuesOf(t, more)); few != 12 || n <= few || len(all(more, has("name", "_more"))) != 0 {
		t.Errorf("%d values are offered at first, then %d", few, n)
	}
}

// TestFacets_pages checks that the form of a filter leads to all of its values, a hundred at a
// time.
func TestFacets_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	var records []herb.Record
	for i := range 250 {
		records = append(records, herb.Record{fmt.Sprintf("city %03d", i)}, herb.Record{fmt.Sprintf("city %03d", i)})
	}
	s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "cities"},
		Fields: []herb.Field{field("city", herb.TypeText)}}, records)
	path := "/datasets/geo/cities?_facet=city&city=city+240"
	var sizes []int
	seen := map[string]bool{}
	for range 4 {
		chip := one(t, s.page(t, path, 200), has("data-facet", "city"))
		values := valuesOf(t, chip)
		sizes = append(sizes, len(values))
		for _, v := range values {
			seen[strings.TrimSuffix(strings.TrimSuffix(v, " selected"), " 2")] = true
		}
		if len(all(chip, has("name", "_more"))) == 0 {
			break
		}
		path = s.follow(t, submit(t, one(t, chip, tag("form", "")), "_more", "city"))
	}
	if want := []int{13, 101, 101, 50}; !slices.Equal(sizes, want) || len(seen) != 250 { // with the selected value
		t.Errorf("the pages have %v values, want %v; %d in total", sizes, want, len(seen))
	}
	chip := one(t, s.page(t, path, 200), has("data-facet", "city"))
	back := s.follow(t, submit(t, one(t, chip, tag("form", "")), "_facet", "city"))
	if first := valuesOf(t, one(t, s.page(t, back, 200), has("data-facet", "city"))); len(first) != 13 {
		t.Errorf("the first values are %q", first)
	}
}

// TestFilters checks the form of each type of field.
func TestFilters(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	want := map[string]string{
		"category": "values search:_values radio:_not radio:_not :category[contains] :category[prefix]",
		"tags":     "values search:_values radio:_not radio:_not :tags[contains]",
		"title":    "prefix :title[contains] :title[prefix]", "url": "prefix :url[contains] :url[prefix]",
		"image": "prefix :image[contains] :image[prefix]",
		"id":    "range text:id[gte] text:id[lte]", "price": "range text:price[gte] text:price[lte]",
		"date": "range date:date[gte] date:date[lte]",
	}
	menu := one(t, s.page(t, catalog, 200), has("id", "filter-list"))
	got := map[string]string{}
	for _, b := range all(menu, tag("button", "")) {
		name := attr(b, "value")
		chip := one(t, s.page(t, catalog+"?_facet="+name, 200), has("data-facet", name))
		got[name] = attr(chip, "data-mode")
		for _, in := range all(chip, tag("input", "")) {
			if typ := attr(in, "type"); typ != "checkbox" {
				got[name] += " " + typ + ":" + attr(in, "name")
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
	// Without a publish report, values are counted on request.
	wide := one(t, s.page(t, "/datasets/wide/many?_facet=f3", 200), has("data-facet", "f3"))
	if diff := cmp.Diff([]string{"3 1"}, valuesOf(t, wide)); diff != "" {
		t.Error(diff)
	}
}

// TestFilterForms checks that each form submits the state of the page, and its own conditions once.
func TestFilterForms(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const query = "category=fern&category=moss&category%5Bne%5D=x&price%5Bgte%5D=5&price%5Blt%5D=90000&date%5Bprefix%5D=2024&search=plant&sort=price&_fields=title%2Cprice&_pin=price"
	doc := s.page(t, catalog+"?"+query, 200)
	forms := append(all(doc, tag("form", "filter")), one(t, doc, has("id", "browse")), one(t, doc, has("id", "view")))
	if len(forms) != 5 {
		t.Fatalf("%d forms", len(forms))
	}
	for _, form := range forms {
		got := s.follow(t, submit(t, form, "", ""))
		if a, b := sorted(got), sorted(catalog+"?"+query); a != b {
			t.Errorf("the form of %q submits %s, want %s", attr(form, "data-filter"), a, b)
		}
	}
}

// TestExcludeValues selects values to leave out, and turns them into those to show.
func TestExcludeValues(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct{ from, not, want, chip string }{
		{"category=fern&category=moss", "category", "category%5Bne%5D=fern&category%5Bne%5D=moss",
			"category is none of fern, moss"},
		{"category%5Bne%5D=fern&category%5Bne%5D=moss", "", "category=fern&category=moss",
			"category is any of fern, moss"},
		{"category%5Bne%5D=fern", "category", "category%5Bne%5D=fern", "category is not fern"},
		{"tags=rare", "tags", "tags%5Bne%5D=rare", "tags has none of rare"},
	} {
		form := one(t, s.page(t, catalog+"?"+tt.from, 200), tag("form", "filter"))
		address := submit(t, form, "", "")
		address = strings.NewReplacer("&_not=category", "", "_not=category&", "", "&_not=&", "&", "_not=&",
			"").Replace(address) + "&_not=" + tt.not
		if got := s.follow(t, address); sorted(got) != sorted(catalog+"?"+tt.want) {
			t.Errorf("%s and not %q becomes %s, want %s", tt.from, tt.not, got, tt.want)
		}
		if got := words(one(t, one(t, s.page(t, catalog+"?"+tt.want, 200), tag("li", "chip")),
			tag("summary", ""))); got != tt.chip {
			t.Errorf("%s: the filter says %q, want %q", tt.want, got, tt.chip)
		}
	}
}

// sorted returns a URL with its parameters in alphabetical order.
func sorted(address string) string {
	path, query, _ := strings.Cut(address, "?")
	params := strings.Split(query, "&")
	for i := range params {
		for k := i; k > 0 && params[k] < params[k-1]; k-- {
			params[k], params[k-1] = params[k-1], params[k]
		}
	}
	return path + "?" + strings.Join(params, "&")
}

// distribution returns a distribution of the fragment.
func (s *site) distribution(t *testing.T, query, field string) *html.Node {
	t.Helper()
	return one(t, s.page(t, catalog+"/distributions?_columns="+field+"&"+query, 200), tag("div", "distribution"))
}

// TestCharts_histogram checks that the bars of a filtered field count what the API lists.
func TestCharts_histogram(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const query = "category=fern&price%5Bgte%5D=30000"
	doc := s.page(t, catalog+"?_distributions=1&"+query, 200)
	chart := one(t, one(t, doc, has("data-field", "price")), tag("div", "distribution"))
	total, inside := 0, 0
	for _, a := range all(chart, tag("a", "")) {
		bar := one(t, a, tag("rect", ""))
		n, err := strconv.Atoi(attr(bar, "data-count"))
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if !strings.Contains(attr(bar, "class"), "out") {
			inside += n
		}
		if _, found := s.listing(t, "/api/v1/garden/catalog/data"+strings.Replace(attr(a, "href"), "&_distributions=1",
			"", 1)); found != n {
			t.Errorf("the bar from %s to %s counts %d rows, its link leads to %d", attr(bar, "data-from"),
				attr(bar, "data-to"), n, found)
		}
	}
	_, all60 := s.listing(t, "/api/v1/garden/catalog/data?category=fern")
	_, filtered := s.listing(t, "/api/v1/garden/catalog/data?"+query)
	if total != all60 || inside != filtered {
		t.Errorf("the bars count %d rows, %d of them in the range; want %d and %d", total, inside, all60, filtered)
	}
	// The fragment has the same bars, and those of all rows behind them.
	if n := len(all(s.distribution(t, query, "price"), tag("rect", "bar"))); n != len(all(chart, tag("rect", "bar"))) {
		t.Errorf("the fragment has %d bars", n)
	}
	if len(all(chart, tag("rect", "ghost"))) == 0 ||
		len(all(s.distribution(t, "", "price"), tag("rect", "ghost"))) != 0 {
		t.Error("all rows are drawn behind a chart of all rows, or not behind one of some rows")
	}
}

func TestCharts_kinds(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	parts := func(chart *html.Node) (got []string) {
		for _, a := range all(chart, tag("a", "proportion")) {
			got = append(got, attr(a, "data-value")+" "+attr(a, "data-count")+" "+attr(a, "href"))
		}
		return got
	}
	want := []string{"fern 19 ?category=fern", "moss 19 ?category=moss", "tree 19 ?category=tree"}
	if diff := cmp.Diff(want, parts(s.distribution(t, "", "category"))); diff != "" {
		t.Error(diff)
	}
	if got := words(s.distribution(t, "", "category")); !strings.Contains(got, "5% empty") ||
		!strings.Contains(got, "fern 32%3 values") {
		t.Errorf("the chart says %q", got)
	}
	if on := one(t, s.distribution(t, "category=moss", "category"), tag("a", "on")); attr(on, "data-value") != "moss" {
		t.Errorf("%s is marked as selected", attr(on, "data-value"))
	}
	if got := words(s.distribution(t, "", "title")); got != "60 values" {
		t.Errorf("the chart of a text says %q", got)
	}
	several := s.page(t, catalog+"/distributions?_columns=price&_columns=tags&_columns=category&_columns=nothing", 200)
	if n := len(all(several, tag("div", "distribution"))); n != 3 {
		t.Errorf("%d charts", n)
	}
}

// TestCharts_newVersion checks that cached counts are those of the version.
func TestCharts_newVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for range 2 {
		if got := attr(s.distribution(t, "", "category"), "data-total"); got != "60" {
			t.Fatalf("%s rows are counted", got)
		}
	}
	d, records := garden()
	replace(s.library, d, records[:7])
	if got := attr(s.distribution(t, "", "category"), "data-total"); got != "7" {
		t.Errorf("%s rows of the new version are counted", got)
	}
}

func TestFragments_errors(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, status := range map[string]int{
		catalog + "/facets?_facet=category&colour=red": 400, catalog + "/facets?%zz": 400,
		"/datasets/garden/nothing/facets":           404,
		"/datasets/locked/staff/facets?_facet=room": 401, catalog + "/facets?_facet=nothing": 200,
		catalog + "/distributions?_columns=price&colour=red": 400, catalog + "/distributions?%zz": 400,
		"/datasets/locked/staff/distributions?_columns=room": 401,
		catalog + "/distributions":                           200, catalog + "/fields?%zz": 400,
		"/datasets/locked/staff/fields": 401,
	} {
		if a := s.get(t, path); a.status != status {
			t.Errorf("%s gives %d, want %d", path, a.status, status)
		}
	}
}
