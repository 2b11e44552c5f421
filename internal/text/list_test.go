package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

func TestElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		json bool
		want []string
	}{
		{"", false, nil},
		{" ", false, nil},
		{",", false, nil},
		{" , ,", false, nil},
		{"a", false, []string{"a"}},
		{"a,b", false, []string{"a", "b"}},
		{" a , b c ,", false, []string{"a", "b c"}},
		{"a,,a", false, []string{"a", "a"}},
		{"\u00A0é\t,\nB", false, []string{"é", "B"}},
		{`["a, b","c"]`, false, []string{`["a`, `b"`, `"c"]`}},
		{`["a, b","c"]`, true, []string{"a, b", "c"}},
		{` [ "a" , 1.50, true, null, "" ] `, true, []string{"a", "1.50", "true"}},
		{`["caf\u00e9","\"x\""]`, true, []string{"café", `"x"`}},
		{"[]", true, nil},
		{"", true, nil},
		{"a, b", true, []string{"a", "b"}},
		{`[["a"]]`, true, []string{`[["a"]]`}},
		{`[a]`, true, []string{"[a]"}},
	} {
		f := herb.Field{Type: herb.TypeList, Notation: herb.Notation{JSON: c.json}}
		if diff := cmp.Diff(c.want, text.Elements(&f, c.in), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Elements(%q), JSON %t (-want +got):\n%s", c.in, c.json, diff)
		}
	}
}

func TestSearchText(t *testing.T) {
	t.Parallel()
	const value = `["caf\u00e9","line\nbreak"]`
	f := herb.Field{Type: herb.TypeList, Notation: herb.Notation{JSON: true}}
	if got, want := text.SearchText(&f, value), "café, line\nbreak"; got != want {
		t.Errorf("SearchText(%q) = %q; want %q", value, got, want)
	}
	if got := text.SearchText(&herb.Field{Type: herb.TypeText}, value); got != value {
		t.Errorf("SearchText of text = %q; want %q", got, value)
	}
}

// TestAppendList checks which arrays are written with commas: those whose elements can be told
// apart again.
func TestAppendList(t *testing.T) {
	t.Parallel()
	for array, want := range map[string]string{
		`["a","b"]`: "a,b", ` [ "a" , 1.50 , true ] `: "a,1.50,true", `["caf\u00e9","say \"x\""]`: `café,say "x"`,
		`[" a"]`:   " a",
		`["a, b"]`: "", `["a\u002cb"]`: "", `[""]`: "", `[null]`: "", `["[a"]`: "", `[["a"]]`: "", `[{"a":1}]`: "",
		`[]`: "", `["a"`: "", `[`: "", `a,b`: "", "": "",
	} {
		got, ok := text.AppendList([]byte("x"), []byte(array))
		if string(got) != "x"+want || ok != (want != "") {
			t.Errorf("AppendList(%s) = %s, %t; want %q", array, got, ok, want)
		}
	}
}
