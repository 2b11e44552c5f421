package internal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/collate"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/text"
	"herbarium/internal/webhooks"
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

// TestDocs_publishingLimits compares the limits of files and descriptors with the code.
func TestDocs_publishingLimits(t *testing.T) {
	t.Parallel()
	holds(t, "publishing.md",
		fmt.Sprintf("| name of a column, and all names of a table | %s bytes and %d MiB |",
			herb.Count(herb.MaxFieldName), herb.MaxFieldNames>>20),
		fmt.Sprintf("| title, of a dataset or a field; other single texts of settings | %s characters |",
			herb.Count(herb.MaxTitle)),
		fmt.Sprintf("| description | %s characters; lists of datasets have the first %s |",
			herb.Count(herb.MaxDescription), herb.Count(herb.MaxListed)),
		fmt.Sprintf("| each of `%s` | %d KiB |", strings.Join(herb.Annotations(), "`, `"), herb.MaxAnnotation>>10),
		fmt.Sprintf("| resources, files of a resource, fields | %s each |",
			herb.Count(min(herb.MaxResources, herb.MaxFields))),
		fmt.Sprintf("| `format` of a date | %d characters |", herb.MaxFormat),
		fmt.Sprintf("| `missingValues`, `trueValues`, `falseValues` | %s each, of at most %s characters |",
			herb.Count(herb.MaxValues), herb.Count(herb.MaxTitle)),
		fmt.Sprintf("| values of a condition of `include` or `exclude` | %s |", herb.Count(herb.MaxIncluded)),
		fmt.Sprintf("| `expectations` | %d |", herb.MaxExpectations), fmt.Sprintf("| `charts` | %d |", herb.MaxCharts),
		fmt.Sprintf("| fields of `primaryKey` | %d |", herb.MaxKeyFields),
	)
	holds(t, "api.md", fmt.Sprintf("`field_names` (the first %d KiB of names)", herb.MaxListedNames>>10))
}

// TestDocs_webhooks compares the limits of webhooks with the code.
func TestDocs_webhooks(t *testing.T) {
	t.Parallel()
	holds(t, "operations.md",
		fmt.Sprintf("| limits | %d webhooks; deliveries are kept for %d days, at most %s of all webhooks.",
			store.MaxWebhooks, int(store.DeliveryRetention.Hours())/24, herb.Count(store.MaxDeliveries)),
		fmt.Sprintf("a status from 200 to 299 within %d seconds", int(webhooks.Timeout.Seconds())),
		"`"+string(herb.EventTest)+"`",
	)
	for _, e := range []herb.EventType{herb.EventPublished, herb.EventRolledBack, herb.EventRejected, herb.EventFailed,
		herb.EventRemoved} {
		holds(t, "operations.md", "| `"+string(e)+"` |")
	}
}

func TestDocs_words(t *testing.T) {
	t.Parallel()
	var wants []string
	for _, op := range query.Ops() {
		wants = append(wants, "`"+string(op)+"`")
	}
	for _, p := range query.KindListing.Parameters() {
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
	holds(t, "api.md", "root collation of CLDR "+collate.CLDRVersion+" ",
		fmt.Sprintf("BM25 with k1 = %v and b = %v:", text.BM25K1, text.BM25B))
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
	wants := []string{app.ConfigEnv, app.TokenEnv, app.KeyEnv, app.DefaultConfigFile}
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

// TestDocs_operations checks that the guide has its parts in the order in which an operator needs
// them, and that its table of contents lists every section.
func TestDocs_operations(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	anchor := func(title string) string {
		return "[" + title + "](#" + strings.ReplaceAll(strings.ToLower(title), " ", "-") + ")"
	}
	contents, _, _ := strings.Cut(string(content), "\n## ")
	var parts []string
	for _, m := range regexp.MustCompile(`(?m)^(##|###) (.*)$`).FindAllStringSubmatch(string(content), -1) {
		if m[1] == "##" {
			parts = append(parts, m[2])
		}
		if !strings.Contains(contents, anchor(m[2])) {
			t.Errorf("the table of contents does not list %s", anchor(m[2]))
		}
	}
	const want = "Install, Run as a service, Serve HTTPS, Publish, Monitor, Back up, Upgrade, Grow, Look up"
	if got := strings.Join(parts, ", "); got != want {
		t.Errorf("the parts are\n%s\nand should be\n%s", got, want)
	}
}

// TestDocs_brackets checks that curl is told not to interpret the brackets of operators.
func TestDocs_brackets(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if regexp.MustCompile(`^ *curl .*https?://\S*\[`).MatchString(line) &&
				!regexp.MustCompile(`curl (-\w+ )*-\w*g`).MatchString(line) {
				t.Errorf("%s: curl without -g would reject the brackets in %s", page, line)
			}
		}
	}
}

// TestWorkflow checks that the workflow for contributors runs the test suite with the Go version of
// the module.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs map[string]struct {
			Container string
			Steps     []struct{ Run string }
		}
	}
	content, err := os.ReadFile("../.github/workflows/test.yml")
	if err == nil {
		err = yaml.Unmarshal(content, &workflow)
	}
	module, modErr := os.ReadFile("../go.mod")
	if err := errors.Join(err, modErr); err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)[1]
	job := workflow.Jobs["test"]
	var last []string
	for _, step := range job.Steps[max(0, len(job.Steps)-2):] {
		last = append(last, step.Run)
	}
	if !strings.HasPrefix(job.Container, "golang:"+string(version)+"-") ||
		!slices.Equal(last, []string{"make test", "make interop"}) {
		t.Errorf("the job is %+v; want Go %s, make test and make interop", job, version)
	}
}
