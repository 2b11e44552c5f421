package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// searchBody is the body of a search across datasets.
type searchBody struct {
	Datasets []struct {
		Namespace, Name string
		Total           int
		Links           struct{ Self, Data string }
	}
	Meta struct {
		Total, Datasets, Searched int
		Partial                   bool
	}
}

func (s *service) search(t *testing.T, search string, headers ...string) (body searchBody, shown string) {
	t.Helper()
	a := s.get(t, "/api/v1/search?search="+url.QueryEscape(search), headers...)
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status != 200 {
		t.Fatalf("%s: %d, %v", search, a.status, err)
	}
	for _, d := range body.Datasets {
		shown += fmt.Sprintf("%s/%s:%d ", d.Namespace, d.Name, d.Total)
	}
	return body, strings.TrimSpace(shown)
}

// TestSearch compares the totals with those of the listings that the response links to.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, key := range []string{"", "X-API-Key: " + reader} {
		var headers []string
		if key != "" {
			headers = append(headers, key)
		}
		for _, search := range []string{"ana", "bo", "moss", "-moss", "nosuchword"} {
			body, shown := s.search(t, search, headers...)
			total := 0
			for _, d := range body.Datasets {
				var listing struct{ Meta struct{ Total int } }
				if err := json.Unmarshal([]byte(s.get(t, d.Links.Data, headers...).body), &listing); err != nil ||
					listing.Meta.Total != d.Total || d.Total == 0 {
					t.Errorf("%s: %s has %d records, %v", shown, d.Links.Data, listing.Meta.Total, err)
				}
				total += d.Total
			}
			if total != body.Meta.Total || len(body.Datasets) != body.Meta.Datasets || body.Meta.Partial {
				t.Errorf("%s: %+v", shown, body.Meta)
			}
			if strings.Contains(shown, "locked/staff") != (key != "" &&
				(search == "ana" || search == "bo" || search == "-moss")) {
				t.Errorf("%q with %q finds %q", search, key, shown)
			}
		}
	}
}

func TestSearch_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for rawQuery, message := range map[string]string{
		"":                                   `"search" is missing`,
		"search=+":                           `"search" is missing`,
		"search=a&page=2":                    `unknown parameter "page"; valid parameters: search, api_key`,
		"search=a&search=b":                  `"search" is given more than once`,
		"search=%zz":                         "",
		"search=" + strings.Repeat("a+", 33): "32",
	} {
		if a := s.get(t, "/api/v1/search?"+rawQuery); a.status != 400 || !strings.Contains(a.message(t), message) {
			t.Errorf("%.40s: %d %s", rawQuery, a.status, a.body)
		}
	}
}

func TestSearch_unavailable(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.acquireErr = herb.Errorf(herb.CodeUnavailable, "cold")
	if body, _ := s.search(t, "ana"); body.Meta.Searched != 0 || !body.Meta.Partial {
		t.Errorf("got %+v", body.Meta)
	}
}
