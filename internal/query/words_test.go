package query_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

// TestRequest_Words checks which words have other forms.
func TestRequest_Words(t *testing.T) {
	t.Parallel()
	occurring := []string{"rose", "roses", "lily", "lilies", "bush", "bushes", "fig", "figs", "l'arbre", "arbre"}
	occurs := func(word string) bool { return slices.Contains(occurring, word) }
	for search, want := range map[string]query.Words{
		"roses":                  {"roses": {"roses", "rose"}},
		"Rosés":                  {"roses": {"roses", "rose"}},
		"rose lilies":            {"rose": {"rose", "roses"}, "lilies": {"lilies", "lily"}},
		"figs":                   {"figs": {"figs", "fig"}},
		"arbre":                  {"arbre": {"arbre", "l'arbre"}},
		"l’arbre":                {"l'arbre": {"l'arbre", "arbre"}},
		"fig":                    nil, // fewer than four letters
		"trees":                  nil, // no form occurs
		`"roses"`:                nil,
		"-roses lily":            {"lily": {"lily", "lilies"}},
		"roses*":                 nil,
		"rose-bush":              nil, // a phrase
		"rose2 1234 rose_a":      nil, // codes
		`"roses" bush`:           {"bush": {"bush", "bushes"}},
		"roses roses Roses rose": {"roses": {"roses", "rose"}, "rose": {"rose", "roses"}},
	} {
		for _, param := range []string{"search=", "title[match]="} {
			raw := param + url.QueryEscape(search)
			r, err := query.Parse(raw, catalog())
			must.NoError(t, err)
			got, err := r.Words(occurs)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s (error %v, -want +got):\n%s", raw, err, diff)
			}
			exact, err := query.Parse(raw+"&_words=exact", catalog())
			must.NoError(t, err)
			if got, err := exact.Words(occurs); got != nil || err != nil {
				t.Errorf("%s, exact: %v, %v", raw, got, err)
			}
		}
	}
}

// TestRequest_Words_exactDataset checks that a dataset can turn other forms off.
func TestRequest_Words_exactDataset(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "title", Type: herb.TypeText, Searchable: true, ExactWords: true}}
	r, err := query.Parse("search=roses", fields)
	must.NoError(t, err)
	if got, err := r.Words(func(string) bool { return true }); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRequest_Words_limit checks that forms count as words of the search.
func TestRequest_Words_limit(t *testing.T) {
	t.Parallel()
	var words, plurals []string
	for i := range 16 {
		words = append(words, fmt.Sprintf("tulip%c", 'a'+i))
		plurals = append(plurals, words[i]+"s")
	}
	parse := func(words []string, extra string) (query.Words, error) {
		r, err := query.Parse("search="+strings.Join(words, "+")+extra, catalog())
		must.NoError(t, err)
		return r.Words(func(word string) bool { return slices.Contains(plurals, word) })
	}
	if _, err := parse(words, ""); err != nil { // 32 words
		t.Error(err)
	}
	if _, err := parse(words[1:], "&title[match]=lily+rose"); err != nil {
		t.Error(err)
	}
	_, err := parse(words, "&title[match]=lily+tulipb")
	want := "the search has 18 words, including those of [match], and 17 other forms of them; at most 32 are searched; " +
		"write words in quotation marks or add _words=exact to find them only as they are written"
	if herb.CodeOf(err) != herb.CodeInvalid || herb.MessageOf(err) != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// TestRequest_ResultKey_words checks that requests with other results have other keys, and that
// those without other forms have the keys of earlier releases.
func TestRequest_ResultKey_words(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"search=roses":                            "search=roses forms 1",
		"search=roses&_words=exact":               "_words=exact&search=roses",
		"search=fig&_words=exact":                 "search=fig",
		"_words=exact":                            "",
		"search=fig":                              "search=fig",
		"search=%22roses%22":                      "search=%22roses%22",
		"title[match]=roses":                      "title%5Bmatch%5D=roses forms 1",
		"title[match]=roses&_words=exact&_words=": "",
	} {
		r, err := query.Parse(raw, catalog())
		if strings.Count(raw, "_words") > 1 {
			if err == nil {
				t.Errorf("%s is accepted", raw)
			}
			continue
		}
		must.NoError(t, err)
		if got := r.ResultKey(); got != want {
			t.Errorf("%s: %s; want %s", raw, got, want)
		}
		if got := query.Split(raw).FormsKey(); strings.HasSuffix(want, "forms 1") != (got == " forms 1") {
			t.Errorf("%s: %q", raw, got)
		}
	}
	if _, err := query.Parse("search=roses&_words=all", catalog()); herb.MessageOf(err) !=
		`_words is "all"; it must be exact` {
		t.Error(err)
	}
}
