package internal_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
)

// holds checks that a document contains the values of the code.
func holds(t *testing.T, doc string, wants ...string) {
	t.Helper()
	content, err := os.ReadFile("../docs/" + doc)
	if err != nil {
		t.Fatal(err)
	}
	folded := regexp.MustCompile(`\s+`).ReplaceAllString(string(content), " ")
	for _, want := range wants {
		if !strings.Contains(folded, want) {
			t.Errorf("docs/%s does not say %q", doc, want)
		}
	}
}

func TestDocs_limits(t *testing.T) {
	t.Parallel()
	holds(t, "api.md",
		fmt.Sprintf("| query string | %d KiB |", query.MaxQueryBytes>>10),
		fmt.Sprintf("| values of all filters together | %d |", query.MaxFilterValues),
		fmt.Sprintf("| words of `search` and `[match]` together | %d |", query.MaxSearchWords),
		fmt.Sprintf("| `page` | %d |", query.MaxPage),
		fmt.Sprintf("| `per_page` | %d | records on a page, from 1; more than %d is served as %d",
			query.DefaultPerPage, query.MaxPerPage, query.MaxPerPage),
		fmt.Sprintf("repeat it for more, at most %d |", query.MaxFacetFields),
		fmt.Sprintf("| `top` | %d | how many values to return, from 0 to %d |", query.DefaultTop, query.MaxTop),
		fmt.Sprintf("| `buckets` | %d | how many buckets a histogram may have, from %d to %d;",
			query.DefaultBuckets, query.MinBuckets, query.MaxBuckets),
		fmt.Sprintf("Numbers of more than %d digits have no histogram", query.MaxEdgeDigits),
		fmt.Sprintf("is larger than %d MiB", plants.MaxBody>>20),
		fmt.Sprintf("1 to %d characters, at least one of them visible", plants.MaxName),
		fmt.Sprintf("up to %d characters, no control characters", plants.MaxTag),
	)
}

func TestDocs_words(t *testing.T) {
	t.Parallel()
	var wants []string
	for _, op := range query.Ops() {
		wants = append(wants, "`"+string(op)+"`")
	}
	for _, p := range query.Reserved() {
		wants = append(wants, "| `"+p+"` |")
	}
	for _, s := range herb.AllScopes() {
		wants = append(wants, "| `"+string(s)+"` |")
	}
	for _, typ := range herb.Types() {
		wants = append(wants, "| `"+string(typ)+"` |")
	}
	holds(t, "api.md", wants...)
}

func TestDocs_settings(t *testing.T) {
	t.Parallel()
	defaults := app.DefaultConfig()
	wants := []string{app.ConfigEnv, app.TokenEnv, app.DefaultConfigFile}
	for _, s := range defaults.Settings() {
		value := s.Value()
		if value != "" {
			value = "`" + value + "` "
		}
		wants = append(wants, fmt.Sprintf("| `%s` | `--%s` | `%s` | %s|", s.Key, s.Flag(), s.Env(), value))
	}
	holds(t, "operations.md", wants...)
}
