package query_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

func markedFields() []herb.Field {
	field := func(name string, t herb.Type, n herb.Notation) herb.Field {
		return herb.Field{Name: name, Type: t, Searchable: t == herb.TypeText || t == herb.TypeList, Filterable: true,
			Notation: n}
	}
	return []herb.Field{field("text", herb.TypeText, herb.Notation{}), field("list", herb.TypeList, herb.Notation{}),
		field("json", herb.TypeList, herb.Notation{JSON: true}), field("n", herb.TypeNumber, herb.Notation{})}
}

func TestMarker_Excerpt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ request, field, value, want string }{
		{"search=rose", "text", "A David Austin rose with the true Old Rose scent",
			"A David Austin |rose| with the true Old |Rose| scent"},
		{"search=rose", "text", "rose", "|rose"},
		{"search=rose", "text", "roses", "|roses"}, // another form
		{"search=%22rose%22", "text", "roses", ""},
		{"search=rose", "n", "1", ""},
		{"search=rose+%22rose+garden%22", "text", "the rose garden", "the |rose garden"}, // the longest
		{"search=rose+-tree", "text", "a rose tree", "a |rose| tree"},
		{"search=roses", "text", "a rose, Roses", "a |rose|, |Roses"}, // another form
		{"search=%22red+roses%22", "text", "red rose", ""},
		{"text[contains]=RES", "text", "Prés, près", "P|rés|, p|rès"},
		{"text[contains]=a&text[contains]=ab", "text", "xab", "x|ab"},
		{"text[contains]=os&search=rose", "text", "rose, most", "|rose|, m|os|t"},
		{"text[prefix]=ro", "text", "Rosé, rose", "|Ro|sé, rose"},
		{"text[match]=rose+-x&list[match]=tree", "text", "a rose tree", "a |rose| tree"},
		{"text=rose", "text", "rose", ""},
		{"text[ieq]=rose", "text", "Rose", ""},
		{"text[ne]=x", "text", "rose", ""},
		{"n[prefix]=1", "n", "12", ""},
		{"list[prefix]=re", "list", "tree, red, read", "tree, |re|d, |re|ad"},
		{"list[contains]=d,+r", "list", "red, read", ""}, // no element contains it
		{"search=%22red+read%22", "list", "red, read", "|red, read"},
		{"json[prefix]=a+%22", "json", `["b", "A \"c\""]`, `["b", "|A \"|c\""]`},
		{"search=null+x", "json", `[null, "x"]`, `[null, "|x|"]`},
		{"_any=text,list&text[prefix]=x&list=a", "text", "a", ""},
	} {
		fields := markedFields()
		req, err := query.Parse(tt.request, fields)
		must.NoError(t, err)
		marker := req.NewMarker()
		parts := marker.Excerpt(herb.FieldIndex(fields, tt.field), tt.value, false)
		if got := strings.Join(parts, "|"); got != tt.want {
			t.Errorf("%s in %s: %s, want %s", tt.request, tt.value, got, tt.want)
		}
	}
}

// TestMarker_Excerpt_long checks which part of a long value is returned.
func TestMarker_Excerpt_long(t *testing.T) {
	t.Parallel()
	req, err := query.Parse("search=rose", markedFields())
	must.NoError(t, err)
	words := func(n int) string { return strings.Repeat("tree ", n) }
	combined := "e" + strings.Repeat("\u0301", 400)
	for _, tt := range []struct {
		name, value string
		isCut       bool
		want        []string
	}{
		{"200 characters", words(39) + "rose!", false, []string{words(39), "rose", "!"}},
		{"at the start", "rose " + words(60), false, []string{"", "rose", " " + words(39)[:195] + "…"}},
		{"in the middle", words(60) + "rose " + words(60), false,
			[]string{"…" + words(7), "rose", " " + words(32)[:160] + "…"}},
		{"near the end", words(60) + "rose tree", false, []string{"…" + words(38), "rose", " tree"}},
		{"near the end of what is read", words(60) + "rose tree", true, []string{"…" + words(7), "rose", " tree…"}},
		{"at the end of what is read", words(60) + "rose", true, nil}, // may be another word
		{"several, of which the last one is not marked in part", words(60) + "rose " + words(30) + "a rose rose",
			false, []string{"…" + words(7), "rose", " " + words(30) + "a ", "rose", " …"}},
		{"no spaces", strings.Repeat("樹", 300) + " rose", false,
			[]string{"…" + strings.Repeat("樹", 195) + " ", "rose"}},
		{"a character of several code points", combined + " rose " + combined, false, []string{"… ", "rose", " …"}},
		{"a character that is longer than an excerpt", "ro" + strings.Repeat("\u0301", 400) + "se", false,
			[]string{"", "r", "…"}},
	} {
		got := req.NewMarker().Excerpt(0, tt.value, tt.isCut)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if n := utf8.RuneCountInString(strings.ReplaceAll(strings.Join(got, ""), "…", "")); n > 200 {
			t.Errorf("%s: %d characters", tt.name, n)
		}
	}
}
