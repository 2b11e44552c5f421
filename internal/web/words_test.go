package web_test

import (
	"html"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// TestWords checks that a page marks other forms of words, and that it shows the rows with the
// words as written if there are too many forms.
func TestWords(t *testing.T) {
	t.Parallel()
	var words []string
	for _, word := range strings.Fields("tree flower garden plant rose tulip shrub fern leaf seed root stem branch bird " +
		"stone brick wall gate path pond") {
		words = append(words, word, word+"s")
	}
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		l.Put(herb.Dataset{Ref: herb.Ref{Namespace: "garden", Name: "words"}, Version: "1", Records: 2,
			Fields: []herb.Field{{Name: "name", Type: herb.TypeText, Searchable: true, Filterable: true}}},
			[]herb.Record{{strings.Join(words, " ")}, {"a tree"}})
	})
	a := s.get(t, "/datasets/garden/words?search=trees")
	if a.status != 200 || strings.Count(a.body, "<mark>tree</mark>") != 2 ||
		strings.Count(a.body, "<mark>trees</mark>") != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, page := range []string{"/datasets/garden/words", "/datasets/garden/words/chart"} {
		a = s.get(t, page+"?search="+strings.Join(words[:30], "+"))
		want := "the search has 30 words, including those of [match], and 28 other forms of them"
		if a.status != 400 || !strings.Contains(html.UnescapeString(a.body), want) ||
			!strings.Contains(a.body, "_words=exact") || strings.Contains(a.body, "No matching rows") {
			t.Errorf("%s: %d %s", page, a.status, a.body)
		}
	}
}
