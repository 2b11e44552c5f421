package text_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/text"
)

// TestForms checks the pairs in testdata/forms.txt.
func TestForms(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/forms.txt")
	must.NoError(t, err)
	pairs := 0
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, ":")
		forms, others, _ := strings.Cut(rest, "|")
		got := text.Forms(word)
		for _, form := range strings.Fields(forms) {
			pairs++
			if !slices.Contains(got, form) {
				t.Errorf("%s does not find %s", word, form)
			}
		}
		for _, other := range strings.Fields(others) {
			pairs++
			if slices.Contains(got, other) {
				t.Errorf("%s finds %s", word, other)
			}
		}
	}
	if pairs < 400 {
		t.Errorf("%d pairs; want at least 400", pairs)
	}
}

// TestForms_rules checks the rules about all words of the pairs and some others.
func TestForms_rules(t *testing.T) {
	t.Parallel()
	const most = 60 // looked up for each word of a search
	content, err := os.ReadFile("testdata/forms.txt")
	must.NoError(t, err)
	words := strings.FieldsFunc(string(content), func(r rune) bool { return strings.ContainsRune(" \n:|,#.", r) })
	words = append(words, "information", "animals", "eisenbahn", "onion", "universen", "aaaa", "eeen", "aaaaen", "l'en")
	for _, word := range words {
		forms := text.Forms(word)
		if len(forms) > most {
			t.Errorf("%s has %d forms", word, len(forms))
		}
		if !slices.IsSorted(forms) || len(slices.Compact(slices.Clone(forms))) != len(forms) ||
			slices.Contains(forms, word) || slices.Contains(forms, "") {
			t.Errorf("%s: %q", word, forms)
		}
		for _, form := range forms {
			if len(strings.ReplaceAll(form, "'", "")) >= text.MinFormLetters && len(text.AppendWords(nil, form)) != 1 {
				t.Errorf("%s has the form %s, which is no word", word, form)
			}
		}
	}
}

// TestForms_none checks words without other forms.
func TestForms_none(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "a", "red", "car", "ros", "2024", "3.14", "ab12", "rose2", "foo_bar", "植物園",
		"ёлка",
		"e.g", "title:rose", "it's", "d'or", "x'y'z'abc", "'", "''''''", "🌹"} {
		if got := text.Forms(word); got != nil {
			t.Errorf("%s has the forms %q", word, got)
		}
	}
}

func BenchmarkForms(b *testing.B) {
	for _, word := range []string{"roses", "garden", "animal", "zzzzzz"} {
		b.Run(word, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				text.Forms(word)
			}
		})
	}
}

// TestForms_frozen checks that the number of the rules is raised if they change.
func TestForms_frozen(t *testing.T) {
	t.Parallel()
	const rules, want = "1", "df613dd13dce"
	content, err := os.ReadFile("testdata/forms.txt")
	must.NoError(t, err)
	sum := sha256.New()
	for line := range strings.Lines(string(content)) {
		if word, _, ok := strings.Cut(line, ":"); ok {
			fmt.Fprintln(sum, word, text.Forms(word))
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)[:6]); got != want || text.FormRules != rules {
		t.Errorf("the forms have the hash %s with the rules %s; raise FormRules if a release has the others, and set both here",
			got, text.FormRules)
	}
}
