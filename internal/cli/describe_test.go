package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	out := e.must(t, "describe", garden+"/catalog.csv")
	if !strings.HasPrefix(out, "{\n") || !strings.Contains(out, `"name": "catalog"`) {
		t.Errorf("got %.300s", out)
	}
	dir := filepath.Join(t.TempDir(), "garden")
	if err := os.CopyFS(dir, os.DirFS(garden)); err != nil {
		t.Fatal(err)
	}
	descriptor := filepath.Join(dir, "datapackage.yaml")
	if err := os.WriteFile(descriptor, []byte(e.must(t, "describe", "--yaml", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := e.must(t, "publish", dir); !strings.HasPrefix(out, "published garden/catalog: ") {
		t.Errorf("the descriptor: got %s", out)
	}
	for _, args := range [][]string{{"describe"}, {"describe", dir, dir}} {
		if code, _, errOut := e.run(t, args...); code != 2 || !strings.Contains(errOut, "expected one file or folder to describe") {
			t.Errorf("%v: exit code %d: %s", args, code, errOut)
		}
	}
	if code, out, errOut := e.run(t, "describe", filepath.Join(dir, "none.csv")); code != 1 || out != "" || !strings.Contains(errOut, "no such file or directory") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestPublish_skipsOtherFiles(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.csv": "x\n1\n", "logo.png": "", "datapackage.json": `{"name":"n","resources":[{"path":"a.csv"},{"path":"logo.png"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errOut := e.run(t, "publish", dir)
	if code != 0 || !strings.HasPrefix(out, "published n/a: 1 records") || !strings.Contains(errOut, "note: ") || !strings.Contains(errOut, "(logo.png) is not published") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}
