package listtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// TestRules checks that the sections of the documentation exist that the rules of the oracle name.
func TestRules(t *testing.T) {
	t.Parallel()
	documentation, err := os.ReadFile("../../docs/api.md")
	must.NoError(t, err)
	sections := map[string]bool{}
	for line := range strings.Lines(string(documentation)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			sections[strings.TrimSpace(title)] = true
		}
	}
	files, err := filepath.Glob("*.go")
	must.NoError(t, err)
	rule := regexp.MustCompile(`// Rule: docs/api\.md, "(.*)"\.`)
	count := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		must.NoError(t, err)
		for _, m := range rule.FindAllStringSubmatch(string(source), -1) {
			count++
			if !sections[m[1]] {
				t.Errorf("%s: docs/api.md has no section %q", name, m[1])
			}
		}
	}
	if count == 0 {
		t.Error("no rule names its section")
	}
}
