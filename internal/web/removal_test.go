package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// TestVersions_remove withdraws a version and removes a dataset, each only as its form confirms it
// and with a key that may publish the dataset.
func TestVersions_remove(t *testing.T) {
	t.Parallel()
	const stock = "/datasets/nursery/stock"
	s := newPublishingSite(t)
	for key, want := range map[string]bool{sellsKey: true, otherKey: false, "": false} {
		body := s.get(t, stock+"/versions", as(key)...).body
		for _, action := range []string{"/withdraw", "/remove", "/settings"} {
			if got := strings.Contains(body, `action="`+stock+action+`"`); got != want {
				t.Errorf("the form %s for the key %q: %v", action, key, got)
			}
		}
	}
	named := url.Values{"live": {"v1"}, "name": {" nursery/stock "}}
	withdrawn := url.Values{"version": {"v0"}, "confirm": {"1"}}
	for _, tt := range []struct {
		name, path string
		form       url.Values
		key        string
		status     int
		contains   string
	}{
		{"another name", "/remove", url.Values{"live": {"v1"}, "name": {"stock"}}, sellsKey, 409,
			"enter nursery/stock"},
		{"no name", "/remove", url.Values{"live": {"v1"}}, sellsKey, 409, "enter nursery/stock"},
		{"no version", "/remove", url.Values{"name": {"nursery/stock"}}, sellsKey, 400, "names no version"},
		{"another key", "/remove", named, otherKey, 403, "lacks the scope"},
		{"no confirmation", "/withdraw", url.Values{"version": {"v0"}}, sellsKey, 409, "select the checkbox"},
		{"no version to withdraw", "/withdraw", url.Values{"confirm": {"1"}}, sellsKey, 400, "names no version"},
		{"another key withdraws", "/withdraw", withdrawn, otherKey, 403, "lacks the scope"},
		{"another key edits", "/settings", url.Values{}, otherKey, 403, "lacks the scope"},
	} {
		if a := s.post(t, stock+tt.path, tt.form, as(tt.key)...); a.status != tt.status ||
			!strings.Contains(a.body, tt.contains) {
			t.Errorf("%s: %d\n%s", tt.name, a.status, a.body)
		}
	}
	for _, path := range []string{"/remove", "/withdraw", "/settings"} {
		form := url.Values{"live": {"v1"}, "name": {"nursery/stock"}, "version": {"v0"}, "confirm": {"1"}}
		if a := s.post(t, stock+path, form, append(as(sellsKey), "Sec-Fetch-Site", "cross-site")...); a.status != 403 {
			t.Errorf("%s from another site: %d", path, a.status)
		}
	}
	if len(s.removals)+len(s.restored) > 0 {
		t.Fatalf("something was done: %v %v", s.removals, s.restored)
	}
	for _, tt := range []struct {
		path, to string
		form     url.Values
	}{
		{"/withdraw", stock + "/versions#withdrawn", withdrawn}, {"/remove", "/", named},
		{"/settings", "/publish/" + draftID, url.Values{}},
	} {
		if a := s.post(t, stock+tt.path, tt.form, as(sellsKey)...); a.status != 303 ||
			a.header.Get("Location") != tt.to {
			t.Errorf("%s leads to %d %q", tt.path, a.status, a.header.Get("Location"))
		}
	}
	if want := []string{"nursery/stock v0 sells00000", "nursery/stock all v1 sells00000"}; !slices.Equal(s.removals,
		want) {
		t.Errorf("done: %q", s.removals)
	}
	if len(s.restored) != 1 || s.restored[0].Ref.String() != "nursery/stock" {
		t.Errorf("restored: %+v", s.restored)
	}
	s.err = herb.Errorf(herb.CodeRejected, "the version is live")
	if a := s.post(t, stock+"/withdraw", withdrawn, as(sellsKey)...); a.status != 409 ||
		!strings.Contains(a.body, "the version is live") {
		t.Errorf("the live version: %d", a.status)
	}
}

// TestPublish_descriptor sends descriptors with a file, alone and with what is wrong.
func TestPublish_descriptor(t *testing.T) {
	t.Parallel()
	const settings = `{"resources":[{"path":"a.csv","title":"From a descriptor"}]}`
	for _, tt := range []struct {
		name     string
		parts    [][2]string
		status   int
		contains string // of the page, or of the descriptor of the draft
		restored int
	}{
		{"after the file", [][2]string{{"namespace", "nursery"}, {"@a.csv", "a\n1\n"},
			{"@datapackage.json", settings}}, 303, "From a descriptor", 0},
		{"before it, in YAML", [][2]string{{"namespace", "nursery"},
			{"@datapackage.yaml", "resources: [{path: a.csv, title: From YAML}]"}, {"@a.csv", "a\n1\n"}}, 303,
			"From YAML", 0},
		{"alone", [][2]string{{"namespace", "nursery"}, {"dataset", "stock"}, {"@datapackage.json", settings}}, 303,
			"From a descriptor", 1},
		{"alone without a name", [][2]string{{"namespace", "nursery"}, {"@datapackage.json", settings}}, 400,
			"name of the dataset that the descriptor is for", 0},
		{"of another namespace", [][2]string{{"namespace", "other"}, {"dataset", "stock"},
			{"@datapackage.json", settings}}, 403, "lacks the scope", 0},
		{"wrong", [][2]string{{"namespace", "nursery"}, {"@a.csv", "a\n1\n"},
			{"@datapackage.json", `{"resources":[{"path":"a.csv","herbarium":{"access":"all"}}]}`}}, 400, "access", 0},
		{"two", [][2]string{{"namespace", "nursery"}, {"@datapackage.json", settings},
			{"@datapackage.json", settings}}, 400, "more than one descriptor", 0},
	} {
		s := newPublishingSite(t)
		a := s.send(t, sellsKey, tt.parts)
		got := a.body
		switch {
		case len(s.restored) > 0:
			got = string(s.restored[0].Edits.Descriptor)
		case len(s.edits) > 0:
			got = string(s.edits[0].Descriptor)
		}
		if a.status != tt.status || !strings.Contains(got, tt.contains) || len(s.restored) != tt.restored {
			t.Errorf("%s: %d, %d restored\n%s", tt.name, a.status, len(s.restored), got)
		}
	}
}
