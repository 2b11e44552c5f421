package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
)

const beds = "/datasets/garden/beds"

// newLabeledSite returns a site with two versions of a dataset with categories.
func newLabeledSite(t *testing.T) (s *versionsSite, earlier string) {
	t.Helper()
	s = newVersionsSite(t)
	ref := herb.Ref{Namespace: "garden", Name: "beds"}
	for _, rows := range []string{"1|1|S,2|1|L", "1|1|S,2|2|L,3|2|L,4|9|M,5||"} {
		d := herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: []herb.Field{
			field("id", herb.TypeText), field("status", herb.TypeNumber), field("size", herb.TypeText),
		}}
		d.PrimaryKey = []string{"id"}
		d.Fields[1].Searchable, d.Fields[2].Ordered = true, true
		d.Fields[1].Categories = []herb.Category{{Value: "1", Label: "Living <b>oak</b>"}, {Value: "2", Label: "Lost"},
			{Value: "9"}}
		d.Fields[2].Categories = []herb.Category{{Value: "S", Label: "small"}, {Value: "M", Label: "medium"},
			{Value: "L", Label: "large"}}
		report := &herb.Report{}
		for _, f := range d.Fields {
			report.Columns = append(report.Columns, herb.ColumnReport{Field: f.Name, Type: f.Type, Filled: 4,
				Distinct: 3, Min: "1", Max: "9", Shortest: 1, Longest: 1})
		}
		d.Report = report
		_, err := s.library.Publish(t.Context(), versions.Publication{
			Dataset: d, PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}},
			Records: func(yield func(herb.Record, error) bool) {
				for row := range strings.SplitSeq(rows, ",") {
					if !yield(strings.Split(row, "|"), nil) {
						return
					}
				}
			},
		})
		must.NoError(t, err)
		if earlier == "" {
			live, err := s.library.LiveVersion(t.Context(), ref)
			must.NoError(t, err)
			earlier = live.Version
		}
	}
	return s, earlier
}

