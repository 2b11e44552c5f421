package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminal_escapes prints names, titles and messages that contain commands for a terminal, in
// every command that shows them.
func TestTerminal_escapes(t *testing.T) {
	t.Parallel()
	const attack = `\u001b]0;owned\u0007\u001b[2J\u202etxt\u009b31m`
	e := newEnvironment(t)
	descriptor := write(t, "shop/datapackage.json",
		`{"name":"shop","resources":[{"name":"prices","path":"prices.csv","title":"T`+attack+`",
		"description":"one\ntwo `+attack+`","schema":{"primaryKey":"a`+attack+`",
		"fields":[{"name":"a`+attack+`","description":"D`+attack+`","herbarium":{"from":"a"}}]}}]}`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(descriptor), "prices.csv"), []byte("a,b\nx\x1b[2J,2\ny,1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	published := e.must(t, "publish", "--report", descriptor)
	shown := e.must(t, "datasets", "show", "shop/prices")
	for _, want := range []string{`T\x1b]0;owned\a\x1b[2J\u202etxt\u009b31m`, "one\ntwo \\x1b", `D\x1b]0;owned`,
		`a\x1b]0;owned`} {
		if !strings.Contains(shown, want) {
			t.Errorf("datasets show has no %q:\n%q", want, shown)
		}
	}
	outputs := []string{published, shown}
	for _, args := range [][]string{
		{"datasets", "list"}, {"datasets", "report", "shop/prices"}, {"datasets", "show", "shop/\x1b[2J"},
		{"keys", "create", "--name", "k\x1b[2J", "--scope", "data:read"}, {"keys", "list"},
		{"keys", "revoke", "k\x1b[2J"}, {"audit"},
		{"publish", "--as", "shop/prices", write(t, "n\x1b[2J.csv", "other\x1b[2J\n1\n")},
		{"publish", "--check", "--as", "shop/prices", write(t, "m\x1b[2J.csv", "other\x1b[2J\n1\n")},
		{"publish", "no\x1b[2Jfile.csv"},
	} {
		_, out, errOut := e.run(t, args...)
		outputs = append(outputs, out, errOut)
	}
	for _, out := range outputs {
		if strings.ContainsAny(out, "\x1b\a\u202e\u009b") {
			t.Errorf("control characters in %q", out)
		}
	}
}

// TestPublishCheck_createsNothing checks a file where there is no data folder: nothing is created,
// neither there nor in the folder for temporary files.
func TestPublishCheck_createsNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n007,1.50\n")
	if out := e.must(t, "publish", "--check", file); !strings.Contains(out, "1 record, not published") {
		t.Errorf("the result is\n%s", out)
	}
	e.fails(t, 1, "the file is empty", "publish", "--check", write(t, "shop/empty.csv", ""))
	if _, err := os.Stat(e["HERBARIUM_DATA"]); !os.IsNotExist(err) {
		t.Errorf("the data folder exists, or: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	e.must(t, "publish", file)
	versions := e.versions(t)
	e.must(t, "publish", "--check", write(t, "shop/prices.csv", "code,price\n008,2\n"))
	if n := e.versions(t); n != versions {
		t.Errorf("%d files of versions; want %d", n, versions)
	}
}
