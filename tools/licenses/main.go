// Command licenses writes the licenses of everything that the program contains: the Go standard
// library, the modules that are linked in, on any system, and embedded files of others. It fails if
// a part has no license, or one that is not known to permit distribution in a binary.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

func main() {
	out := flag.String("o", "", "`file` to write the licenses to; empty: check only")
	flag.Parse()
	// The systems that releases are built for; each links in other modules.
	parts, err := findParts("./cmd/herbarium", "linux", "darwin", "windows")
	if err == nil {
		err = write(*out, parts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// part is something that the program contains.
type part struct {
	name  string   // a module with its version, or an embedded file
	files []string // with its licenses and notices
}

// findParts returns what a command contains on some systems, sorted by name.
func findParts(command string, systems ...string) ([]part, error) {
	goroot, err := goCommand("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	standard, err := licenseFiles(strings.TrimSpace(goroot))
	if err != nil {
		return nil, err
	}
	found := map[string]part{"": {"Go standard library", standard}}
	for _, system := range systems {
		const format = `{{with .Module}}{{if .Main}}{{range $.EmbedFiles}}embed{{"\t"}}{{$.Dir}}{{"\t"}}{{.}}{{"\n"}}{{end}}` +
			`{{else}}module{{"\t"}}{{.Dir}}{{"\t"}}{{.Path}} {{.Version}}{{"\n"}}{{end}}{{end}}`
		listed, err := goCommand("list", "-deps", "-f", format, command, "GOOS="+system)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(listed) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 3 {
				continue
			}
			p, err := readPart(fields[0] == "embed", fields[1], fields[2])
			if err != nil {
				return nil, err
			}
			if p.name != "" {
				found[p.name] = p
			}
		}
	}
	parts := make([]part, 0, len(found))
	for _, p := range found {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return parts, nil
}

// goCommand runs the go command. A last argument NAME=VALUE sets a variable.
func goCommand(args ...string) (string, error) {
	env := os.Environ()
	if last := len(args) - 1; strings.Contains(args[last], "GOOS=") {
		env, args = append(env, args[last]), args[:last]
	}
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	out, err := cmd.Output()
	return string(out), err
}

// readPart returns a module or an embedded file of others. The name of an own file is empty.
func readPart(embedded bool, dir, name string) (part, error) {
	if !embedded {
		files, err := licenseFiles(dir)
		return part{name, files}, err
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	if own := filepath.Join(filepath.Dir(path), stem+"-LICENSE.txt"); exists(own) {
		return part{filepath.Base(path), []string{own}}, nil
	}
	if own := filepath.Join(filepath.Dir(path), "LICENSE"); exists(own) {
		return part{filepath.Base(path), []string{own}}, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return part{}, err
	}
	if isForeign(content) && !strings.HasSuffix(name, "-LICENSE.txt") {
		return part{}, fmt.Errorf("%s seems to be the work of others and has no license; add %s-LICENSE.txt beside it",
			path, stem)
	}
	return part{}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mention matches what authors write at the top of a file.
var mention = regexp.MustCompile(`(?i)copyright|licen[sc]ed? under|@license|\(c\) \d{4}`)

// isForeign reports whether an embedded file is binary, or mentions a license in its first lines.
func isForeign(content []byte) bool {
	return !utf8.Valid(content) || mention.Match(content[:min(len(content), 2000)])
}

// licenseFiles returns the files with licenses and notices of a folder.
func licenseFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		isText := strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") ||
			strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE")
		if isText && !e.IsDir() && filepath.Ext(name) != ".GO" {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// licenses are the known ones, each with a text that only it has. All of them permit distribution
// in a binary with their text.
var licenses = []struct{ name, text string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
	{"MIT", "The above copyright notice and this permission notice shall be included in all copies"},
	{"ISC or 0BSD", "Permission to use, copy, modify, and/or distribute this software for any purpose with or " +
		"without fee is hereby granted"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee is " +
		"hereby granted"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"},
	{"CC0-1.0", "Creative Commons CC0 1.0 Universal"},
	{"public domain", "disclaims copyright to this source code"},
	{"public domain", "in the public domain"},
}

var spaces = regexp.MustCompile(`\s+`)

// classify returns the names of the licenses in a text.
func classify(text []byte) (names []string) {
	plain := string(spaces.ReplaceAll(bytes.ReplaceAll(text, []byte("*"), nil), []byte(" ")))
	for _, l := range licenses {
		if strings.Contains(plain, l.text) && !slices.Contains(names, l.name) &&
			!(l.name == "BSD-2-Clause" && slices.Contains(names, "BSD-3-Clause")) {
			names = append(names, l.name)
		}
	}
	return names
}

// write writes a table of all parts with their licenses, and then the texts, each once. It fails
// for unknown licenses.
func write(path string, parts []part) error {
	var table, texts bytes.Buffer
	written := map[string]int{} // numbers of texts
	for _, p := range parts {
		var names, numbers []string
		for _, f := range p.files {
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			names = append(names, classify(text)...)
			key := string(bytes.TrimSpace(text))
			if written[key] == 0 {
				written[key] = len(written) + 1
				fmt.Fprintf(&texts, "\n%s\n[%d]\n\n%s\n", strings.Repeat("=", 80), written[key], key)
			}
			numbers = append(numbers, fmt.Sprintf("[%d]", written[key]))
		}
		if len(names) == 0 {
			return fmt.Errorf("%s has no known license in %q; read it and, if it permits distribution, add it to "+
				"tools/licenses", p.name, p.files)
		}
		slices.Sort(names)
		fmt.Fprintf(&table, "%s: %s %s\n", p.name, strings.Join(slices.Compact(names), ", "),
			strings.Join(numbers, " "))
	}
	if path == "" {
		return nil
	}
	const head = "Herbarium contains the following works of others. The numbers refer to the texts of their licenses " +
		"below.\n\n"
	return os.WriteFile(path, slices.Concat([]byte(head), table.Bytes(), texts.Bytes()), 0o644)
}
