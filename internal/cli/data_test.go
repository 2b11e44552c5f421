package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDataFolder checks that only serve and publish create a data folder.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	foreign := filepath.Dir(write(t, "letter.txt", "not data"))
	missing := filepath.Join(t.TempDir(), "missing")
	for _, line := range []string{
		"datasets", "datasets list", "datasets show a/b", "datasets report a/b", "datasets history a/b",
		"datasets rollback a/b",
		"datasets remove a/b --yes", "keys create --name x --scope data:read", "keys list", "keys revoke x", "audit",
		"export a/b",
		"explain a/b a=1", "backup " + filepath.Join(t.TempDir(), "backup.tar"),
	} {
		for folder, want := range map[string]string{missing: "data folder", foreign: "is not a data folder"} {
			code, out, errOut := newEnvironment(t).run(t, append(strings.Fields(line), "--data", folder)...)
			if code != 1 || out != "" || !strings.Contains(errOut, want) || !strings.Contains(errOut, folder) {
				t.Errorf("%s: exit code %d, output %q; want 1 and %q with the folder in\n%s", line, code, out,
					want, errOut)
			}
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a command has created the folder")
	}
	if entries, err := os.ReadDir(foreign); err != nil || len(entries) != 1 {
		t.Errorf("a command has written to the folder: %v, error %v", entries, err)
	}
}

func TestDataFolder_created(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "prices.csv", "x\n1\n")
	const created = "Created data folder "
	if _, _, errOut := e.run(t, "publish", file, "--as", "shop/prices"); !strings.Contains(errOut,
		created+e["HERBARIUM_DATA"]) {
		t.Errorf("the first publish prints\n%s", errOut)
	}
	if _, _, errOut := e.run(t, "publish", file, "--as", "shop/prices"); strings.Contains(errOut, created) {
		t.Errorf("the second publish prints\n%s", errOut)
	}
	code, _, errOut := e.run(t, "datasets", "show", "shop/price")
	for _, want := range []string{`no such dataset "shop/price"; did you mean "shop/prices"? 'herbarium datasets list'`,
		"Data folder: " + e["HERBARIUM_DATA"] + " (HERBARIUM_DATA)"} {
		if code != 1 || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d; want %q in\n%s", code, want, errOut)
		}
	}
}

func TestRemove_confirmation(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "prices.csv", "x\n1\n"), "--as", "shop/prices")
	e.fails(t, 2, "--yes", "datasets", "remove", "shop/prices")
	e.prints(t, "shop/prices", "datasets", "list")
	e.must(t, "datasets", "remove", "shop/prices", "-y")
	if out := e.must(t, "datasets", "list"); strings.Contains(out, "shop/prices") {
		t.Errorf("the dataset is listed:\n%s", out)
	}
}
