package view

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed snippets.tmpl
var snippetSource string

// Snippet is a program that makes an API call.
type Snippet struct{ Language, Code string }

// ParseSnippets parses the embedded programs that a page offers to copy, one template per language.
func ParseSnippets() (*template.Template, error) {
	return template.New("snippets").Parse(snippetSource)
}

// NewSnippets returns the programs that call a URL, which must be percent-encoded. The key of a locked dataset is read from
// the environment, so that copies can be shared. counts is true if the response contains the counts of cells, not records.
func NewSnippets(programs *template.Template, url string, locked, counts bool) ([]Snippet, error) {
	var out []Snippet
	for _, language := range []string{"curl", "JavaScript", "Python", "Go", "R"} {
		var b strings.Builder
		if err := programs.ExecuteTemplate(&b, language, map[string]any{"URL": url, "Locked": locked, "Counts": counts}); err != nil {
			return nil, fmt.Errorf("render %s snippet: %w", language, err)
		}
		out = append(out, Snippet{language, b.String()})
	}
	return out, nil
}
