package segmenttest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// TestRules checks that the sections of the documentation exist that the rules of the oracle name.
func TestRules(t *testing.T) {
	t.Parallel()
	documentation, err := os.ReadFile("../../../docs/api.md")
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

// TestRules_complete checks that each function of the oracle names the section of the documentation
// that it was written from. A rule without one was copied from an engine, and both may be wrong.
func TestRules_complete(t *testing.T) {
	t.Parallel()
	helpers := []string{ // that decide nothing
		"NewOracle", "Find", "List", "Stream", "StreamGroups", "memoizedConditions", "memoize", // glue
		// arithmetic and notation
		"boolInt", "directed", "identityOf", "plain", "numberLabel", "placeOf", "addAll", "degrees", "rat",
		"weights", // the format of collation keys
	}
	for _, name := range []string{"oracle.go", "aggregate.go", "facets.go", "grid.go", "match.go", "values.go",
		"places.go", "clock.go", "types.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		must.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || isGenerator(f) || slices.Contains(helpers, f.Name.Name) ||
				strings.Contains(f.Doc.Text(), "Rule: docs/api.md") {
				continue
			}
			t.Errorf("%s: %s names no section of docs/api.md", name, f.Name.Name)
		}
	}
}

// isGenerator reports whether a function makes or compares requests instead of answering them.
func isGenerator(f *ast.FuncDecl) bool {
	if f.Recv != nil {
		pointer, ok := f.Recv.List[0].Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		receiver, _ := pointer.X.(*ast.Ident)
		return receiver != nil && receiver.Name == "generator"
	}
	return slices.Contains([]string{"RunPlaces", "checkPlaces", "mustFloat", "countingParams", "agreeOnTypes"},
		f.Name.Name)
}
