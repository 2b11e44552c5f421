package query_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/query"
)

func TestParseSearch(t *testing.T) {
	t.Parallel()
	word := func(w ...string) query.Clause { return query.Clause{Words: w} }
	prefix := func(w ...string) query.Clause { return query.Clause{Words: w, Prefix: true} }
	not := func(c query.Clause) query.Clause { c.Exclude = true; return c }
	type clauses = []query.Clause
	for _, c := range []struct {
		search string
		want   clauses
		text   string // canonical form
	}{
		{"rose", clauses{word("rose")}, `rose`},
		{"  Rose\tLILY ", clauses{word("lily"), word("rose")}, `lily rose`},
		{"rose Rose rosé", clauses{word("rose")}, `rose`},
		{"ros*", clauses{prefix("ros")}, `"ros"*`},
		{"-rose", clauses{not(word("rose"))}, `-rose`},
		{"-ros*", clauses{not(prefix("ros"))}, `-"ros"*`},
		{"rose -rose", clauses{not(word("rose")), word("rose")}, `-rose rose`},
		{`"old rose"`, clauses{word("old", "rose")}, `"old rose"`},
		{`"rose"`, clauses{{Words: []string{"rose"}, Exact: true}}, `"rose"`},
		{`rose "rose" rose`, clauses{{Words: []string{"rose"}, Exact: true}, word("rose")}, `"rose" rose`},
		{`"fig"`, clauses{word("fig")}, `fig`},
		{`-"old rose"`, clauses{not(word("old", "rose"))}, `-"old rose"`},
		{`"old ro"*`, clauses{prefix("old", "ro")}, `"old ro"*`},
		{`"old rose"bush`, clauses{word("old", "rose"), word("bush")}, `"old rose" bush`},
		{`“old rose” „x y“ «z w»`, clauses{word("old", "rose"), word("x", "y"), word("z", "w")},
			`"old rose" "x y" "z w"`},
		{`"old rose`, clauses{word("old"), word("rose")}, `old rose`},
		{`old" rose`, clauses{word("old"), word("rose")}, `old rose`},
		{`5" pot`, clauses{word("5"), word("pot")}, `5 pot`},
		{"AB-12/7", clauses{word("ab", "12", "7")}, `"ab 12 7"`},
		{"AB-12/7*", clauses{prefix("ab", "12", "7")}, `"ab 12 7"*`},
		{"植物園", clauses{word("植", "物", "園")}, `"植 物 園"`},
		{"don't don’t", clauses{word("don't")}, `don't`},
		{"rose-*", clauses{word("rose")}, `rose`},
		{"foo_*", clauses{prefix("foo_")}, `"foo_"*`},
		{"foo_ _foo*", clauses{prefix("_foo"), word("foo_")}, `"_foo"* foo_`},
		{"_* foo", clauses{word("foo")}, `foo`}, // an underscore alone is no word
		{"rose\u00AD* rose\uFF3F*", clauses{prefix("rose"), prefix("rose_")}, `"rose"* "rose_"*`},
		{"rose-\u0301*", clauses{word("rose")}, `rose`},
		{"rose *", clauses{word("rose")}, `rose`},
		{"*rose", clauses{word("rose")}, `rose`},
		{"ro*se", clauses{word("ro", "se")}, `"ro se"`},
		{"--rose", clauses{not(word("rose"))}, `-rose`},
		{"- rose", clauses{word("rose")}, `rose`},
		{"rose OR lily", clauses{word("lily"), word("or"), word("rose")}, `lily or rose`},
		{"title=rose", clauses{word("title", "rose")}, `"title rose"`},
		{"title:rose", clauses{word("title:rose")}, `title:rose`}, // by the Unicode rules, a colon joins letters
		{"cafe\u0301*", clauses{prefix("cafe")}, `"cafe"*`},
		{"🌹", clauses{word("🌹")}, `🌹`},
		{`צה"ל`, clauses{word("צהל")}, `צהל`},
		{"!!!", nil, `-`},
		{"-", nil, `-`},
		{`""`, nil, `-`},
		{`"`, nil, `-`},
		{"*", nil, `-`},
		{`'); DROP TABLE plants; --`, clauses{word("drop"), word("plants"), word("table")}, `drop plants table`},
	} {
		t.Run(c.search, func(t *testing.T) {
			t.Parallel()
			r, err := query.Parse("search="+url.QueryEscape(c.search), catalog())
			if err != nil {
				t.Fatal(err)
			}
			if r.Search == nil {
				t.Fatal("there is no search")
			}
			if diff := cmp.Diff(c.want, r.Search.Clauses, cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(query.Clause{}, "Forms")); diff != "" {
				t.Errorf("clauses (-want +got):\n%s", diff)
			}
			if got := r.Search.String(); got != c.text {
				t.Errorf("canonical form %q, want %q", got, c.text)
			}
			if !r.ByRelevance() {
				t.Error("the best matches do not come first")
			}
		})
	}
	r, err := query.Parse("search=rose&sort=id", catalog())
	if err != nil || r.ByRelevance() {
		t.Errorf("a search with a sort is ordered by relevance (error %v)", err)
	}
}
