package view

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed snippets.tmpl
var snippetSource string

// SnippetTemplates are the programs that a page offers to copy, one per language.
type SnippetTemplates struct{ templates *template.Template }

// Snippet is a program that makes an API call.
type Snippet struct{ Language, Code string }

// ParseSnippets parses the embedded programs.
func ParseSnippets() (*SnippetTemplates, error) {
	t, err := template.New("snippets").Parse(snippetSource)
	if err != nil {
		return nil, fmt.Errorf("parse snippets: %w", err)
	}
	return &SnippetTemplates{t}, nil
}

// Snippets returns the programs that call a URL, which must be percent-encoded. The key of a locked dataset is read from
// the environment, so that copies can be shared.
func (t *SnippetTemplates) Snippets(url string, locked bool) ([]Snippet, error) {
	var out []Snippet
	for _, language := range []string{"curl", "JavaScript", "Python", "Go"} {
		var b strings.Builder
		err := t.templates.ExecuteTemplate(&b, language, struct {
			URL    string
			Locked bool
		}{url, locked})
		if err != nil {
			return nil, fmt.Errorf("render %s snippet: %w", language, err)
		}
		out = append(out, Snippet{language, b.String()})
	}
	return out, nil
}
