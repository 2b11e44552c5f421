package internal_test

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
)

// TestPictures compares the trees of calls in docs/architecture.md with the code: each function
// exists, and calls those below it in their order.
func TestPictures(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	node := regexp.MustCompile(`^([│├└─ ]*)([a-z]+(?:/[a-z]+)*)\.((?:\w+\.)?\w+)(?: |$)`)
	var trees int
	for i, block := range strings.Split(string(doc), "```") {
		root, _, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		if i%2 == 0 || !node.MatchString(root) {
			continue // text, or a picture of another kind
		}
		trees++
		var above []call // from the root to the last line
		for line := range strings.Lines(strings.Trim(block, "\n")) {
			m := node.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				t.Errorf("docs/architecture.md: %q names no function", line)
				continue
			}
			depth := len([]rune(m[1])) / 3
			if depth > len(above) || depth == 0 && len(above) > 0 {
				t.Fatalf("docs/architecture.md: %q is not below another function", line)
			}
			f := call{name: m[2] + "." + m[3], calls: callsOf(t, m[2], m[3])}
			above = append(above[:depth], f)
			if depth == 0 {
				continue
			}
			caller := &above[depth-1]
			called := m[3][strings.LastIndexByte(m[3], '.')+1:]
			at := slices.Index(caller.calls, called)
			if at < 0 {
				t.Errorf("docs/architecture.md: %s does not call %s, or calls it before those above it",
					caller.name, f.name)
				continue
			}
			caller.calls = caller.calls[at+1:]
		}
	}
	if trees == 0 {
		t.Error("docs/architecture.md has no tree of calls")
	}
}

// call is a function of a picture and what it calls after the functions that were found.
type call struct {
	name  string
	calls []string
}

// callsOf returns the names that a function of a package calls, in the order of the source. The
// function is "Name" or "Type.Name".
func callsOf(t *testing.T, pkg, function string) (calls []string) {
	t.Helper()
	receiver, name, isMethod := strings.Cut(function, ".")
	if !isMethod {
		receiver, name = "", function
	}
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != name || receiverOf(f) != receiver || strings.HasSuffix(file, "_test.go") {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok {
					switch called := c.Fun.(type) {
					case *ast.Ident:
						calls = append(calls, called.Name)
					case *ast.SelectorExpr:
						calls = append(calls, called.Sel.Name)
					}
				}
				return true
			})
			return calls
		}
	}
	t.Errorf("docs/architecture.md: package %s has no function %s", pkg, function)
	return nil
}

// receiverOf returns the type of a method, without a pointer; empty if it is a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
