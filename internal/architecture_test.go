// Package internal_test compares the structure of the program with docs/architecture.md.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "herbarium/internal/"

// TestImports compares the imports of every package with the table in docs/architecture.md.
func TestImports(t *testing.T) {
	t.Parallel()
	allowed := readTable(t)
	testOnly := []string{
		"browsertest", "httpapi/apitest", "ingest/rowstest", "segment/segmenttest", "must", "programtest",
		"segment/internal/buildtest", "store/pgtest", "testseed", "versions/versionstest", "blobs/s3test",
	}
	seen := map[string]bool{}
	eachFile(t, func(file string) {
		pkg := path.Dir(file)
		if pkg == "." {
			return
		}
		seen[pkg] = true
		for _, imported := range imports(t, file) {
			isTest := strings.HasSuffix(file, "_test.go")
			switch {
			case isTest || imported == pkg:
			case slices.Contains(testOnly, imported) && !slices.Contains(testOnly, pkg):
				t.Errorf("%s imports %s, which is for tests only", file, imported)
			case !slices.Contains(allowed[pkg], imported):
				t.Errorf("%s imports %s; docs/architecture.md allows %s only %q", file, imported, pkg, allowed[pkg])
			}
		}
	})
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("docs/architecture.md describes %s, which does not exist", pkg)
		}
	}
	for pkg := range seen {
		if _, ok := allowed[pkg]; !ok {
			t.Errorf("docs/architecture.md does not describe %s", pkg)
		}
	}
}

// readTable returns for each package what it may import.
func readTable(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|[^|]*\\|([^|]*)\\|$")
	name := regexp.MustCompile("`([a-z0-9/]+)`")
	table := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		table[m[1]] = nil
		for _, n := range name.FindAllStringSubmatch(m[2], -1) {
			table[m[1]] = append(table[m[1]], n[1])
		}
	}
	all := slices.Sorted(maps.Keys(table))
	for _, pkg := range []string{"app", "cli"} {
		table[pkg] = slices.DeleteFunc(slices.Clone(all), func(s string) bool {
			return s == pkg || pkg == "app" &&
				s == "cli"
		})
	}
	if len(table) < 10 {
		t.Fatalf("docs/architecture.md has no table of packages: %v", table)
	}
	return table
}

// imports returns what a file imports of this module, without its common path.
func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(p, module); ok {
			out = append(out, rest)
		}
	}
	return out
}

// eachFile calls f with every Go file below this folder.
func eachFile(t *testing.T, f func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" { // as the go command does
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() && filepath.Ext(file) == ".go" {
			f(filepath.ToSlash(file))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommentColumns checks that comment lines are at most 100 columns wide. Code blocks and
// pictures, which begin with a tab, may be wider.
func TestCommentColumns(t *testing.T) {
	t.Parallel()
	const limit = 100
	comment := regexp.MustCompile(`^\t*// `)
	eachFile(t, func(file string) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			n++
			line = strings.TrimSuffix(line, "\n")
			if width := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); comment.MatchString(line) &&
				width > limit {
				t.Errorf("%s:%d: the comment is %d columns wide; at most %d", file, n, width, limit)
			}
		}
	})
}

// TestCodeColumns checks that lines of code are at most 120 columns wide, with tabs of four. A line
// with a long text may be wider.
func TestCodeColumns(t *testing.T) {
	t.Parallel()
	const limit, longText = 120, 50
	width := func(line string) int { return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) }
	eachFile(t, func(file string) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines, tooWide := strings.Split(string(content), "\n"), map[int]bool{}
		for i, line := range lines {
			if width(line) > limit {
				tooWide[i] = true
			}
		}
		if len(tooWide) == 0 {
			return
		}
		set := token.NewFileSet()
		code := set.AddFile(file, -1, len(content))
		var s scanner.Scanner
		s.Init(code, content, nil, scanner.ScanComments)
		for {
			pos, kind, text := s.Scan()
			if kind == token.EOF {
				break
			}
			for i, part := range strings.Split(text, "\n") {
				if (kind == token.STRING || kind == token.COMMENT) && width(part) > longText {
					delete(tooWide, code.Line(pos)-1+i)
				}
			}
		}
		for i := range tooWide {
			t.Errorf("%s:%d: the line is %d columns wide; at most %d", file, i+1, width(lines[i]), limit)
		}
	})
}

// TestMessagesWithoutFlags checks that messages of packages that serve all interfaces name no flags
// of the command line: readers of HTTP responses and pages have none.
func TestMessagesWithoutFlags(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`(^|[^-])--[a-z][a-z-]*([^a-z:-]|$)`) // with a colon, it is a property of CSS
	command := []string{
		// run by commands, or read by operators
		"app", "bench", "blobs", "cli", "doctor", "migrate", "programtest", "store", "systemtest", "webtest",
		"ingest/discover", // searches files and folders that commands name
		"telemetry",
	}
	eachFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") ||
			slices.ContainsFunc(command, func(pkg string) bool { return strings.HasPrefix(file, pkg+"/") }) {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING &&
				flag.MatchString(strings.Trim(lit.Value, "\"`")) {
				t.Errorf("%s: the message %s names a flag; write the setting as header=3", file, lit.Value)
			}
			return true
		})
	})
}

// TestMessagesAreNotSearched checks that no code searches the text of errors: what a reader needs
// of an error is a member of its type.
func TestMessagesAreNotSearched(t *testing.T) {
	t.Parallel()
	search := regexp.MustCompile(`^(Contains|Has|Cut|Index|LastIndex|Split|Trim|Fields|Count|EqualFold)`)
	excepted := map[string]string{
		"ingest/file/shared.go":      "os.Root exports no error for paths that leave it",
		"ingest/descriptor/parse.go": "the YAML decoder begins its messages with its name",
		"remote/client.go":           "the server appends the consents in the words of the API",
	}
	eachFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") || excepted[file] != "" {
			return
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !isNamed(function.X, "strings") || !search.MatchString(function.Sel.Name) {
				return true
			}
			ast.Inspect(call.Args[0], func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Error" || s.Sel.Name == "Message" ||
					s.Sel.Name == "MessageOf") {
					t.Errorf("%s: strings.%s searches the text of an error; give the error a member",
						set.Position(call.Pos()), function.Sel.Name)
				}
				return true
			})
			return true
		})
	})
}

// isNamed reports whether an expression is an identifier with a name.
func isNamed(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
