package citation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/citation"
)

var (
	ref       = herb.Ref{Namespace: "garden", Name: "catalog"}
	published = time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", -3600)) // 2 March in UTC
)

func TestAll(t *testing.T) {
	t.Parallel()
	const url = "https://data.example.org/datasets/garden/catalog?_version=v1"
	for name, test := range map[string]struct {
		source citation.Source
		want   []string
	}{
		"complete": {
			citation.Source{
				Ref: ref, Title: "The garden", Authors: []string{"Ana Braun", "Garden Trust, Inc."},
				Publisher: "City of Ghent",
				Version:   "20260302T003000", Published: published, Hash: "abc123", URL: url,
			},
			[]string{
				"@misc{garden-catalog-20260302T003000,\n  author = {{Ana Braun} and {Garden Trust, Inc.}},\n  title " +
					"= {{The garden}},\n  year = {2026},\n  month = mar,\n" +
					"  publisher = {City of Ghent},\n  version = {20260302T003000},\n  note = {Data set, Version " +
					"20260302T003000, content hash abc123},\n  url = {" + url + "}\n}",
				"Ana Braun, Garden Trust, Inc.: The garden. City of Ghent. 2 March 2026. Version 20260302T003000, " +
					"content hash abc123. " + url,
			},
		},
		"without version, date and hash": {
			citation.Source{Ref: ref, Title: "What grows?", URL: url},
			[]string{
				"@misc{garden-catalog,\n  author = {{garden}},\n  title = {{What grows?}},\n  note = {Data set},\n  " +
					"url = {" + url + "}\n}",
				"garden: What grows? " + url,
			},
		},
		"publisher instead of authors": {
			citation.Source{Ref: ref, Title: " \n\t", Publisher: "Trust Inc.", Authors: []string{"", "\u202E"},
				Version: "2026 Q1/final", Hash: "abc", URL: url},
			[]string{
				"@misc{garden-catalog-2026-Q1-final,\n  author = {{Trust Inc.}},\n  title = {{catalog}},\n  " +
					"publisher = {Trust Inc.},\n  version = {2026 Q1/final},\n" +
					"  note = {Data set, Version 2026 Q1/final, content hash abc},\n  url = {" + url + "}\n}",
				"Trust Inc.: catalog. Version 2026 Q1/final, content hash abc. " + url,
			},
		},
	} {
		var got []string
		for _, c := range citation.All(test.source) {
			got = append(got, c.Text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestAll_escape checks characters that have a meaning in BibTeX.
func TestAll_escape(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		`50 % & $5_#1 ~x^2`:         `50 \% \& \$5\_\#1 {\textasciitilde}x{\textasciicircum}2`,
		`} , evil = {`:              `{\textbraceright} , evil = {\textbraceleft}`,
		`\input{/etc/passwd}`:       `{\textbackslash}input{\textbraceleft}/etc/passwd{\textbraceright}`,
		`say "hi"`:                  `say {"}hi{"}`,
		"植物園 – Ωmega é":             "植物園 – Ωmega é",
		"a\u202Eb\x00c\r\n\n  d\tx": "abc d x",
		"bad \xff byte":             "bad \uFFFD byte",
		`@misc{x,`:                  `@misc{\textbraceleft}x,`,
	} {
		got := citation.All(citation.Source{Ref: ref, Title: title, Authors: []string{title},
			URL: `https://x.example/a{b}\c"d e`})[0].Text
		for _, field := range []string{"title = {{" + want + "}}", "author = {{" + want + "}}",
			`url = {https://x.example/a%7Bb%7D%5Cc%22d%20e}`} {
			if !strings.Contains(got, field+",\n") && !strings.Contains(got, field+"\n}") {
				t.Errorf("%q has no %s:\n%s", title, field, got)
			}
		}
		if opening, closing := strings.Count(got, "{"), strings.Count(got, "}"); opening != closing {
			t.Errorf("%q: %d opening and %d closing braces:\n%s", title, opening, closing, got)
		}
	}
}

// TestAll_bounds checks that long texts and many authors are cut.
func TestAll_bounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`\{%`, 1<<20)
	authors := make([]string, 100_000)
	for i := range authors {
		authors[i] = long
	}
	for _, c := range citation.All(citation.Source{Ref: ref, Title: long, Authors: authors, Publisher: long,
		Version: long, Hash: long, URL: "https://x.example/"}) {
		if len(c.Text) > 60_000 {
			t.Errorf("%s has %d bytes", c.Name, len(c.Text))
		}
	}
	if got := citation.All(citation.Source{
		Ref: ref, Authors: strings.Split(strings.Repeat("A,", 25)+"Z", ",")})[0].Text; !strings.Contains(got,
		" and {A} and others}") || strings.Contains(got, "Z") {
		t.Errorf("many authors: %s", got)
	}
	many := citation.All(citation.Source{Ref: ref, Title: "x", Authors: strings.Split(strings.Repeat("A,", 24)+"Z",
		","), URL: "u"})
	if want := "A, A, A et al.: x."; !strings.HasPrefix(many[1].Text, want) {
		t.Errorf("many authors: %s", many[1].Text)
	}
}
