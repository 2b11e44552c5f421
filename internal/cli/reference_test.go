package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/cli"
	"herbarium/internal/cli/reference"
	"herbarium/internal/must"
)

// TestReference compares docs/cli.md with the commands.
func TestReference(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../../docs/cli.md")
	must.NoError(t, err)
	if want := reference.Markdown(cli.NewRoot()); string(got) != want {
		t.Error("docs/cli.md differs from the commands; run 'make reference'")
	}
}

// TestReference_json checks that the reference lists every command with --json.
func TestReference_json(t *testing.T) {
	t.Parallel()
	doc := reference.Markdown(cli.NewRoot())
	_, table, _ := strings.Cut(doc, "### JSON output")
	table, _, _ = strings.Cut(table, "###")
	for _, section := range strings.Split(doc, "\n## herbarium ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		if strings.Contains(text, "| `--json` |") && name != "datasets" && !strings.Contains(table, "`"+name+"`") {
			t.Errorf("the table of JSON output does not list %s", name)
		}
	}
}

func TestManPages(t *testing.T) {
	t.Parallel()
	pages := reference.Man(cli.NewRoot(), "1.2.3")
	macro := regexp.MustCompile(`^\.(TH|SH|TP|PP|B|BR|I|nf|fi|br)\b`)
	for name, page := range pages {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, ".") && !macro.MatchString(line) {
				t.Errorf("%s: unknown macro in %s", name, line)
			}
		}
		for _, want := range []string{`"herbarium 1.2.3"`, ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n",
			".SH EXAMPLES\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
	}
	if page := pages["herbarium-keys-create.1"]; !strings.Contains(page, `.B \-\-scope scope`) ||
		!strings.Contains(page, ".BR herbarium\\-keys (1)") {
		t.Errorf("got\n%s", page)
	}
}
