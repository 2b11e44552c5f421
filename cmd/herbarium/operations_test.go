package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/programtest"
	"herbarium/internal/store/pgtest"
)

// TestMigrationGuide runs the commands of docs/operations.md about migrating and backups, one after
// the other, on a data folder with content. The database and the object store are those of the
// test.
func TestMigrationGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/operations.md")
	section := ""
	for _, title := range []string{"Migrate to several nodes and back", "Back up and restore"} {
		_, text, found := strings.Cut(string(guide), "\n### "+title+"\n")
		if !found {
			t.Fatalf("docs/operations.md has no section %q (%v)", title, err)
		}
		text, _, _ = strings.Cut(text, "\n## ")
		text, _, _ = strings.Cut(text, "\n### ")
		section += text
	}
	var cluster pgtest.Cluster
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	places := strings.NewReplacer(
		"postgres://herbarium@db.example.org/herbarium", "'"+cluster.Database(t)+"'",
		"s3://herbarium-files", "'file://"+filepath.ToSlash(t.TempDir())+"'")
	bin := t.TempDir()
	if _, err := programtest.Install(t.Context(), bin); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		var log strings.Builder
		cmd.Stderr = &log
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", script, err, &log)
		}
		return string(out)
	}
	run("printf 'id,name\\n1,Rose\\n' > a.csv && herbarium publish a.csv --as shop/prices && herbarium keys create " +
		"--name ci --scope data:read")
	var printed strings.Builder
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		fmt.Fprint(&printed, run(places.Replace(m[1])))
	}
	const all = "0 plants, 1 key, 1 dataset with 1 version ("
	for _, want := range []string{"migrated " + all, "source and target are equal: " + all, "backed up " + all,
		"restored " + all} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("the commands print\n%s\nwithout %q", printed.String(), want)
		}
	}
	if before, after := run("herbarium datasets"),
		run("herbarium datasets --data herbarium-back"); !strings.Contains(after, "shop/prices") ||
		version(before) != version(after) {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// version returns the name of a published version in a text.
func version(s string) string { return regexp.MustCompile(`\d{8}T\d{6}Z-[a-z0-9]+`).FindString(s) }
