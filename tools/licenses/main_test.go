package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLicenses writes the licenses of the program: every module of go.mod that it needs is listed
// with a known one, and so are the embedded files of others.
func TestLicenses(t *testing.T) {
	t.Chdir("../..")
	parts, err := findParts("./cmd/herbarium", runtime.GOOS)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "licenses.txt")
	if err := write(out, parts); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Go standard library: BSD-3-Clause", "modernc.org/sqlite v", "github.com/jackc/pgx/v5 v",
		"swagger-ui-bundle.js.gz: Apache-2.0", "inter.woff2: OFL-1.1",
		"Redistribution and use in source and binary forms",
	} {
		if !strings.Contains(string(content), want) {
			t.Errorf("no %q in the licenses", want)
		}
	}
}

func TestWrite_unknown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	license := filepath.Join(dir, "LICENSE")
	if err := os.WriteFile(license, []byte("You may look at this.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []part{{"x", []string{license}}, {"x", nil}} {
		if err := write("", []part{p}); err == nil || !strings.Contains(err.Error(), "x has no known license") {
			t.Errorf("%v: got %v", p, err)
		}
	}
}

func TestReadPart_embedded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"own.js": "// Draws charts.\n", "theirs.js": "/* Copyright 2020 Somebody */\n", "font.woff2": "\x00\xff",
		"named.js": "x", "named-LICENSE.txt": "MIT",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"own.js": "", "named.js": "named.js", "theirs.js": "error",
		"font.woff2": "error", "named-LICENSE.txt": ""} {
		p, err := readPart(true, dir, name)
		if err != nil {
			p.name = "error"
		}
		if p.name != want {
			t.Errorf("%s: got %q, %v; want %q", name, p.name, err, want)
		}
	}
}
