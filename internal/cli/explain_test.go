package cli_test

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "plants.csv", "id,name,kind\n1,Rose,shrub\n2,Fern,herb\n3,Rosemary,shrub\n"), "--as", "a/b")
	out := e.must(t, "explain", "a/b", "kind=shrub&search=ros*&sort=name")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []string{"STEP METHOD RECORDS TIME", "kind eq shrub fill 2", `search "ros"* `, "records 1 to 2 sorted by name 2", "total 2"}
	if len(lines) != len(want) {
		t.Fatalf("%d lines; want %d:\n%s", len(lines), len(want), out)
	}
	for i, line := range lines {
		if line = strings.Join(strings.Fields(line), " "); !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d is %q; want %q …", i, line, want[i])
		}
	}
	if out := e.must(t, "explain", "a/b", "sort=kind,-name"); !strings.Contains(out, "sorted by kind, name descending") {
		t.Errorf("several sort fields:\n%s", out)
	}
	if code, _, errOut := e.run(t, "explain", "a/b", "nothing=1"); code != 2 || !strings.Contains(errOut, "unknown parameter") {
		t.Errorf("unknown parameter: exit code %d, %s", code, errOut)
	}
	if code, _, errOut := e.run(t, "explain", "store/plants", ""); code != 1 || !strings.Contains(errOut, "only published datasets") {
		t.Errorf("plants: exit code %d, %s", code, errOut)
	}
}

// TestExplain_version reads an earlier version with explain and export.
func TestExplain_version(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "plants.csv", "id,name\n1,Rose\n"), "--as", "a/b")
	version := strings.Fields(strings.Split(e.must(t, "datasets", "history", "a/b"), "\n")[1])[0]
	e.must(t, "publish", write(t, "plants.csv", "id,name\n1,Rose\n2,Fern\n"), "--as", "a/b")
	if out := e.must(t, "export", "a/b", "--query", "?_version="+version+"&sort=id"); out != "id,name\r\n1,Rose\r\n" {
		t.Errorf("the first version is %q", out)
	}
	if out := e.must(t, "explain", "a/b", "_version="+version); !strings.Contains(out, "records 1 to 1") {
		t.Errorf("the first version:\n%s", out)
	}
	for asked, want := range map[string]struct {
		code    int
		message string
	}{
		"_version=20200101T000000Z-abcdefghij":         {1, "versions: "},
		"_version=" + version + "&_version=" + version: {2, "more than once"},
		"_version=" + version + "&per_page=1":          {2, "an export has no pages"},
		"_version=" + version + "&category=tree":       {2, "unknown parameter"},
	} {
		if code, _, errOut := e.run(t, "export", "a/b", "--query", asked); code != want.code || !strings.Contains(errOut, want.message) {
			t.Errorf("%s: exit code %d, %s", asked, code, errOut)
		}
	}
}
