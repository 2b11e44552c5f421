package internal_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributing requires that CONTRIBUTING.md names only files, identifiers and make targets
// that exist. A path is relative to the repository, or to the folder of the path before it or one
// above that.
func TestContributing(t *testing.T) {
	t.Parallel()
	const root = ".."
	read := func(file string) string {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	identifiers := exportedNames(t)
	targets, spans := read("Makefile"), regexp.MustCompile("`([^`]+)`")
	isPath := regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)+/?$|^[\w*-]+\.(go|md|txt|json|yaml)$`)
	isName := regexp.MustCompile(`^(?:[a-z]+\.)?([A-Z][a-z]\w*[a-z])$`)
	isTarget := regexp.MustCompile(`^make ([a-z]+)$`)
	folder, found := "", 0
	for line := range strings.Lines(read("CONTRIBUTING.md")) {
		for _, span := range spans.FindAllStringSubmatch(line, -1) {
			name := span[1]
			switch {
			case isTarget.MatchString(name):
				found++
				if target := isTarget.FindStringSubmatch(name)[1]; !strings.Contains(targets, "\n"+target+":") {
					t.Errorf("there is no target %s", target)
				}
			case isPath.MatchString(name):
				found++
				file, ok := findNamed(root, folder, name)
				if !ok {
					t.Errorf("there is no %s, nor one in %s", name, folder)
					continue
				}
				folder = file
				if path.Ext(file) != "" {
					folder = path.Dir(file)
				}
			case isName.MatchString(name):
				found++
				if name := isName.FindStringSubmatch(name)[1]; !identifiers[name] {
					t.Errorf("no %s is declared", name)
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("found only %d names", found)
	}
}

// findNamed returns the path of a file or a folder by its path in the repository, in a folder of
// it, or in one above that.
func findNamed(root, folder, name string) (file string, ok bool) {
	for file = name; ; folder = path.Dir(folder) {
		if matches, _ := filepath.Glob(filepath.Join(root, file)); matches != nil {
			return file, true
		}
		if folder == "" || folder == "." {
			return "", false
		}
		file = path.Join(folder, name)
	}
}

// exportedNames returns the exported names in the code of all packages.
func exportedNames(t *testing.T) map[string]bool {
	t.Helper()
	name, names := regexp.MustCompile(`\b[A-Z]\w*\b`), map[string]bool{}
	eachFile(t, func(file string) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range name.FindAllString(string(content), -1) {
			names[n] = true
		}
	})
	return names
}

// TestDecisions requires that each decision has a date, and is in the list.
func TestDecisions(t *testing.T) {
	t.Parallel()
	folder := os.DirFS("../docs/adr")
	list, err := fs.ReadFile(folder, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(folder, "0*.md")
	if err != nil || len(files) < 30 {
		t.Fatalf("found %v: %v", files, err)
	}
	for _, file := range files {
		content, err := fs.ReadFile(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(content), "\n\n")
		if !regexp.MustCompile(`^Decided 20\d\d-\d\d-\d\d\.`).MatchString(text) {
			t.Errorf("%s does not say below its title when it was decided", file)
		}
		if !strings.Contains(string(list), "("+file+")") {
			t.Errorf("README.md does not list %s", file)
		}
	}
}
