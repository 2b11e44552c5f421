package internal_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/collate"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
	"herbarium/internal/text"
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

// TestDocs_text compares the rules of text in the documentation with the code.
func TestDocs_text(t *testing.T) {
	t.Parallel()
	holds(t, "api.md", "root collation of CLDR "+collate.CLDRVersion+" ", fmt.Sprintf("BM25 with k1 = %v and b = %v:", text.BM25K1, text.BM25B))
	content, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "| written | compared as |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	folded := 0
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(row, "|")
		written, compared := strings.Fields(cells[1]), strings.Fields(cells[2])
		if len(written) != len(compared) {
			t.Fatalf("row %q has %d and %d words", row, len(written), len(compared))
		}
		for i := range written {
			folded++
			if got := text.Fold(strings.Trim(written[i], "`")); got != strings.Trim(compared[i], "`") {
				t.Errorf("docs/api.md says that %s is compared as %s; it is %q", written[i], compared[i], got)
			}
		}
	}
	if folded < 20 {
		t.Errorf("docs/api.md has %d folded words", folded)
	}
	if text.Fold("が") == text.Fold("か") {
		t.Error("docs/api.md says that が is not か")
	}
}

// TestDocs_operators compares the operators and what the OpenAPI document says about them.
func TestDocs_operators(t *testing.T) {
	t.Parallel()
	for _, op := range query.Ops() {
		if about := op.Describe("price"); !strings.Contains(about, " price ") || strings.Contains(about, "%") {
			t.Errorf("%s is described as %q", op, about)
		}
	}
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
		flag := "arguments"
		if s.Flag() != "" {
			flag = "`--" + s.Flag() + "`"
		}
		wants = append(wants, fmt.Sprintf("| `%s` | %s | `%s` | %s|", s.Key, flag, s.Env(), value))
	}
	holds(t, "operations.md", wants...)
}