// TestCategories checks that pages show category labels instead of values, and that links and forms
// have the values.
func TestCategories(t *testing.T) {
	t.Parallel()
	s, earlier := newLabeledSite(t)
	doc := s.page(t, beds+"?search=oak&_record=1&_distributions=1", 200)
	cell := one(t, doc, func(n *html.Node) bool { return n.Data == "td" && attr(n, "data-raw") == "1" })
	if got := words(cell); got != "Living <b>oak</b>" || words(one(t, cell, tag("mark", ""))) != "oak" ||
		attr(cell, "class") == "n" {
		t.Errorf("the cell is %q of class %q", got, attr(cell, "class"))
	}
	record := one(t, doc, has("id", "record"))
	if got := words(all(record, tag("dd", ""))[1]); !strings.HasPrefix(got, "Living <b>oak</b> 1 ") {
		t.Errorf("the record has %q", got)
	}
	same := attr(one(t, all(record, tag("dd", ""))[1], tag("a", "same")), "href")
	if !strings.Contains(same, "status=1") {
		t.Errorf("the value leads to %s", same)
	}
	titles := ""
	for _, n := range all(one(t, doc, has("data-field", "status")), tag("title", "")) {
		titles += textOf(n) + "; "
	}
	if want := "Living <b>oak</b>: 1 row; "; titles != want {
		t.Errorf("the distribution has %q", titles)
	}
	for _, tt := range []struct {
		query, field string
		want         []string
	}{
		{"status=2&_facet=status", "status", []string{"Lost 2 2 selected", "Living <b>oak</b> 1 1", "9 1"}},
		{"_facet=status&_values=OAK", "status", []string{"Living <b>oak</b> 1 1"}},
		{"_facet=status&_values=9", "status", []string{"9 1"}},
		{"_facet=status&_values=elm", "status", nil},
		{"_facet=size", "size", []string{"small S 1", "medium M 1", "large L 2"}},
	} {
		filter := one(t, s.page(t, beds+"/facets?"+tt.query, 200), has("data-facet", tt.field))
		if diff := cmp.Diff(tt.want, valuesOf(t, filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
	doc = s.page(t, beds+"?status=2&size[ne]=S", 200)
	var chips []string
	for _, n := range all(doc, tag("summary", "")) {
		if len(all(n, tag("i", ""))) > 0 {
			chips = append(chips, words(n))
		}
	}
	if diff := cmp.Diff([]string{"status is Lost", "size is not small"}, chips); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
	for query, want := range map[string][]string{
		"_by=status":            {"Lost 2", "Living <b>oak</b> 1", "9 1", "empty 1"},
		"_by=size&_sort=by1":    {"small 1", "medium 1", "large 2", "empty 1"},
		"_by=id&_by=size&id=1":  {"small 1"},
		"_by=status&search=oak": {"Living <b>oak</b> 1"},
	} {
		got := groupsOf(t, s.page(t, beds+"/chart?"+query, 200))
		if query == "_by=status" {
			slices.Sort(got[1:]) // ties
			slices.Sort(want[1:])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	changed := one(t, s.page(t, beds+"/changes?_from="+earlier+"&_op=changed", 200), tag("main", ""))
	if lines := strings.Join(changeLines(changed), "\n"); !strings.Contains(lines, "Living <b>oak</b>") ||
		!strings.Contains(lines, "Lost") {
		t.Errorf("changes\n%s", lines)
	}
	history := one(t, s.page(t, beds+"/history?id=2", 200), tag("main", ""))
	if lines := strings.Join(changeLines(history), "\n"); !strings.Contains(lines, "Living <b>oak</b>") ||
		!strings.Contains(lines, "Lost") {
		t.Errorf("history\n%s", lines)
	}
	found := one(t, s.page(t, "/?search=oak", 200), tag("main", ""))
	if marks := all(found, tag("mark", "")); len(marks) == 0 || !strings.Contains(words(found), "Living <b>oak</b>") {
		t.Errorf("search of all datasets: %s", words(found))
	}
	about := one(t, s.page(t, beds+"/about", 200), has("id", "columns"))
	if !slices.ContainsFunc(all(about, tag("td", "described")), func(n *html.Node) bool {
		return words(n) == "1 = Living <b>oak</b>, 2 = Lost, 9"
	}) {
		t.Errorf("description %s", words(about))
	}
}

// TestCategories_map checks that the tips of points have the labels of a field whose values all
// have one, and that the points are colored by values.
func TestCategories_map(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d := herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "trees"}, Fields: []herb.Field{
		field("name", herb.TypeText), field("latitude", herb.TypeNumber), field("longitude", herb.TypeNumber),
		field("kind", herb.TypeText), field("state", herb.TypeText),
	}}
	d.Fields[3].Categories = []herb.Category{{Value: "O", Label: "Oak"}, {Value: "A", Label: "Ash"}}
	d.Fields[4].Type = herb.TypeNumber
	d.Fields[4].Categories = []herb.Category{{Value: "1", Label: "Living"}, {Value: "2"}}
	s.library.Put(d, []herb.Record{{"a", "51.5", "7.5", "O", "1"}, {"b", "52.5", "8.5", "A", "2"}})
	for _, tt := range []struct{ color, tip, points, key string }{
		{"kind", `{"name":"kind_label","heading":"kind"}`, "_labels=true", "Oak"},
		{"state", `{"name":"state","heading":"state"}`, "state", "Living"},
	} {
		page := s.page(t, "/datasets/geo/trees/map?_color="+tt.color, 200)
		m := one(t, page, func(n *html.Node) bool { return attr(n, "data-tip") != "" })
		points := attr(m, "data-points")
		if !strings.Contains(attr(m, "data-tip"), tt.tip) || !strings.Contains(points, tt.points) {
			t.Errorf("%s: tip %s of %s", tt.color, attr(m, "data-tip"), points)
		}
		if a := s.get(t, points); a.status != 200 || !strings.Contains(a.body, `"`+tt.color+`":`) {
			t.Errorf("%s: %d %s", points, a.status, a.body)
		}
		if key := words(one(t, page, tag("main", ""))); !strings.Contains(key, tt.key) {
			t.Errorf("the key of the colors is missing: %s", key)
		}
	}
}
